// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/module_table.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "unwind/space/module_search.h"

namespace jitprof {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
// The recorder embeds files up to 512 MiB.
constexpr uint64_t kMaxImage = uint64_t{1} << 30;

std::string without_deleted(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return std::string(path);
}

// Pieces come in order; one at offset 0 begins the file anew. One that leaves a gap has lost its predecessor:
// the bytes before it stay.
void append_piece(const SideFileEvent& event, std::vector<std::byte>& image) {
  if (event.offset == 0) image.clear();
  if (event.offset != image.size() || event.bytes.size() > kMaxImage - image.size()) return;
  image.insert(image.end(), event.bytes.begin(), event.bytes.end());
}

// Memory without a file that a debugger or perf could open: "//anon", "[heap]", "[anon:v8]",
// "/memfd:doublemapper".
bool is_anonymous(std::string_view path) {
  static constexpr std::array<std::string_view, 7> kPrefixes = {
      "[", "//", "anon_inode:", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"};
  auto begins_path = [&](std::string_view prefix) { return path.starts_with(prefix); };
  return path.empty() || std::ranges::any_of(kPrefixes, begins_path);
}

// "[kernel]" for the kernel's own text, however the record calls the symbol at its start; "[ext4]" for
// modules, which perf may name by their file: "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz".
std::string kernel_module_name(std::string_view path) {
  if (path.empty() || path.starts_with("[kernel") || path.starts_with("[guest.kernel")) return "[kernel]";
  if (path.starts_with('[')) return std::string(path);
  path = path.substr(path.rfind('/') + 1);
  return "[" + std::string(path.substr(0, path.find(".ko"))) + "]";
}

// The vdso of the running kernel, for a perf.data, which has no image of it.
std::vector<std::byte> running_vdso() {
  const auto* image = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  // The section headers are its last part.
  return {image, image + header.e_shoff + header.e_shnum * header.e_shentsize};
}

std::optional<ElfFile> parse_image(std::vector<std::byte> bytes, const std::string& name) {
  auto elf = ElfFile::parse(MappedFile::from_memory(std::move(bytes)), name);
  if (!elf.ok() || elf.value().machine() != EM_X86_64) return std::nullopt;
  return std::move(elf.value());
}

// Entries of files by key; where the record had no inode (it carried a build-id instead), by path alone.
template <class Value>
Value* find_file(std::map<std::tuple<std::string, uint64_t, uint64_t>, Value>& files,
                 const std::tuple<std::string, uint64_t, uint64_t>& key) {
  auto found = std::get<2>(key) != 0 ? files.find(key) : files.lower_bound({std::get<0>(key), 0, 0});
  return found != files.end() && std::get<0>(found->first) == std::get<0>(key) ? &found->second : nullptr;
}

}  // namespace

void ModuleTable::apply(const SideFileEvent& event) {
  if (event.kind == SideFileKind::kVdso) append_piece(event, vdso_);
  if (event.kind == SideFileKind::kModuleImage) {
    append_piece(event, images_[{without_deleted(event.path), event.device, event.inode}]);
  }
}

void ModuleTable::apply(const ModuleEvent& event) {
  FileKey key{without_deleted(event.path), makedev(event.device_major, event.device_minor), event.inode};
  recorded_.insert_or_assign(std::move(key), event);
}

Module& ModuleTable::resolve(const MapEvent& mapping) {
  FileKey key{without_deleted(mapping.path), makedev(mapping.device_major, mapping.device_minor),
              mapping.inode};
  BuildId build_id = mapping.build_id;
  if (const ModuleEvent* seen = find_file(recorded_, key); seen != nullptr && build_id.empty()) {
    build_id = seen->build_id;
  }
  if (mapping.in_kernel) key = {kernel_module_name(mapping.path), 0, 0};
  ModuleId next{static_cast<uint32_t>(modules_.size())};
  auto [place, is_new] = ids_.try_emplace({key, build_id}, next);
  if (!is_new) return modules_[place->second.index];

  Module& module = modules_.emplace_back();
  module.id = next;
  module.build_id = build_id;
  module.path = std::get<0>(key);
  if (mapping.in_kernel) {
    module.kind = module.path == "[kernel]" ? Module::Kind::kKernel : Module::Kind::kKernelModule;
  } else if (mapping.path == "[vdso]") {
    module.kind = Module::Kind::kVdso;
    load_vdso(module);
  } else {
    load_file(key, mapping, module);
  }
  if (module.elf && module.build_id.empty()) {
    module.build_id = module.elf->build_id();
    // Later records of the file may carry its build-id.
    ids_.try_emplace({key, module.build_id}, next);
  }
  return module;
}

void ModuleTable::load_vdso(Module& module) {
  module.elf = parse_image(vdso_.empty() ? running_vdso() : vdso_, module.path);
  // The running kernel's serves only if it is the recorded one's.
  bool is_ours = !vdso_.empty() || (module.elf && module.elf->build_id() == module.build_id);
  if (module.elf && !is_ours) module.elf.reset();
  if (!module.elf) module.problem = Module::Problem::kMissing;
}

void ModuleTable::load_file(const FileKey& key, const MapEvent& mapping, Module& module) {
  if (std::vector<std::byte>* image = find_file(images_, key)) {
    // Nobody asks for these bytes again: the module keeps them.
    module.elf = parse_image(std::move(*image), module.path);
    if (!module.elf) module.problem = Module::Problem::kUnreadable;
    return;
  }
  if (is_anonymous(mapping.path)) {
    module.kind = Module::Kind::kAnonymous;
    module.path = mapping.path;
    return;
  }
  FoundFile found = find_module_file({.path = module.path,
                                      .was_deleted = mapping.path.ends_with(kDeleted),
                                      .build_id = module.build_id,
                                      .inode = mapping.inode},
                                     symfs_);
  module.elf = std::move(found.elf);
  module.file_path = std::move(found.path);
  module.problem = found.problem;
}

const Module& ModuleTable::module_of(JitCode& code) {
  ModuleId next{static_cast<uint32_t>(modules_.size())};
  auto [place, is_new] = of_code_.try_emplace(&code, next);
  if (!is_new) return modules_[place->second.index];
  Module& module = modules_.emplace_back();
  module.id = next;
  module.kind = Module::Kind::kJit;
  module.path = "[jit]";
  module.jit = &code;
  if (code.object) module.elf = std::move(*code.object);
  return module;
}

void ModuleTable::publish_name(ModuleId id, ElfAddr start, uint64_t size, const std::string& name) {
  modules_[id.index].published_names.insert_or_assign(start, Module::PublishedName{size, name});
}

Bias ModuleTable::bias_of(const Module& module, const MapEvent& mapping) const {
  bool has_no_file = module.kind != Module::Kind::kFile && module.kind != Module::Kind::kVdso;
  if (has_no_file) return Bias{0};
  // Of special mappings the kernel may give the place in memory as offset; the vdso is always mapped whole.
  FileOffset offset = module.kind == Module::Kind::kVdso ? FileOffset{0} : mapping.offset;
  if (module.elf) {
    if (auto bias = module.elf->bias_of(mapping.start, offset)) return *bias;
  }
  FileKey key{module.path, makedev(mapping.device_major, mapping.device_minor), mapping.inode};
  if (auto seen = recorded_.find(key); seen != recorded_.end()) {
    for (const ModuleEvent::Load& load : seen->second.loads) {
      bool covers =
          offset.value + 4096 > load.offset.value && offset.value < load.offset.value + load.file_size;
      if ((load.flags & PF_X) && covers) {
        return Bias{mapping.start.value - (load.start.value + (offset.value - load.offset.value))};
      }
    }
  }
  return Bias{mapping.start.value - offset.value};
}

}  // namespace jitprof
