// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_record.h"

#include <bit>

#include "tests/catch.h"
#include "tests/profiler/perf_data_builder.h"
#include "tests/profiler/read_recording.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// "sample_id" of plain_attr(): pid, tid, time.
std::string trailer(uint64_t time_ns) { return ByteString().u32(7).u32(8).u64(time_ns).text(); }

std::string decoded(const std::string& record, const perf_event_attr& attr = plain_attr()) {
  KernelRecordDecoder decoder;
  Event event;
  switch (decoder.decode(bytes_of(record), RecordLayout::of(attr), event)) {
    case KernelRecordDecoder::Outcome::kEvent:
      return describe(event) + (decoder.was_32_bit() ? " (32 bit)" : "");
    case KernelRecordDecoder::Outcome::kIgnored:
      return "ignored";
    case KernelRecordDecoder::Outcome::kUnknown:
      return "unknown";
    case KernelRecordDecoder::Outcome::kMalformed:
      return "malformed";
    case KernelRecordDecoder::Outcome::kAuxTrace:
      return "aux trace";
  }
  return "";
}

// Every cut of a record is malformed or still decodes, because its last bytes say nothing; none is read
// beyond.
void check_cuts(const std::string& record, const perf_event_attr& attr = plain_attr()) {
  for (size_t size = 0; size < record.size(); ++size) {
    // Bytes of its own, so that a sanitizer sees a read behind them.
    std::string cut(record.begin(), record.begin() + static_cast<ptrdiff_t>(size));
    cut.shrink_to_fit();
    INFO("cut to " << size);
    CHECK(decoded(cut, attr) != "");
  }
}

}  // namespace

TEST_CASE("records of tasks") {
  std::string comm = plain_comm(50, "worker");
  CHECK(decoded(comm) == "comm 50 7/8 worker");
  std::string exec = perf_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
                                 ByteString().u32(7).u32(8).raw(padded_name("ls")).raw(trailer(51)).text());
  CHECK(decoded(exec) == "comm 51 7/8 ls exec");
  std::string task = ByteString().u32(9).u32(7).u32(10).u32(8).u64(61).raw(trailer(60)).text();
  CHECK(decoded(perf_record(PERF_RECORD_FORK, 0, task)) == "fork 60 9/10 of 7/8");
  CHECK(decoded(perf_record(PERF_RECORD_EXIT, 0, task)) == "exit 60 9/10");
  check_cuts(comm);
  check_cuts(perf_record(PERF_RECORD_FORK, 0, task));
}

TEST_CASE("a FORK that perf made up for a running process is a snapshot") {
  std::string at_zero = ByteString().u32(9).u32(7).u32(9).u32(7).u64(0).raw(trailer(0)).text();
  CHECK(decoded(perf_record(PERF_RECORD_FORK, 0, at_zero)) == "fork 0 9/9 of 7/7 snapshot");
  std::string marked = ByteString().u32(9).u32(7).u32(9).u32(7).u64(70).raw(trailer(70)).text();
  CHECK(decoded(perf_record(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, marked)) ==
        "fork 70 9/9 of 7/7 snapshot");
}

TEST_CASE("without sample_id_all the time of a FORK is its own") {
  perf_event_attr attr = plain_attr();
  attr.sample_id_all = 0;
  std::string task = ByteString().u32(9).u32(7).u32(10).u32(8).u64(61).text();
  CHECK(decoded(perf_record(PERF_RECORD_FORK, 0, task), attr) == "fork 61 9/10 of 7/8");
}

TEST_CASE("records of mappings") {
  std::string range = ByteString().u32(7).u32(8).u64(0x1000).u64(0x2000).u64(0x3000).text();
  std::string name = padded_name("/bin/x");
  std::string map = perf_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, range + name + trailer(5));
  CHECK(decoded(map) == "map 5 7 1000+2000@3000 0:0 0 x /bin/x ");
  CHECK(decoded(perf_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
                            range + name + trailer(5))) == "map 5 7 1000+2000@3000 0:0 0 /bin/x ");
  std::string kernel = ByteString().u32(UINT32_MAX).u32(0).u64(0xffffffff81000000).u64(16).u64(0).text();
  CHECK(decoded(perf_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
                            kernel + padded_name("[kernel.kallsyms]_text") + trailer(0))) ==
        "map 0 4294967295 ffffffff81000000+10@0 0:0 0 x kernel [kernel.kallsyms]_text ");
  CHECK(decoded(perf_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_GUEST_KERNEL, kernel + name)) == "ignored");

  std::string file = ByteString().u32(8).u32(1).u64(99).u64(3).text();
  std::string executable = ByteString().u32(5).u32(2).text();
  std::string map2 =
      perf_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, range + file + executable + name + trailer(5));
  CHECK(decoded(map2) == "map 5 7 1000+2000@3000 8:1 99 x /bin/x ");
  std::string readable = ByteString().u32(1).u32(2).text();
  CHECK(decoded(perf_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
                            range + file + readable + name + trailer(5))) ==
        "map 5 7 1000+2000@3000 8:1 99 /bin/x ");
  std::string build_id = ByteString().put<uint8_t>(4).put<uint8_t>(0).u16(0).raw("\x12\x34\x56\x78").text();
  build_id.resize(24);
  std::string with_id = perf_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
                                    range + build_id + executable + name + trailer(5));
  CHECK(decoded(with_id) == "map 5 7 1000+2000@3000 0:0 0 x /bin/x 12345678");
  check_cuts(map);
  check_cuts(map2);
  check_cuts(with_id);
}

TEST_CASE("records of losses, and those that say nothing here") {
  CHECK(decoded(perf_record(PERF_RECORD_LOST, 0, ByteString().u64(1).u64(33).raw(trailer(4)).text())) ==
        "lost 4 33");
  CHECK(decoded(perf_record(PERF_RECORD_LOST_SAMPLES, 0, ByteString().u64(34).raw(trailer(4)).text())) ==
        "lost 4 34");
  CHECK(decoded(perf_record(PERF_RECORD_THROTTLE, 0, "")) == "ignored");
  CHECK(decoded(perf_record(PERF_RECORD_KSYMBOL, 0, "")) == "ignored");
  CHECK(decoded(perf_record(PERF_RECORD_AUX, 0, "")) == "aux trace");
  CHECK(decoded(perf_record(63, 0, "")) == "unknown");
}

TEST_CASE("a callchain is told apart by its markers") {
  perf_event_attr attr = plain_attr();
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  auto sample = [](uint16_t misc, std::vector<uint64_t> chain) {
    ByteString body;
    body.u64(0xabc).u32(7).u32(8).u64(100).u64(1000).u64(chain.size());
    for (uint64_t entry : chain) body.u64(entry);
    return perf_record(PERF_RECORD_SAMPLE, misc, body.text());
  };
  auto kernel = static_cast<uint64_t>(PERF_CONTEXT_KERNEL), user = static_cast<uint64_t>(PERF_CONTEXT_USER),
       guest = static_cast<uint64_t>(PERF_CONTEXT_GUEST);
  std::string start = "sample 100 7/8 cpu0 event0 period 1000 ip abc";
  std::string both = sample(PERF_RECORD_MISC_KERNEL, {kernel, 0xabc, 0xdef, user, 0x11, 0x22});
  CHECK(decoded(both, attr) == start + " kernel k:abc k:def u:11 u:22");
  CHECK(decoded(sample(PERF_RECORD_MISC_USER, {user, 0x11}), attr) == start + " u:11");
  CHECK(decoded(sample(PERF_RECORD_MISC_USER, {0x11, guest, 0x5, user, 0x22}), attr) == start + " u:11 u:22");
  CHECK(decoded(sample(PERF_RECORD_MISC_USER, {}), attr) == start);
  check_cuts(both, attr);
  std::string endless = ByteString().u64(0).u32(0).u32(0).u64(0).u64(0).u64(UINT64_MAX / 8 + 1).text();
  CHECK(decoded(perf_record(PERF_RECORD_SAMPLE, 0, endless), attr) == "malformed");
}

TEST_CASE("registers and a copied stack") {
  perf_event_attr attr = plain_attr();
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = 0xff0fff;
  attr.sample_stack_user = 64;
  auto sample = [&](uint64_t abi, uint64_t size, uint64_t copied) {
    ByteString body;
    body.u64(0xabc).u32(7).u32(8).u64(100).u64(1000);
    body.u64(2).u64(static_cast<uint64_t>(PERF_CONTEXT_USER)).u64(0x11).u64(abi);
    if (abi != 0) {
      for (int i = 0; i < std::popcount(attr.sample_regs_user); ++i) body.u64(0x100 + i);
    }
    body.u64(size);
    if (size > 0) body.raw(std::string(size, 's')).u64(copied);
    return perf_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body.text());
  };
  std::string start = "sample 100 7/8 cpu0 event0 period 1000 ip abc";
  std::string registers =
      " rax=100 rdx=103 rcx=102 rbx=101 rsi=104 rdi=105 rbp=106 rsp=107 r8=10c r9=10d r10=10e r11=10f "
      "r12=110 r13=111"
      " r14=112 r15=113 rip=108";
  std::string whole = sample(PERF_SAMPLE_REGS_ABI_64, 64, 40);
  CHECK(decoded(whole, attr) == start + registers + " stack 107+40/64");
  check_cuts(whole, attr);
  SECTION("more copied than there is room for is cut to the room") {
    CHECK(decoded(sample(PERF_SAMPLE_REGS_ABI_64, 64, 1000), attr) == start + registers + " stack 107+64/64");
  }
  SECTION("nothing copied: the chain is all there is") {
    CHECK(decoded(sample(PERF_SAMPLE_REGS_ABI_64, 64, 0), attr) == start + " u:11" + registers);
    CHECK(decoded(sample(PERF_SAMPLE_REGS_ABI_64, 0, 0), attr) == start + " u:11" + registers);
  }
  SECTION("a kernel thread has no user registers") {
    CHECK(decoded(sample(PERF_SAMPLE_REGS_ABI_NONE, 0, 0), attr) == start + " u:11");
  }
  SECTION("32-bit code") {
    CHECK(decoded(sample(PERF_SAMPLE_REGS_ABI_32, 64, 40), attr) == start + " u:11 (32 bit)");
  }
}

TEST_CASE("fields that are not used are skipped by their size") {
  perf_event_attr attr = plain_attr();
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                     PERF_SAMPLE_READ | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
                     PERF_SAMPLE_DATA_SRC;
  attr.sample_regs_user = 1 << 7;  // rsp
  attr.freq = 0;
  attr.sample_period = 500;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
  ByteString start;
  start.u64(77).u64(0xabc).u32(7).u32(8).u64(100).u64(1).u64(77).u64(2).u32(3).u32(0);
  ByteString end;
  end.u32(4)
      .raw("rawd")
      .u64(1)
      .u64(9)
      .raw(std::string(24, 'b'))
      .u64(PERF_SAMPLE_REGS_ABI_64)
      .u64(0x7000)
      .u64(0);
  std::string expected = "sample 100 7/8 cpu3 event0 period 500 ip abc rsp=7000";
  SECTION("one counter") {
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID | PERF_FORMAT_LOST;
    std::string counters = ByteString().u64(1).u64(2).u64(3).u64(4).text();
    std::string record =
        perf_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, start.text() + counters + end.text());
    CHECK(decoded(record, attr) == expected);
    CHECK(RecordLayout::of(attr).id_of(bytes_of(record)) == 77);
    check_cuts(record, attr);
  }
  SECTION("counters of a group") {
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
    std::string counters = ByteString().u64(2).u64(1).u64(1).u64(10).u64(77).u64(11).u64(78).text();
    CHECK(
        decoded(perf_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, start.text() + counters + end.text()),
                attr) == expected);
    std::string endless = ByteString().u64(UINT64_MAX / 2).u64(1).u64(1).text();
    CHECK(decoded(perf_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, start.text() + endless + end.text()),
                  attr) == "malformed");
  }
}

TEST_CASE("the id of a record stands where the layout says") {
  perf_event_attr attr = plain_attr();
  attr.sample_type |= PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
  RecordLayout layout = RecordLayout::of(attr);
  std::string sample =
      perf_record(PERF_RECORD_SAMPLE, 0, ByteString().u64(1).u64(2).u64(3).u64(42).u64(5).u64(6).text());
  CHECK(layout.id_of(bytes_of(sample)) == 42);
  std::string comm = perf_record(
      PERF_RECORD_COMM, 0, ByteString().u64(1).raw(padded_name("x")).u64(2).u64(3).u64(43).u64(0).text());
  CHECK(layout.id_of(bytes_of(comm)) == 43);
  CHECK(layout.id_of(bytes_of(perf_record(PERF_RECORD_COMM, 0, ""))) == 0);
}
