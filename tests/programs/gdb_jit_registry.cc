// SPDX-License-Identifier: Apache-2.0

// A runtime as the GDB JIT interface sees it, without code: registers symbol files and takes them back, step
// by step. usage: gdb_jit_registry FOLDER SCENARIO. After each step it makes FOLDER/done-STEP and waits for
// FOLDER/go-STEP. A symbol file is "\x7fELF", then a text.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Entry {
  Entry* next;
  Entry* previous;
  const char* symbol_file;
  uint64_t size;
};
struct Descriptor {
  uint32_t version;
  uint32_t action;
  Entry* relevant;
  Entry* first;
};
extern "C" {
__attribute__((noinline, used)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
#ifdef LOCAL_DESCRIPTOR
__attribute__((visibility("hidden")))  // the linker makes it a local symbol
#endif
volatile Descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
}

namespace {

std::string folder;

void register_entry(Entry* entry) {
  entry->previous = nullptr;
  entry->next = __jit_debug_descriptor.first;
  if (entry->next != nullptr) entry->next->previous = entry;
  __jit_debug_descriptor.first = entry;
  __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = 1;
  __jit_debug_register_code();
}

void take_back(Entry* entry) {
  if (entry->previous != nullptr) {
    entry->previous->next = entry->next;
  } else {
    __jit_debug_descriptor.first = entry->next;
  }
  if (entry->next != nullptr) entry->next->previous = entry->previous;
  __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = 2;
  __jit_debug_register_code();
}

struct Object {
  explicit Object(std::string contents) : text(std::move(contents)) {
    entry.symbol_file = text.data();
    entry.size = text.size();
  }
  std::string text;
  Entry entry{};
};

std::string elf(const std::string& text) {
  return "\x7f"
         "ELF" +
         text;
}

std::unique_ptr<Object> make(const std::string& contents) {
  auto object = std::make_unique<Object>(contents);
  register_entry(&object->entry);
  return object;
}

void step(const std::string& name) {
  std::ofstream(folder + "/done-" + name) << getpid();
  while (access((folder + "/go-" + name).c_str(), F_OK) != 0) usleep(1000);
}

void steps() {
  auto a = make(elf("a"));
  auto b = make(elf("b"));
  auto c = make(elf("c"));
  step("three");
  take_back(&b->entry);
  std::vector<std::unique_ptr<Object>> many;
  for (int i = 0; i < 2000; ++i) many.push_back(make(elf(std::to_string(i))));
  // More than one piece.
  auto large = make(elf(std::string(2'500'000, 'l')));
  step("many");
  while (!many.empty()) {
    take_back(&many.back()->entry);
    many.pop_back();
  }
  // The same memory with the same size, and another object.
  take_back(&c->entry);
  c->text.back() = 'C';
  register_entry(&c->entry);
  step("replaced");
  // Once more, and nothing else changed.
  take_back(&c->entry);
  c->text.back() = 'D';
  register_entry(&c->entry);
  step("replaced again");
  auto foreign = make("not an ELF file");
  pid_t child = fork();
  if (child == 0) {
    alarm(200);
    take_back(&a->entry);
    auto own = make(elf("child"));
    step("child");
    _exit(0);
  }
  auto after = make(elf("parent"));
  waitpid(child, nullptr, 0);
  step("parent");
  execl("/proc/self/exe", "gdb_jit_registry", folder.c_str(), "again", nullptr);
}

// Never the same for two milliseconds, until the test says so; then what is left is written down.
void churn() {
  constexpr int kSlots = 300;
  std::vector<std::unique_ptr<Object>> slots(kSlots);
  std::atomic<bool> is_over = false;
  std::thread changer([&] {
    uint64_t random = 1;
    for (uint64_t number = 0; !is_over; ++number) {
      random = random * 6364136223846793005 + 1442695040888963407;
      std::unique_ptr<Object>& slot = slots[(random >> 33) % kSlots];
      if (slot != nullptr) {
        take_back(&slot->entry);
        std::memset(slot->text.data(), 0, slot->text.size());
        slot.reset();
      } else {
        std::string word = std::to_string(100'000'000 + number) + " ";
        std::string text;
        for (int i = 0; i < 50; ++i) text += word;
        slot = make(elf(text));
      }
      if (number % 16 == 0) usleep(100);
    }
  });
  step("churning");
  is_over = true;
  changer.join();
  std::ofstream list(folder + "/left");
  for (const auto& slot : slots)
    if (slot != nullptr) list << slot->text.substr(4, 9) << "\n";
  list.close();
  step("over");
}

// A list that never ends, and a symbol file that is nowhere.
void hostile() {
  static Entry circle[3];
  for (int i = 0; i < 3; ++i) circle[i] = {&circle[(i + 1) % 3], &circle[(i + 2) % 3], nullptr, 100};
  circle[1].symbol_file = reinterpret_cast<const char*>(uint64_t{0xdead000});
  circle[2].symbol_file =
      "\x7f"
      "ELF";
  circle[2].size = UINT64_MAX;
  auto good = std::make_unique<Object>(elf("good"));
  good->entry.next = &circle[0];
  __jit_debug_descriptor.first = &good->entry;
  __jit_debug_descriptor.relevant = reinterpret_cast<Entry*>(uint64_t{0xffff800000000000});
  step("hostile");
}

}  // namespace

int main(int, char** arguments) {
  alarm(200);  // nobody waits longer
  folder = arguments[1];
  std::string scenario = arguments[2];
  if (scenario == "steps") steps();
  if (scenario == "churn") churn();
  if (scenario == "hostile") hostile();
  if (scenario == "again") {
    auto object = make(elf("after exec"));
    step("again");
  }
  return 0;
}
