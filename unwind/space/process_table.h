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
// threads; they stay until the report ends, because samples refer to them. A process that has exited keeps
// its pid and mappings until the pid is used again: samples may come a little later than the exit.
class ProcessTable {
 public:
  explicit ProcessTable(ModuleTable& modules);

  void apply(const MapEvent& event);
  void apply(const CommEvent& event);
  void apply(const ForkEvent& event);
  void apply(const ExitEvent& event);
  // `codes`: those of the log that the change is from.
  void apply(const JitChange& change, std::deque<JitCode>& codes);
  // Any event, for whichever of the two tables it concerns; samples and losses concern neither.
  void apply_event(const Event& event);

  // The live process and thread of these ids, made when they were never announced.
  Process& process(uint32_t pid);
  ThreadId thread(uint32_t pid, uint32_t tid);

  // "[kernel]" wherever no record of a kernel module says more. The bias of kernel code is 0.
  ModuleId kernel_module(RuntimeAddr position) const;
  const ModuleTable& modules() const { return modules_; }
  const std::deque<Process>& processes() const { return processes_; }
  const std::deque<Thread>& threads() const { return threads_; }

 private:
  // A process of this time under its pid.
  struct LiveProcess {
    ProcessId id;
    uint32_t running_threads = 0;  // of those announced
    bool main_thread_exited = false;
    bool has_ended() const { return main_thread_exited && running_threads == 0; }
  };
  struct LiveThread {
    ThreadId id;
    bool has_exited = false;
  };
  void load(const JitChange& change, JitCode& code);
  void unload(const JitChange& change, std::deque<JitCode>& codes, AddressSpace& space);
  static uint64_t thread_key(uint32_t pid, uint32_t tid) { return uint64_t{pid} << 32 | tid; }

  LiveProcess& live_process(uint32_t pid);
  LiveProcess& process_of_event(uint32_t pid, uint64_t time_ns);
  LiveProcess& start_process(uint32_t pid, uint64_t start_ns);
  ThreadId start_thread(LiveProcess& live, uint32_t pid, uint32_t tid, uint64_t start_ns,
                        const std::string& comm);
  // The entry of a thread of the process that has its pid now.
  LiveThread* find_thread(uint32_t pid, uint32_t tid);

  ModuleTable& modules_;
  ModuleId kernel_text_;
  AddressSpace kernel_;
  std::deque<Process> processes_;
  std::deque<Thread> threads_;
  std::unordered_map<uint32_t, LiveProcess> live_processes_;
  std::unordered_map<uint64_t, LiveThread> live_threads_;  // by thread_key
};

}  // namespace jitprof
