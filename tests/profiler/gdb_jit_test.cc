// SPDX-License-Identifier: Apache-2.0

// The list of the GDB JIT interface in live processes, and what the recording says of it.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "profiler/recording.h"
#include "tests/catch.h"
#include "tests/profiler/recorder_process.h"
#include "tests/profiler/recorder_programs.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

// What a recording, finished or not, tells of objects up to now.
struct Registry {
  struct Object {
    std::string text;  // behind the magic
    uint64_t whole_size = 0;
  };
  std::map<uint32_t, std::map<std::string, Object>> live;  // by pid and name
  std::map<uint32_t, std::vector<std::string>> gone;       // texts, or names of what is the parent's
  std::vector<std::string> texts;                          // of all objects
  bool is_sound = true;

  std::set<std::string> texts_of(uint32_t pid) {
    std::set<std::string> texts;
    for (const auto& [name, object] : live[pid]) texts.insert(object.text.substr(0, 16));
    return texts;
  }
};

void add(Registry& registry, const SideFileEvent& event) {
  std::map<std::string, Registry::Object>& live = registry.live[event.pid];
  std::string bytes(reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size());
  registry.is_sound &= event.previous_look_ns < event.time_ns;
  if (event.kind == SideFileKind::kGdbJitGone) {
    auto known = live.find(event.path);
    registry.gone[event.pid].push_back(known == live.end() ? event.path : known->second.text);
    if (known != live.end()) live.erase(known);
    registry.is_sound &= event.bytes.empty() && event.previous_look_ns != 0;
    return;
  }
  if (event.offset == 0) {
    registry.is_sound &= bytes.starts_with(
                             "\x7f"
                             "ELF") &&
                         !live.contains(event.path);
    live[event.path] = {bytes.substr(4), event.whole_size};
    registry.texts.push_back(bytes.substr(4));
  } else {
    registry.is_sound &= live[event.path].text.size() + 4 == event.offset;
    live[event.path].text += bytes;
  }
}

Registry read_registry(const std::string& path) {
  Registry registry;
  Result<Recording> recording = Recording::open(path);
  while (recording.ok()) {
    Result<const Event*> event = recording.value().next();
    if (!event.ok() || event.value() == nullptr) break;
    const auto* piece = std::get_if<SideFileEvent>(event.value());
    if (piece != nullptr &&
        (piece->kind == SideFileKind::kGdbJitObject || piece->kind == SideFileKind::kGdbJitGone))
      add(registry, *piece);
  }
  return registry;
}

// gdb_jit_registry under a recorder.
class Recorded {
 public:
  Recorded(const TempDir& folder, const std::string& scenario, bool has_local_descriptor = false)
      : folder_(folder), options_(options(folder, scenario, has_local_descriptor)), recorder_(options_) {}

  // Waits until the program has made that step, and gives the pid that did.
  uint32_t reach(const std::string& step) {
    std::string path = folder_.file("done-" + step);
    wait_until([&] { return !read_file(path).empty(); });
    return static_cast<uint32_t>(std::stoul("0" + read_file(path)));
  }
  // Waits until the recording says so; then the program may go on.
  template <class Condition>
  Registry expect(const std::string& step, Condition is_there) {
    Registry registry;
    size_t known_size = 0;
    wait_until([&] {
      size_t size = std::filesystem::file_size(options_.output);
      if (std::exchange(known_size, size) == size) return false;
      registry = read_registry(options_.output);
      return is_there(registry);
    });
    INFO(step);
    CHECK(is_there(registry));
    CHECK(registry.is_sound);
    folder_.write("go-" + step, "");
    return registry;
  }
  int end() { return recorder_.end(0); }
  const std::string& output() const { return options_.output; }

 private:
  static RecordOptions options(const TempDir& folder, const std::string& scenario,
                               bool has_local_descriptor) {
    std::vector<std::string> flags = {"-O1", "-std=c++20", "-pthread"};
    // In .symtab alone, or in .dynsym alone.
    if (has_local_descriptor) {
      flags.push_back("-DLOCAL_DESCRIPTOR");
    } else {
      flags.insert(flags.end(), {"-rdynamic", "-s"});
    }
    compile("g++", flags, {"gdb_jit_registry.cc"}, folder.file("registry"));
    RecordOptions options;
    options.command = {folder.file("registry"), folder.path(), scenario};
    options.events = {"cpu-clock"};
    options.output = folder.file("out.data");
    return options;
  }

  const TempDir& folder_;
  RecordOptions options_;
  RecorderProcess recorder_;
};

using Texts = std::set<std::string>;

}  // namespace

TEST_CASE("symbol files are copied when they come, and told of when they go") {
  TempDir folder;
  Recorded recorded(folder, "steps");
  uint32_t pid = recorded.reach("three");
  recorded.expect("three", [&](Registry& now) { return now.texts_of(pid) == Texts{"a", "b", "c"}; });

  recorded.reach("many");
  Registry many = recorded.expect("many", [&](Registry& now) { return now.live[pid].size() == 2003; });
  CHECK(many.gone[pid] == std::vector<std::string>{"b"});
  CHECK(std::ranges::count(many.texts, std::string("1999")) == 1);
  CHECK(std::ranges::all_of(many.live[pid], [](const auto& object) {
    return object.second.whole_size == object.second.text.size() + 4;
  }));

  recorded.reach("replaced");
  std::string large(16, 'l');
  recorded.expect("replaced", [&](Registry& now) { return now.texts_of(pid) == Texts{"a", "C", large}; });
  recorded.reach("replaced again");
  recorded.expect("replaced again", [&](Registry& now) {
    return now.texts_of(pid) == Texts{"a", "D", large};
  });

  uint32_t child = recorded.reach("child");
  Registry both = recorded.expect("child", [&](Registry& now) {
    return now.texts_of(child) == Texts{"child"} && now.texts_of(pid) == Texts{"a", "D", large, "parent"};
  });
  REQUIRE(both.gone[child].size() == 1);
  CHECK(both.live[pid][both.gone[child][0]].text == "a");
  recorded.reach("parent");
  recorded.expect("parent", [&](Registry&) { return true; });
  CHECK(recorded.reach("again") == pid);
  recorded.expect("again", [&](Registry& now) { return now.texts_of(pid).contains("after exec"); });
  CHECK(recorded.end() == 0);

  Registry whole = read_registry(recorded.output());
  CHECK(std::ranges::count(whole.texts, "not an ELF file") == 0);
  CHECK(whole.texts.size() == 3 + 2001 + 2 + 2 + 1);
}

TEST_CASE("a list that changes while it is read gives whole objects only") {
  TempDir folder;
  Recorded recorded(folder, "churn", true);
  uint32_t pid = recorded.reach("churning");
  Registry churning = recorded.expect("churning", [&](Registry& now) { return now.texts.size() > 1000; });
  for (const std::string& text : churning.texts) {
    REQUIRE(text.size() == 500);
    std::string whole;
    for (int i = 0; i < 50; ++i) whole += text.substr(0, 10);
    REQUIRE(text == whole);
  }
  recorded.reach("over");
  Texts left;
  std::istringstream words(read_file(folder.file("left")));
  for (std::string word; words >> word;) left.insert(word);
  CHECK(!left.empty());
  recorded.expect("over", [&](Registry& now) {
    Texts live;
    for (const std::string& text : now.texts_of(pid)) live.insert(text.substr(0, 9));
    return live == left;
  });
  CHECK(recorded.end() == 0);
}

TEST_CASE("a list without an end and symbol files that are nowhere do no harm") {
  TempDir folder;
  Recorded recorded(folder, "hostile");
  uint32_t pid = recorded.reach("hostile");
  recorded.expect("hostile", [&](Registry& now) { return now.texts_of(pid) == Texts{"good"}; });
  CHECK(recorded.end() == 0);
  CHECK(read_registry(recorded.output()).texts.size() == 1);
}

TEST_CASE("what LLVM compiles in lli is in the recording") {
  std::string kind = GENERATE("mcjit", "orc", "orc-lazy");
  TempDir folder;
  std::string source = folder.write("busy.c", R"(
#include <time.h>
volatile unsigned sink;
__attribute__((noinline)) void work(void) { for (unsigned i = 0; i < 100000; ++i) sink += i; }
int main(void) { while (clock() < CLOCKS_PER_SEC) work(); return 0; }
)");
  compile("clang-16", {"-O2", "-g", "-c", "-emit-llvm"}, {source}, folder.file("busy.bc"));
  RecordOptions options;
  options.command = {"lli-16", "--jit-kind=" + kind, folder.file("busy.bc")};
  options.events = {"cpu-clock"};
  options.output = folder.file("out.data");
  CHECK(must_record(options).command_status == 0);
  Registry registry = read_registry(options.output);
  CHECK(registry.is_sound);
  std::string all;
  for (const std::string& text : registry.texts) all += text;
  // Among the names of its symbols and in its debug information.
  CHECK(all.find("work") != std::string::npos);
  CHECK(all.find(".debug_info") != std::string::npos);
}
