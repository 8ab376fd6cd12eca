// SPDX-License-Identifier: Apache-2.0
#include "symbolize/debug_file.h"

#include <zlib.h>

#include <algorithm>

namespace jitprof {
namespace {

// The CRC of .gnu_debuglink is zlib's.
uint32_t crc_of(Bytes bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    size_t size = std::min<size_t>(bytes.size(), 1 << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(size));
    bytes = bytes.subspan(size);
  }
  return static_cast<uint32_t>(crc);
}

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

class Search {
 public:
  // `crc`: what the file must have; without one its build-id must be `build_id`.
  void try_file(const std::string& path, const BuildId& build_id, std::optional<uint32_t> crc) {
    if (result_.file.has_value()) return;
    Result<ElfFile> opened = ElfFile::open(path);
    if (!opened.ok()) return;
    ElfFile& file = opened.value();
    bool fits = crc.has_value() ? crc_of(file.image()) == *crc : file.build_id() == build_id;
    // A module's debug link may name the module itself, which is no news.
    if (fits && !has_debug_sections(file) && file.find_section(".symtab") == nullptr) return;
    if (fits) {
      result_.file.emplace(std::move(file));
    } else {
      ++result_.refused;
    }
  }
  DebugFileSearch take() { return std::move(result_); }

 private:
  DebugFileSearch result_;
};

}  // namespace

bool has_debug_sections(const ElfFile& file) {
  return file.find_section(".debug_info") != nullptr || file.find_section(".zdebug_info") != nullptr;
}

DebugFileSearch find_debug_file(const Module& module, const std::vector<std::string>& directories) {
  Search search;
  BuildId build_id = module.build_id;
  if (build_id.empty() && module.elf.has_value()) build_id = module.elf->build_id();
  if (std::string hex = build_id.hex(); hex.size() > 2) {
    for (const std::string& directory : directories) {
      search.try_file(directory + "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug", build_id,
                      std::nullopt);
      if (module.path.starts_with('/'))
        search.try_file(directory + module.path + ".debug", build_id, std::nullopt);
    }
  }
  std::optional<DebugLink> link = module.elf.has_value() ? module.elf->debug_link() : std::nullopt;
  // A name with a slash would leave the folders meant to be searched.
  if (!link.has_value() || link->file_name.empty() || link->file_name.find('/') != std::string::npos) {
    return search.take();
  }
  if (!module.file_path.empty()) {
    std::string folder = folder_of(module.file_path);
    search.try_file(folder + "/" + link->file_name, build_id, link->crc);
    search.try_file(folder + "/.debug/" + link->file_name, build_id, link->crc);
  }
  if (module.path.starts_with('/')) {
    for (const std::string& directory : directories) {
      search.try_file(directory + folder_of(module.path) + "/" + link->file_name, build_id, link->crc);
    }
  }
  return search.take();
}

}  // namespace jitprof
