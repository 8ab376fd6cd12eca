// SPDX-License-Identifier: Apache-2.0
#include "profiler/jit_descriptor_finder.h"

#include <utility>

#include "profiler/fd.h"
#include "profiler/process_files.h"

namespace jitprof {

std::optional<RuntimeAddr> JitDescriptorFinder::find(const Mapping& mapping) {
  if (mapping.inode == 0 || mapping.path.empty() || mapping.path.front() != '/') return std::nullopt;
  auto [place, is_new] = files_.try_emplace(
      {std::string(mapping.path), mapping.device_major, mapping.device_minor, mapping.inode});
  if (is_new) place->second = look_into(mapping);
  if (!place->second) return std::nullopt;
  std::optional<Bias> bias =
      place->second->elf.bias_of(RuntimeAddr{mapping.start}, FileOffset{mapping.offset});
  if (!bias) return std::nullopt;
  return bias->to_runtime(place->second->place);
}

std::optional<JitDescriptorFinder::Definition> JitDescriptorFinder::look_into(const Mapping& mapping) {
  Fd file = open_file_behind(mapping);
  if (!file.is_open()) return std::nullopt;
  Result<ElfFile> elf = ElfFile::open("/proc/self/fd/" + std::to_string(file.number()));
  if (!elf.ok()) return std::nullopt;
  std::optional<ElfSymbol> symbol = elf.value().find_data_symbol("__jit_debug_descriptor");
  if (!symbol) return std::nullopt;
  return Definition{std::move(elf.value()), symbol->start};
}

}  // namespace jitprof
