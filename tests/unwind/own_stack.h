// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/event.h"
#include "unwind/space/process_table.h"
#include "unwind/walk.h"

namespace jitprof::tests {

// A sample that a program of tests/programs/own_stack took of itself, as the events a recording would hold.
class OwnStack {
 public:
  // Runs `program` with that argument; a stack size other than the default goes in by the environment.
  OwnStack(const std::string& program, const std::string& scenario, const std::string& stack_bytes = "65528");

  Sample sample;
  std::vector<MapEvent> maps;
  std::vector<RuntimeAddr> libgcc_pcs;  // exact pcs, leaf first, by libgcc's unwinder

 private:
  void add_line(const std::string& line);
  std::vector<std::vector<std::byte>> bytes_;
};

// Everything a walk of one OwnStack needs, and what it found.
struct WalkedStack {
  explicit WalkedStack(const OwnStack& own);

  std::unique_ptr<ModuleTable> modules;
  std::unique_ptr<ProcessTable> processes;
  UnwoundStack stack;
  std::vector<RuntimeAddr> pcs;  // exact, as the visitor saw them
  std::vector<RuntimeAddr> cfas;

  // The function symbol that a frame's position lies in, "?" when none does.
  std::string function_of(size_t frame) const;
  // The functions of all frames that have one, leaf first, joined by ";".
  std::string functions() const;
};

}  // namespace jitprof::tests
