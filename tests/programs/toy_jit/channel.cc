// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <vector>

#include "object_file.h"
#include "published.h"

// The interface of gdb, whose names and layout are fixed (gdb's manual, "JIT Compilation Interface").
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((noinline)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}

namespace toy {
namespace {

class HeaderChannel : public Channel {
 public:
  explicit HeaderChannel(bool only_jitdump) : only_jitdump_(only_jitdump) {}
  ~HeaderChannel() override { jitprof_jit_close(&jit_); }

  bool open_file() { return jitprof_jit_open(&jit_, nullptr) == 0; }

  void publish(const Method& method, uint64_t start) override {
    Published published(method);
    EhFrame eh_frame;
    jitprof_jit_code code = published.code(start);
    if (only_jitdump_) {
      eh_frame = make_eh_frame(method, true);
      code.frame_row_count = 0;
      code.inlines = nullptr;
      code.eh_frame = eh_frame.bytes.data();
      code.eh_frame_size = eh_frame.bytes.size();
    }
    check(jitprof_jit_publish(&jit_, &code, &index_));
  }
  void move(const Method& method, uint64_t from, uint64_t to) override {
    check(jitprof_jit_move(&jit_, index_, from, to, method.bytes().size()));
  }
  void unload(const Method& method, uint64_t start) override {
    if (!only_jitdump_) check(jitprof_jit_unload(&jit_, index_, start, method.bytes().size()));
  }

 private:
  static void check(int error) {
    if (error != 0) std::fprintf(stderr, "toy_jit: jit.h says %d\n", error);
  }

  bool only_jitdump_;
  jitprof_jit jit_;
  uint64_t index_ = 0;
};

class GdbChannel : public Channel {
 public:
  void publish(const Method& method, uint64_t start) override {
    // Two objects at one place would be one too many in the list.
    if (objects_.contains(start)) unload(method, start);
    auto registered = std::make_unique<Registered>();
    registered->file = make_object_file(method, start);
    jit_code_entry& entry = registered->entry;
    entry = {__jit_debug_descriptor.first_entry, nullptr,
             reinterpret_cast<const char*>(registered->file.data()), registered->file.size()};
    if (entry.next_entry != nullptr) entry.next_entry->prev_entry = &entry;
    __jit_debug_descriptor.first_entry = &entry;
    announce(1, &entry);
    objects_[start] = std::move(registered);
  }
  void move(const Method& method, uint64_t from, uint64_t to) override {
    unload(method, from);
    publish(method, to);
  }
  void unload(const Method&, uint64_t start) override {
    auto found = objects_.find(start);
    jit_code_entry& entry = found->second->entry;
    jit_code_entry*& before =
        entry.prev_entry != nullptr ? entry.prev_entry->next_entry : __jit_debug_descriptor.first_entry;
    before = entry.next_entry;
    if (entry.next_entry != nullptr) entry.next_entry->prev_entry = entry.prev_entry;
    announce(2, &entry);
    objects_.erase(found);
  }

 private:
  struct Registered {
    std::vector<uint8_t> file;
    jit_code_entry entry{};
  };

  static void announce(uint32_t action, jit_code_entry* entry) {
    __jit_debug_descriptor.relevant_entry = entry;
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.relevant_entry = nullptr;
    __jit_debug_descriptor.action_flag = 0;
  }

  std::map<uint64_t, std::unique_ptr<Registered>> objects_;
};

class MapChannel : public Channel {
 public:
  ~MapChannel() override { close(file_); }

  bool open_file() {
    std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
    file_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
    return file_ >= 0;
  }

  void publish(const Method& method, uint64_t start) override {
    dprintf(file_, "%lx %zx %s\n", static_cast<unsigned long>(start), method.bytes().size(),
            method.name().c_str());
  }
  void move(const Method& method, uint64_t, uint64_t to) override { publish(method, to); }
  void unload(const Method&, uint64_t) override {}
  bool tells_frames() const override { return false; }

 private:
  int file_ = -1;
};

template <class Kind, class... Arguments>
std::unique_ptr<Channel> open_kind(Arguments... arguments) {
  auto channel = std::make_unique<Kind>(arguments...);
  if (!channel->open_file()) return nullptr;
  return channel;
}

}  // namespace

std::unique_ptr<Channel> Channel::open(const std::string& name) {
  if (name == "header") return open_kind<HeaderChannel>(false);
  if (name == "jitdump-cfi") return open_kind<HeaderChannel>(true);
  if (name == "map") return open_kind<MapChannel>();
  if (name == "gdb") return std::make_unique<GdbChannel>();
  return nullptr;
}

}  // namespace toy
