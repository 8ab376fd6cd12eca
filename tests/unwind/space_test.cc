// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/space/process_table.h"

namespace jitprof {
namespace {

using tests::TempDir;

Mapping mapping(uint64_t start, uint64_t end, uint32_t module) {
  return {.start = {start}, .end = {end}, .module = {module}, .bias = {module * 1000}};
}

// "module:start-end …" of all that is mapped.
std::string text_of(const AddressSpace& space) {
  std::string text;
  for (const auto& [start, entry] : space.mappings()) {
    CHECK(start == entry.start);
    CHECK(entry.bias == Bias{entry.module.index * 1000});
    text += (text.empty() ? "" : " ") + std::to_string(entry.module.index) + ":" +
            std::to_string(entry.start.value) + "-" + std::to_string(entry.end.value);
  }
  return text;
}

std::string compile_small(const TempDir& folder, const std::string& name,
                          const std::vector<std::string>& flags) {
  std::string source = folder.write(name + ".c", "int main(int n, char** v) { return v[0][n]; }\n");
  tests::compile("gcc", flags, {source}, folder.file(name));
  return folder.file(name);
}

// The mapping of a file's executable segment at `start`, as the kernel would report it.
MapEvent map_of(const std::string& path, uint64_t start) {
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  struct stat status;
  REQUIRE(stat(path.c_str(), &status) == 0);
  for (const ElfSegment& segment : elf.value().segments()) {
    if (segment.type != 1 || !(segment.flags & 1)) continue;
    return {.pid = 1,
            .tid = 1,
            .start = {start},
            .size = 0x1000,
            .offset = {segment.offset.value & ~uint64_t{0xfff}},
            .device_major = major(status.st_dev),
            .device_minor = minor(status.st_dev),
            .inode = status.st_ino,
            .is_executable = true,
            .path = path};
  }
  return {};
}

MapEvent code(uint32_t pid, uint64_t start, const std::string& path) {
  return {.pid = pid, .tid = pid, .start = {start}, .size = 0x1000, .is_executable = true, .path = path};
}

SideFileEvent image_of(const MapEvent& event, const std::string& bytes, uint64_t offset = 0) {
  return {.kind = SideFileKind::kModuleImage,
          .device = makedev(event.device_major, event.device_minor),
          .inode = event.inode,
          .path = event.path,
          .offset = offset,
          .bytes = std::as_bytes(std::span(bytes))};
}

}  // namespace

TEST_CASE("the newer mapping wins where it overlaps and the rest of the older stays") {
  AddressSpace space;
  space.map(mapping(100, 200, 1));
  SECTION("in the middle") {
    space.map(mapping(120, 150, 2));
    CHECK(text_of(space) == "1:100-120 2:120-150 1:150-200");
    CHECK(space.find({119})->module.index == 1);
    CHECK(space.find({120})->module.index == 2);
    CHECK(space.find({150})->module.index == 1);
    CHECK(space.find({200}) == nullptr);
    CHECK(space.find({99}) == nullptr);
  }
  SECTION("over its beginning and its end") {
    space.map(mapping(50, 110, 2));
    space.map(mapping(190, 300, 3));
    CHECK(text_of(space) == "2:50-110 1:110-190 3:190-300");
  }
  SECTION("exactly over it") {
    space.map(mapping(100, 200, 2));
    CHECK(text_of(space) == "2:100-200");
  }
  SECTION("same start, shorter") {
    space.map(mapping(100, 150, 2));
    CHECK(text_of(space) == "2:100-150 1:150-200");
  }
  SECTION("over several") {
    space.map(mapping(200, 300, 2));
    space.map(mapping(300, 400, 3));
    space.map(mapping(150, 350, 4));
    CHECK(text_of(space) == "1:100-150 4:150-350 3:350-400");
  }
  SECTION("empty or wrapped around") {
    space.map(mapping(150, 150, 2));
    space.map(mapping(150, 10, 2));
    CHECK(text_of(space) == "1:100-200");
  }
}

TEST_CASE("one file mapped twice has two biases and is one module") {
  TempDir folder;
  std::string path = compile_small(folder, "small", {"-pie", "-fPIE", "-Wl,-z,separate-code"});
  ModuleTable modules("");
  ProcessTable processes(modules);
  processes.apply(map_of(path, 0x10000000));
  processes.apply(map_of(path, 0x20000000));
  const AddressSpace& space = processes.process(1).space;
  const Mapping* first = space.find({0x10000010});
  const Mapping* second = space.find({0x20000010});
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first->module == second->module);
  CHECK(first->bias.to_elf({0x10000010}) == second->bias.to_elf({0x20000010}));
  CHECK(modules.module(first->module).problem == Module::Problem::kNone);
}

TEST_CASE("a segment whose p_vaddr differs from its p_offset gets the right bias") {
  TempDir folder;
  std::string path = compile_small(folder, "moved", {"-shared", "-fPIC", "-Wl,-Ttext-segment=0x400000"});
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  MapEvent event = map_of(path, 0x70000000);
  ModuleTable modules("");
  Module& module = modules.resolve(event);
  ElfAddr here = modules.bias_of(module, event).to_elf({0x70000000});
  Bytes in_elf = elf.value().bytes_from(here.plus(64));
  REQUIRE(!in_elf.empty());
  CHECK(in_elf.data() == elf.value().image().data() + event.offset.value + 64);
}

TEST_CASE("a file that is not the recorded one is refused") {
  TempDir folder;
  std::string path = compile_small(folder, "small", {"-Wl,--build-id=sha1"});
  MapEvent event = map_of(path, 0x10000000);
  ModuleTable modules("");
  SECTION("by inode") {
    event.inode += 1;
    CHECK(modules.resolve(event).problem == Module::Problem::kOtherBuildId);
  }
  SECTION("by the mapping's build-id") {
    event.build_id = BuildId(std::as_bytes(std::span("not the recorded one")));
    CHECK(modules.resolve(event).problem == Module::Problem::kOtherBuildId);
  }
  SECTION("by the module's build-id, though the inode is the same") {
    ModuleEvent seen{.path = path,
                     .device_major = event.device_major,
                     .device_minor = event.device_minor,
                     .inode = event.inode,
                     .build_id = BuildId(std::as_bytes(std::span("not the recorded one")))};
    modules.apply(seen);
    CHECK(modules.resolve(event).problem == Module::Problem::kOtherBuildId);
  }
  SECTION("as a successor of a deleted one") {
    event.path += " (deleted)";
    CHECK(modules.resolve(event).problem == Module::Problem::kMissing);
  }
  SECTION("unless its build-id says that it is the same after all") {
    event.path += " (deleted)";
    event.inode += 1;
    event.build_id = ElfFile::open(path).value().build_id();
    const Module& module = modules.resolve(event);
    CHECK(module.problem == Module::Problem::kNone);
    CHECK(module.path == path);
    CHECK(module.file_path == path);
  }
  SECTION("missing") {
    std::filesystem::remove(path);
    const Module& module = modules.resolve(event);
    CHECK(module.problem == Module::Problem::kMissing);
    CHECK(modules.bias_of(module, event).to_elf(event.start).value == event.offset.value);
  }
  SECTION("not ELF") {
    folder.write("small", "not an ELF file");
    CHECK(modules.resolve(event).problem == Module::Problem::kUnreadable);
  }
}

TEST_CASE("an image in the recording comes before any file") {
  TempDir folder;
  std::string path = compile_small(folder, "gone", {});
  std::string bytes = tests::read_file(path);
  MapEvent event = map_of(path, 0x10000000);
  std::filesystem::remove(path);
  ModuleTable modules("");
  std::string first = bytes.substr(0, 5000), rest = bytes.substr(5000);
  modules.apply(image_of(event, first));
  modules.apply(image_of(event, rest, 5000));
  const Module& module = modules.resolve(event);
  CHECK(module.problem == Module::Problem::kNone);
  CHECK(module.file_path.empty());
  REQUIRE(module.elf.has_value());
  CHECK(module.elf->image().size() == bytes.size());
}

TEST_CASE("--symfs finds by path, build-id and name, and the running system only by build-id") {
  TempDir folder, root;
  std::string path = compile_small(folder, "small", {"-Wl,--build-id=sha1"});
  MapEvent event = map_of(path, 0x10000000);
  BuildId id = ElfFile::open(path).value().build_id();
  auto copy_to = [&](const std::string& place) {
    std::filesystem::create_directories(std::filesystem::path(place).parent_path());
    std::filesystem::copy_file(path, place);
    return place;
  };
  ModuleTable modules(root.path());
  SECTION("path") {
    event.inode += 1;
    std::string place = copy_to(root.path() + "/" + path);
    CHECK(modules.resolve(event).file_path == place);
  }
  SECTION("build-id") {
    event.build_id = id;
    std::string place =
        copy_to(root.path() + "/.build-id/" + id.hex().substr(0, 2) + "/" + id.hex().substr(2));
    CHECK(modules.resolve(event).file_path == place);
  }
  SECTION("name") {
    std::string place = copy_to(root.path() + "/small");
    CHECK(modules.resolve(event).file_path == place);
  }
  SECTION("a wrong one by name, the right one on the running system") {
    event.build_id = id;
    std::string other = compile_small(root, "small", {"-Wl,--build-id=sha1", "-O2"});
    CHECK(modules.resolve(event).file_path == path);
  }
  SECTION("nowhere") { CHECK(modules.resolve(event).problem == Module::Problem::kMissing); }
}

TEST_CASE("memory without a file keeps its runtime positions") {
  ModuleTable modules("");
  for (const char* name :
       {"//anon", "[heap]", "/memfd:doublemapper (deleted)", "/dev/zero (deleted)", "[vsyscall]"}) {
    MapEvent event = code(1, 0x5000, name);
    const Module& module = modules.resolve(event);
    CHECK(module.kind == Module::Kind::kAnonymous);
    CHECK(module.path == name);
    CHECK(module.problem == Module::Problem::kNone);
    CHECK(modules.bias_of(module, event) == Bias{0});
  }
}

TEST_CASE("fork copies, exec clears, a snapshot fork keeps") {
  ModuleTable modules("");
  ProcessTable processes(modules);
  processes.apply(CommEvent{.pid = 10, .tid = 10, .comm = "parent"});
  processes.apply(code(10, 0x1000, "//anon"));
  processes.apply(ForkEvent{.time_ns = 5, .pid = 11, .tid = 11, .parent_pid = 10, .parent_tid = 10});
  processes.apply(code(10, 0x2000, "//anon"));
  CHECK(processes.process(11).space.find({0x1000}) != nullptr);
  CHECK(processes.process(11).space.find({0x2000}) == nullptr);
  CHECK(processes.process(11).start_ns == 5);
  CHECK(processes.threads()[processes.thread(11, 11).index].comm == "parent");

  ThreadId before = processes.thread(11, 11);
  processes.apply(CommEvent{.time_ns = 6, .pid = 11, .tid = 11, .comm = "child", .is_exec = true});
  CHECK(processes.process(11).space.mappings().empty());
  CHECK(processes.process(11).comm == "child");
  CHECK(processes.thread(11, 11) != before);
  CHECK(processes.threads()[before.index].comm == "parent");
  CHECK(processes.threads()[processes.thread(11, 11).index].start_ns == 5);

  processes.apply(code(11, 0x3000, "//anon"));
  processes.apply(ForkEvent{.pid = 11, .tid = 11, .parent_pid = 10, .parent_tid = 10, .is_snapshot = true});
  CHECK(processes.process(11).space.find({0x3000}) != nullptr);
}

TEST_CASE("a pid that is used again is another process") {
  ModuleTable modules("");
  ProcessTable processes(modules);
  processes.apply(CommEvent{.pid = 10, .tid = 10, .comm = "first"});
  processes.apply(ForkEvent{.time_ns = 1, .pid = 10, .tid = 12, .parent_pid = 10, .parent_tid = 10});
  processes.apply(code(10, 0x1000, "//anon"));
  ProcessId first = processes.process(10).id;
  CHECK(processes.threads()[processes.thread(10, 12).index].comm == "first");

  // The main thread is gone, another still runs and maps.
  processes.apply(ExitEvent{.time_ns = 2, .pid = 10, .tid = 10});
  processes.apply(code(10, 0x2000, "//anon"));
  CHECK(processes.process(10).id == first);
  CHECK(processes.process(10).space.find({0x1000}) != nullptr);

  processes.apply(ExitEvent{.time_ns = 3, .pid = 10, .tid = 12});
  CHECK(processes.process(10).id == first);  // for a late sample
  SECTION("with a fork") {
    processes.apply(ForkEvent{.time_ns = 4, .pid = 10, .tid = 10, .parent_pid = 1, .parent_tid = 1});
  }
  SECTION("the fork's record was lost") {
    processes.apply(CommEvent{.time_ns = 4, .pid = 10, .tid = 10, .comm = "second"});
  }
  CHECK(processes.process(10).id != first);
  CHECK(processes.process(10).start_ns == 4);
  CHECK(processes.process(10).space.mappings().empty());
  CHECK(processes.threads()[processes.thread(10, 10).index].process == processes.process(10).id);
  CHECK(processes.processes()[first.index].comm == "first");
}

TEST_CASE("a thread keeps its entry until it is renamed") {
  ModuleTable modules("");
  ProcessTable processes(modules);
  ThreadId unnamed = processes.thread(10, 11);
  processes.apply(CommEvent{.pid = 10, .tid = 11, .comm = "worker"});
  CHECK(processes.thread(10, 11) == unnamed);
  CHECK(processes.threads()[unnamed.index].comm == "worker");
  processes.apply(CommEvent{.pid = 10, .tid = 11, .comm = "worker"});
  CHECK(processes.thread(10, 11) == unnamed);
  processes.apply(CommEvent{.pid = 10, .tid = 11, .comm = "idle"});
  CHECK(processes.thread(10, 11) != unnamed);
  CHECK(processes.threads()[unnamed.index].comm == "worker");
}

}  // namespace jitprof
