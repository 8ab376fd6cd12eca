// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/process_table.h"

namespace jitprof {

ProcessTable::ProcessTable(ModuleTable& modules)
    : modules_(modules),
      kernel_text_(modules.resolve({.in_kernel = true, .path = "[kernel.kallsyms]_text"}).id) {}

ModuleId ProcessTable::kernel_module(RuntimeAddr position) const {
  const Mapping* mapping = kernel_.find(position);
  return mapping == nullptr ? kernel_text_ : mapping->module;
}

void ProcessTable::apply(const MapEvent& event) {
  if (!event.is_executable && !event.in_kernel) return;
  const Module& module = modules_.resolve(event);
  Mapping mapping{
      .start = event.start,
      .end = event.start.plus(event.size),
      .module = module.id,
      .bias = modules_.bias_of(module, event),
      .may_hold_jit_code = module.kind == Module::Kind::kAnonymous || event.path.ends_with(" (deleted)")};
  AddressSpace& space =
      event.in_kernel ? kernel_ : processes_[process_of_event(event.pid, event.time_ns).id.index].space;
  space.map(mapping);
}

void ProcessTable::apply(const CommEvent& event) {
  LiveProcess& live = process_of_event(event.pid, event.time_ns);
  Process& process = processes_[live.id.index];
  // The kernel writes this record before the mappings of the new image.
  if (event.is_exec) process.space.clear();
  if (event.pid == event.tid) process.comm = event.comm;

  LiveThread* known = find_thread(event.pid, event.tid);
  if (known == nullptr) {
    // A thread that runs already; only its process can say since when.
    uint64_t start_ns = event.pid == event.tid ? process.start_ns : 0;
    start_thread(live, event.pid, event.tid, start_ns, event.comm);
  } else if (threads_[known->id.index].comm.empty()) {
    threads_[known->id.index].comm = event.comm;
  } else if (threads_[known->id.index].comm != event.comm) {
    Thread renamed = threads_[known->id.index];
    renamed.comm = event.comm;
    known->id = {static_cast<uint32_t>(threads_.size())};
    threads_.push_back(std::move(renamed));
  }
}

void ProcessTable::apply(const ForkEvent& event) {
  uint64_t start_ns = event.is_snapshot ? 0 : event.time_ns;
  if (event.pid == event.parent_pid) {
    if (event.is_snapshot && find_thread(event.pid, event.tid) != nullptr) return;
    LiveProcess& live = process_of_event(event.pid, event.time_ns);
    LiveThread* parent = find_thread(event.parent_pid, event.parent_tid);
    std::string comm = parent != nullptr ? threads_[parent->id.index].comm : processes_[live.id.index].comm;
    start_thread(live, event.pid, event.tid, start_ns, comm);
    return;
  }
  if (event.is_snapshot) {
    // Of a process that has been running for a while the parent's mappings say nothing.
    if (!live_processes_.contains(event.pid)) start_process(event.pid, start_ns);
    return;
  }
  const Process& parent = process(event.parent_pid);
  LiveThread* parent_thread = find_thread(event.parent_pid, event.parent_tid);
  std::string comm = parent_thread != nullptr ? threads_[parent_thread->id.index].comm : parent.comm;
  AddressSpace inherited = parent.space;
  LiveProcess& live = start_process(event.pid, start_ns);
  Process& child = processes_[live.id.index];
  child.space = std::move(inherited);
  child.comm = comm;
  start_thread(live, event.pid, event.tid, start_ns, comm);
}

void ProcessTable::apply(const ExitEvent& event) {
  LiveThread* thread = find_thread(event.pid, event.tid);
  if (thread == nullptr || thread->has_exited) return;
  thread->has_exited = true;
  LiveProcess& live = live_process(event.pid);
  --live.running_threads;
  // The main thread may exit long before the others.
  if (event.pid == event.tid) live.main_thread_exited = true;
}

void ProcessTable::apply(const JitChange& change, std::deque<JitCode>& codes) {
  AddressSpace& space = process(change.pid).space;
  switch (change.kind) {
    case JitChange::Kind::kLoad:
      load(change, codes[change.code]);
      break;
    case JitChange::Kind::kMove:
      space.move(change.start, change.moved_to);
      break;
    case JitChange::Kind::kUnload:
      unload(change, codes, space);
  }
}

void ProcessTable::unload(const JitChange& change, std::deque<JitCode>& codes, AddressSpace& space) {
  const Mapping* there = space.find(change.start);
  bool is_any = change.code == JitChange::kAnyCode;
  if (is_any || (there != nullptr && there->module == modules_.module_of(codes[change.code]).id))
    space.unload(change.start, change.size);
}

void ProcessTable::load(const JitChange& change, JitCode& code) {
  AddressSpace& space = process(change.pid).space;
  // V8 lists its builtins, which are text of its own file: that stays the code's owner.
  const Mapping* file = space.find(change.start);
  if (file != nullptr && !file->may_hold_jit_code && modules_.module(file->module).jit == nullptr) {
    modules_.publish_name(file->module, file->bias.to_elf(change.start), change.size, code.name);
    return;
  }
  const Module& module = modules_.module_of(code);
  space.load({.start = change.start,
              .end = change.start.plus(change.size),
              .module = module.id,
              .bias = module.elf ? Bias{0} : Bias{change.start.value}});
}

void ProcessTable::apply_event(const Event& event) {
  std::visit(
      [this](const auto& some) {
        if constexpr (requires { apply(some); }) apply(some);
        if constexpr (requires { modules_.apply(some); }) modules_.apply(some);
      },
      event);
}

Process& ProcessTable::process(uint32_t pid) { return processes_[live_process(pid).id.index]; }

ThreadId ProcessTable::thread(uint32_t pid, uint32_t tid) {
  if (LiveThread* known = find_thread(pid, tid)) return known->id;
  LiveProcess& live = live_process(pid);
  const Process& process = processes_[live.id.index];
  return start_thread(live, pid, tid, pid == tid ? process.start_ns : 0, process.comm);
}

ProcessTable::LiveProcess& ProcessTable::live_process(uint32_t pid) {
  auto found = live_processes_.find(pid);
  return found != live_processes_.end() ? found->second : start_process(pid, 0);
}

// An event that only a running process can cause, for a pid whose process has ended, comes from a new process
// whose fork record was lost.
ProcessTable::LiveProcess& ProcessTable::process_of_event(uint32_t pid, uint64_t time_ns) {
  LiveProcess& live = live_process(pid);
  return live.has_ended() ? start_process(pid, time_ns) : live;
}

ProcessTable::LiveProcess& ProcessTable::start_process(uint32_t pid, uint64_t start_ns) {
  ProcessId id{static_cast<uint32_t>(processes_.size())};
  auto [place, is_new] = live_processes_.try_emplace(pid);
  // Samples of the former process have all been seen: only its name is still needed.
  if (!is_new) processes_[place->second.id.index].space.clear();
  place->second = LiveProcess{.id = id};
  processes_.push_back(Process{.id = id, .pid = pid, .start_ns = start_ns});
  return place->second;
}

ThreadId ProcessTable::start_thread(LiveProcess& live, uint32_t pid, uint32_t tid, uint64_t start_ns,
                                    const std::string& comm) {
  ThreadId id{static_cast<uint32_t>(threads_.size())};
  LiveThread* former = find_thread(pid, tid);
  if (former == nullptr || former->has_exited) ++live.running_threads;
  live_threads_.insert_or_assign(thread_key(pid, tid), LiveThread{.id = id});
  threads_.push_back(Thread{.process = live.id, .pid = pid, .tid = tid, .start_ns = start_ns, .comm = comm});
  return id;
}

ProcessTable::LiveThread* ProcessTable::find_thread(uint32_t pid, uint32_t tid) {
  auto found = live_threads_.find(thread_key(pid, tid));
  auto process = live_processes_.find(pid);
  if (found == live_threads_.end() || process == live_processes_.end()) return nullptr;
  return threads_[found->second.id.index].process == process->second.id ? &found->second : nullptr;
}

}  // namespace jitprof
