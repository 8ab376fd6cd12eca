// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/dwfl_oracle.h"

#include <dwarf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "base/result.h"

namespace jitprof::tests {
namespace {

// Far more than the deepest stack of 64 KiB.
constexpr size_t kMostFrames = 10'000;

int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }
int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                       char**) {
  return -1;
}

// A descriptor for the bytes of a module that is no file; libdwfl closes it.
int open_image(const Module& module) {
  int file = memfd_create("module", MFD_CLOEXEC);
  Bytes image = module.elf->image();
  JP_CHECK(write(file, image.data(), image.size()) == static_cast<ssize_t>(image.size()));
  return file;
}

struct Frames {
  std::vector<OracleFrame> list;
};

int add_frame(Dwfl_Frame* frame, void* to) {
  auto& list = static_cast<Frames*>(to)->list;
  OracleFrame found;
  Dwarf_Word rbp;
  if (!dwfl_frame_pc(frame, &found.pc.value, nullptr)) return DWARF_CB_ABORT;
  if (dwfl_frame_reg(frame, static_cast<unsigned>(Register::rbp), &rbp) == 0) found.rbp = rbp;
  list.push_back(found);
  return list.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

const Dwfl_Thread_Callbacks DwflOracle::kThreadCallbacks = {
    .next_thread = [](Dwfl*, void* oracle, void** thread) -> pid_t {
      if (*thread != nullptr) return 0;
      *thread = oracle;
      return 1;
    },
    .get_thread =
        [](Dwfl*, pid_t, void* oracle, void** thread) {
          *thread = oracle;
          return true;
        },
    .memory_read = [](Dwfl*, Dwarf_Addr position, Dwarf_Word* word,
                      void* oracle) { return static_cast<DwflOracle*>(oracle)->read_word(position, word); },
    .set_initial_registers =
        [](Dwfl_Thread* thread, void* oracle) {
          const Registers& known = static_cast<DwflOracle*>(oracle)->sample_->registers;
          std::array<Dwarf_Word, kRegisterCount> values{};
          for (unsigned i = 0; i < kRegisterCount; ++i)
            values[i] = known.find(static_cast<Register>(i)).value_or(0);
          dwfl_thread_state_register_pc(thread, *known.find(Register::rip));
          return dwfl_thread_state_registers(thread, 0, kRegisterCount, values.data());
        },
    .detach = nullptr,
    .thread_detach = nullptr,
};

DwflOracle::DwflOracle(const Process& process, const ModuleTable& modules) {
  static char* no_debug_path = nullptr;
  static const Dwfl_Callbacks kCallbacks = {
      .find_elf = find_nothing,
      .find_debuginfo = find_no_debug_file,
      .section_address = nullptr,
      .debuginfo_path = &no_debug_path,
  };
  dwfl_.reset(dwfl_begin(&kCallbacks));
  JP_CHECK(dwfl_ != nullptr);
  report(process, modules);
}

DwflOracle::~DwflOracle() = default;

void DwflOracle::report(const Process& process, const ModuleTable& modules) {
  // A second place of a file makes libdwfl forget the first one too: it gets the larger only.
  std::map<ModuleId, Mapping> largest;
  for (const auto& [start, mapping] : process.space.mappings()) {
    if (!modules.module(mapping.module).elf) continue;
    Mapping& known = largest.try_emplace(mapping.module, mapping).first->second;
    bool is_larger = mapping.end.distance_from(mapping.start) > known.end.distance_from(known.start);
    if (is_larger) known = mapping;
  }
  Elf* any = nullptr;
  dwfl_report_begin(dwfl_.get());
  for (const auto& [id, mapping] : largest) {
    const Module& module = modules.module(id);
    int file = module.file_path.empty() ? open_image(module) : -1;
    std::string path = module.file_path.empty() ? module.path : module.file_path;
    Dwfl_Module* reported =
        dwfl_report_elf(dwfl_.get(), path.c_str(), path.c_str(), file, mapping.bias.value, true);
    GElf_Addr bias;
    if (reported != nullptr && any == nullptr) any = dwfl_module_getelf(reported, &bias);
  }
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  is_attached_ = any != nullptr && dwfl_attach_state(dwfl_.get(), any, 1, &kThreadCallbacks, this);
}

bool DwflOracle::read_word(uint64_t position, Dwarf_Word* word) {
  for (uint32_t i = 0; i < sample_->stack_count; ++i) {
    const StackSegment& segment = sample_->stack[i];
    if (position < segment.start.value) continue;
    uint64_t inside = position - segment.start.value;
    if (inside >= segment.bytes.size() || segment.bytes.size() - inside < sizeof *word) continue;
    memcpy(word, segment.bytes.data() + inside, sizeof *word);
    return true;
  }
  constexpr uint64_t kLargestFrame = 4096;
  uint64_t sp = *sample_->registers.find(Register::rsp);
  read_below_sp_ |= position < sp && sp - position < kLargestFrame;
  return false;
}

std::vector<OracleFrame> DwflOracle::unwind(const Sample& sample) {
  Frames frames;
  sample_ = &sample;
  read_below_sp_ = false;
  // Ends with an error wherever it finds no further caller; what it has found by then counts.
  if (is_attached_) dwfl_getthread_frames(dwfl_.get(), 1, add_frame, &frames);
  sample_ = nullptr;
  return std::move(frames.list);
}

bool DwflOracle::has_module(RuntimeAddr position) const {
  return dwfl_addrmodule(dwfl_.get(), position.value) != nullptr;
}

bool DwflOracle::has_cfi(RuntimeAddr position) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), position.value);
  if (module == nullptr) return false;
  for (auto* cfi_of : {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi}) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* cfi = cfi_of(module, &bias);
    Dwarf_Frame* frame = nullptr;
    if (cfi == nullptr || dwarf_cfi_addrframe(cfi, position.value - bias, &frame) != 0) continue;
    free(frame);
    return true;
  }
  return false;
}

}  // namespace jitprof::tests
