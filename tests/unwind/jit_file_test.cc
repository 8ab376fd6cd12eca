// SPDX-License-Identifier: Apache-2.0
// The file that jit.h writes: its records, and that threads, forks and refusals do not break it.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/unwind/dump_records.h"
#include "unwind/jit/published_record.h"

namespace jitprof::tests {
namespace {

bool is_mapped_executable(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path) && line.find(" r-xp ") != std::string::npos) return true;
  }
  return false;
}

// Publishes `count` pieces of code and ends.
pid_t forked_publisher(OpenDump& dump, unsigned count) {
  pid_t child = fork();
  if (child != 0) return child;
  int error = 0;
  jitprof_jit_code code = small_code();
  for (unsigned i = 0; i < count; ++i) error |= jitprof_jit_publish(&dump.jit, &code, nullptr);
  _exit(error);
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a dump is found by its executable mapping and holds jitdump's own records") {
  OpenDump dump;
  CHECK(is_mapped_executable(dump.path()));
  jitprof_jit_code code = small_code();
  code.file = "a.src";
  const jitprof_line lines[] = {{1, 5, 2, nullptr}, {2, 6, 0, "b.src"}};
  code.lines = lines;
  code.line_count = 2;
  uint64_t index = 0;
  uint64_t before = jitprof_now();
  REQUIRE(jitprof_jit_publish(&dump.jit, &code, &index) == 0);
  REQUIRE(jitprof_jit_move(&dump.jit, index, 0x10000, 0x20000, 3) == 0);
  REQUIRE(jitprof_jit_unload(&dump.jit, index, 0x20000, 3) == 0);
  jitprof_jit_close(&dump.jit);
  CHECK_FALSE(is_mapped_executable(dump.path()));
  CHECK(jitprof_jit_publish(&dump.jit, &code, &index) == EBADF);

  Dump read = dump.read();
  CHECK(read.pid == static_cast<uint32_t>(getpid()));
  REQUIRE(read.ids() == std::vector<uint32_t>{2, 0, 1, kPublishedRecordId, 3});
  for (const DumpRecord& record : read.records) {
    CHECK(record.time_ns >= before);
    before = record.time_ns;
  }
  ByteReader debug(read.records[0].bytes());
  CHECK(debug.u64() == 0x10000);
  REQUIRE(debug.u64() == 3);
  using Line = std::tuple<uint64_t, uint32_t, uint32_t, std::string_view>;
  for (const Line& expected :
       {Line{0x10000, 0, 0, "a.src"}, Line{0x10001, 5, 2, "a.src"}, Line{0x10002, 6, 0, "b.src"}}) {
    uint64_t position = debug.u64();
    uint32_t line = debug.u32(), column = debug.u32();
    CHECK(Line{position, line, column, debug.c_string()} == expected);
  }
  ByteReader load(read.records[1].bytes());
  CHECK(load.u32() == static_cast<uint32_t>(getpid()));
  CHECK(load.u32() == static_cast<uint32_t>(gettid()));
  for (uint64_t expected : {uint64_t{0x10000}, uint64_t{0x10000}, uint64_t{3}, index})
    CHECK(load.u64() == expected);
  CHECK(load.c_string() == "small");
  CHECK(std::memcmp(load.take(3).data(), code.bytes, 3) == 0);
  CHECK((load.ok() && load.at_end()));
  ByteReader move(read.records[2].bytes());
  move.skip(8);
  for (uint64_t expected : {uint64_t{0x20000}, uint64_t{0x10000}, uint64_t{0x20000}, uint64_t{3}, index})
    CHECK(move.u64() == expected);
  CHECK(move.at_end());
  std::optional<PublishedRecord> unload = read_published_record(read.records[3].bytes());
  REQUIRE(unload);
  CHECK(unload->kind == PublishedRecord::Kind::kUnload);
  CHECK(unload->code_start == RuntimeAddr{0x20000});
}

TEST_CASE("records of many threads and their children do not mix") {
  OpenDump dump;
  constexpr unsigned kThreads = 4, kEach = 500;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&dump, i] {
      std::string name = "thread " + std::to_string(i);
      jitprof_jit_code code = small_code();
      code.name = name.c_str();
      for (unsigned each = 0; each < kEach; ++each) jitprof_jit_publish(&dump.jit, &code, nullptr);
    });
  }
  // Forks while a thread may hold the lock, which no thread of the child will ever give back.
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 20; ++i) children.push_back(forked_publisher(dump, 3));
  for (pid_t child : children) {
    CHECK(status_of(child) == 0);
    Dump read = read_dump(dump.path(child));
    CHECK(read.pid == static_cast<uint32_t>(child));
    CHECK(read.ids() == std::vector<uint32_t>{0, 0, 0});
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> indexes;
  for (const DumpRecord& record : dump.read().records) {
    ByteReader load(record.bytes());
    load.skip(32);
    indexes.insert(load.u64());
    CHECK(load.c_string().starts_with("thread "));
    CHECK(load.remaining() == 3);
  }
  CHECK(indexes.size() == kThreads * kEach);
}

TEST_CASE("a child that publishes nothing leaves its parent's dump alone") {
  OpenDump dump;
  pid_t child = fork();
  if (child == 0) {
    jitprof_jit_close(&dump.jit);
    _exit(0);
  }
  CHECK(status_of(child) == 0);
  CHECK(dump.read().records.empty());
  jitprof_jit_code code = small_code();
  CHECK(jitprof_jit_publish(&dump.jit, &code, nullptr) == 0);
  CHECK(dump.read().ids() == std::vector<uint32_t>{0});
}

TEST_CASE("a dump of an earlier process of the same number is replaced, a link is not followed") {
  TempDir folder;
  std::string target = folder.write("target", "precious");
  std::string path = folder.file("jit-" + std::to_string(getpid()) + ".dump");
  REQUIRE(symlink(target.c_str(), path.c_str()) == 0);
  jitprof_jit jit;
  REQUIRE(jitprof_jit_open(&jit, folder.path().c_str()) == 0);
  jitprof_jit_close(&jit);
  CHECK(read_file(target) == "precious");
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  CHECK(S_ISREG(status.st_mode));
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a folder that cannot hold a dump is refused") {
  TempDir folder;
  jitprof_jit jit;
  CHECK(jitprof_jit_open(&jit, folder.file("none").c_str()) == ENOENT);
  CHECK(jitprof_jit_open(&jit, std::string(5000, 'x').c_str()) == ENAMETOOLONG);
  jitprof_jit_code code = small_code();
  CHECK(jitprof_jit_publish(&jit, &code, nullptr) == EBADF);
  jitprof_jit_close(&jit);
}

TEST_CASE("where no dump was ever opened nothing is published and nothing closed") {
  static jitprof_jit jit;
  jitprof_jit_code code = small_code();
  CHECK(jitprof_jit_publish(&jit, &code, nullptr) == EBADF);
  CHECK(jitprof_jit_unload(&jit, 0, 0, 1) == EBADF);
  int standard_input = dup(0);
  jitprof_jit_close(&jit);
  CHECK((standard_input == -1 || fcntl(0, F_GETFD) != -1));
  close(standard_input);
}

TEST_CASE("a record that does not fit on the disk leaves none of its bytes") {
  OpenDump dump;
  pid_t child = fork();
  if (child == 0) {
    jitprof_jit_code code = small_code();
    int first = jitprof_jit_publish(&dump.jit, &code, nullptr);
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{300, 300};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string long_name(1000, 'x');
    code.name = long_name.c_str();
    int second = jitprof_jit_publish(&dump.jit, &code, nullptr);
    code.name = "small";
    int third = jitprof_jit_publish(&dump.jit, &code, nullptr);
    _exit(first == 0 && second == EFBIG && third == 0 ? 0 : 1);
  }
  CHECK(status_of(child) == 0);
  CHECK(read_dump(dump.path(child)).ids() == std::vector<uint32_t>{0, 0});
}

TEST_CASE("code that is not described in order is refused") {
  OpenDump dump;
  const jitprof_frame_row falling[] = {{0, JITPROF_BASE_RSP, 8, 0}, {0, JITPROF_BASE_RSP, 16, 0}};
  const jitprof_frame_row late[] = {{1, JITPROF_BASE_RSP, 8, 0}};
  const jitprof_frame_row beyond[] = {{0, JITPROF_BASE_RSP, 8, 0}, {3, JITPROF_BASE_RSP, 16, 0}};
  const jitprof_frame_row baseless[] = {{0, 0, 8, 0}};
  const jitprof_frame_row shallow[] = {{0, JITPROF_BASE_RSP, 8, -8}};
  auto refuses_rows = [&](const jitprof_frame_row* rows, size_t count) {
    jitprof_jit_code code = small_code();
    code.frame_rows = rows;
    code.frame_row_count = count;
    return jitprof_jit_publish(&dump.jit, &code, nullptr) == EINVAL;
  };
  CHECK((refuses_rows(falling, 2) && refuses_rows(late, 1) && refuses_rows(beyond, 2)));
  CHECK((refuses_rows(baseless, 1) && refuses_rows(shallow, 1)));
  CHECK_FALSE(refuses_rows(falling, 1));
  jitprof_jit_code code = small_code();
  code.name = nullptr;
  CHECK(jitprof_jit_publish(&dump.jit, &code, nullptr) == EINVAL);
  code = small_code();
  code.size = 0;
  CHECK(jitprof_jit_publish(&dump.jit, &code, nullptr) == EINVAL);
  code = small_code();
  const jitprof_line lines[] = {{2, 1, 0, nullptr}, {1, 1, 0, nullptr}};
  code.lines = lines;
  code.line_count = 2;
  CHECK(jitprof_jit_publish(&dump.jit, &code, nullptr) == EINVAL);
  CHECK(dump.read().records.size() == 2);
}

}  // namespace jitprof::tests
