// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "profiler/event.h"
#include "unwind/space/address_space.h"
#include "unwind/space/module_table.h"

namespace jitprof {

using ProcessId = Id<struct ProcessTag>;
using ThreadId = Id<struct ThreadTag>;

// A process is its pid and start: a reused pid is another process. Before the first event that names it, the
// start is 0.
struct Process {
  ProcessId id;
  uint32_t pid = 0;
  uint64_t start_ns = 0;
  AddressSpace space;
  std::string comm;  // of its main thread
};

// One thread under one name; a thread that changes its comm is a new Thread entry from then on.
struct Thread {
  ProcessId process;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t start_ns = 0;
  std::string comm;
};

// Who runs and what each has mapped, brought up to date by events in order of time. Owns processes and
// threads; they stay until the report ends, because samples refer to them.
class ProcessTable {
 public:
  explicit ProcessTable(ModuleTable& modules) : modules_(modules) {}

  void apply(const MapEvent& event);
  void apply(const CommEvent& event);
  void apply(const ForkEvent& event);
  void apply(const ExitEvent& event);

  // The live process and thread of these ids, made when they were never announced.
  Process& process(uint32_t pid);
  ThreadId thread(uint32_t pid, uint32_t tid);

  const Mapping* find_kernel(RuntimeAddr position) const { return kernel_.find(position); }
  const ModuleTable& modules() const { return modules_; }
  const std::deque<Process>& processes() const { return processes_; }
  const std::deque<Thread>& threads() const { return threads_; }

 private:
  Process& start_process(uint32_t pid, uint64_t start_ns);
  ModuleTable& modules_;
  AddressSpace kernel_;
  std::deque<Process> processes_;
  std::deque<Thread> threads_;
  std::unordered_map<uint32_t, ProcessId> live_processes_;
  std::unordered_map<uint64_t, ThreadId> live_threads_;  // by pid << 32 | tid
};

}  // namespace jitprof
