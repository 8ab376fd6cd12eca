// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/own_stack.h"

#include <sys/sysmacros.h>

#include <sstream>

#include "tests/run_program.h"
#include "tests/unwind/proc_maps.h"
#include "tests/unwind/unwinding.h"
#include "unwind/walk.h"

namespace jitprof::tests {
namespace {

constexpr uint32_t kPid = 1;

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

OwnStack::OwnStack(const std::string& program, const std::string& scenario, const std::string& stack_bytes) {
  ProgramResult result = run_program({program, scenario}, "", 60, {"OWN_STACK_BYTES=" + stack_bytes});
  JP_CHECK(result.status == 0);
  sample.pid = sample.tid = kPid;
  bytes_.reserve(sample.stack.size());
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) add_line(line);
  sample.ip = {*sample.registers.find(Register::rip)};
}

void OwnStack::add_line(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  words >> kind >> std::hex;
  if (kind == "map") {
    maps.push_back(map_event(kPid, line.substr(4)));
  } else if (kind == "pc") {
    RuntimeAddr pc;
    words >> pc.value;
    libgcc_pcs.push_back(pc);
  } else if (kind == "register") {
    uint64_t number, value;
    words >> number >> value;
    sample.registers.set(static_cast<Register>(number), value);
  } else if (kind == "stack") {
    StackSegment segment;
    std::string hex;
    words >> segment.start.value >> segment.asked >> hex;
    segment.bytes = bytes_.emplace_back(from_hex(hex));
    sample.stack[sample.stack_count++] = segment;
  }
}

WalkedStack::WalkedStack(const OwnStack& own)
    : modules(std::make_unique<ModuleTable>("")), processes(std::make_unique<ProcessTable>(*modules)) {
  for (const MapEvent& event : own.maps) processes->apply(event);
  Unwinding unwinding(*modules);
  const Process& process = processes->process(own.sample.pid);
  auto note = [&](Frame, const WalkedFrame& walked) {
    pcs.push_back(walked.pc);
    cfas.push_back(walked.cfa);
  };
  walk(own.sample, process, unwinding.places, note);
  unwind(own.sample, *processes, process, unwinding.places, kDefaultMaxDepth, stack);
}

std::string WalkedStack::function_of(size_t frame) const {
  const Frame& at = stack.frames[frame];
  if (at.module.is_none() || !modules->module(at.module).elf) return "?";
  for (const ElfSymbol& symbol : modules->module(at.module).elf->code_symbols()) {
    if (symbol.start <= at.position && at.position.distance_from(symbol.start) < symbol.size) {
      return std::string(symbol.name.substr(0, symbol.name.find('@')));
    }
  }
  return "?";
}

std::string WalkedStack::functions() const {
  std::string text;
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    std::string name = function_of(i);
    if (name != "?") text += (text.empty() ? "" : ";") + name;
  }
  return text;
}

}  // namespace jitprof::tests
