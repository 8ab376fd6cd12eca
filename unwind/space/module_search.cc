// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/module_search.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

namespace jitprof {
namespace {

using Problem = Module::Problem;

struct Candidate {
  std::string path;
  bool is_own_path = false;  // on the running system, not below symfs
};

std::vector<Candidate> candidates_for(const WantedFile& wanted, const std::string& symfs) {
  std::vector<Candidate> candidates;
  if (!symfs.empty()) {
    candidates.push_back({symfs + "/" + wanted.path});
    if (std::string hex = wanted.build_id.hex(); hex.size() > 2) {
      candidates.push_back({symfs + "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2)});
    }
    candidates.push_back({symfs + "/" + wanted.path.substr(wanted.path.rfind('/') + 1)});
  }
  bool own_path_may_serve = symfs.empty() || !wanted.build_id.empty();
  if (own_path_may_serve && wanted.path.starts_with('/')) candidates.push_back({wanted.path, true});
  return candidates;
}

// Why the file at hand cannot be the wanted one.
Problem objection_to(const Candidate& candidate, const ElfFile& elf, uint64_t inode,
                     const WantedFile& wanted) {
  if (elf.machine() != EM_X86_64) return Problem::kUnreadable;
  if (!wanted.build_id.empty()) {
    return elf.build_id() == wanted.build_id ? Problem::kNone : Problem::kOtherBuildId;
  }
  if (!candidate.is_own_path) return Problem::kNone;
  if (wanted.was_deleted) return Problem::kMissing;
  return wanted.inode == 0 || wanted.inode == inode ? Problem::kNone : Problem::kOtherBuildId;
}

}  // namespace

FoundFile find_module_file(const WantedFile& wanted, const std::string& symfs) {
  FoundFile result;
  for (const Candidate& candidate : candidates_for(wanted, symfs)) {
    struct stat status;
    if (stat(candidate.path.c_str(), &status) != 0) {
      if (errno == EACCES) result.problem = std::max(result.problem, Problem::kUnreadable);
      continue;
    }
    if (S_ISDIR(status.st_mode)) continue;
    auto elf = ElfFile::open(candidate.path);
    Problem objection =
        elf.ok() ? objection_to(candidate, elf.value(), status.st_ino, wanted) : Problem::kUnreadable;
    if (objection == Problem::kNone) return {std::move(elf.value()), candidate.path, Problem::kNone};
    result.problem = std::max(result.problem, objection);
  }
  return result;
}

}  // namespace jitprof
