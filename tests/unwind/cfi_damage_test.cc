// SPDX-License-Identifier: Apache-2.0
// Damaged CFI of real files: no crash, no hang, bounded memory.
#include <functional>

#include "tests/catch.h"
#include "unwind/cfi/step.h"
#include "unwind/cfi/unwind_table.h"

namespace jitprof {
namespace {

// What of a real file the rounds damage.
struct Original {
  explicit Original(const std::string& path) {
    auto elf = ElfFile::open(path);
    REQUIRE(elf.ok());
    const ElfSection* frames = elf.value().find_section(".eh_frame");
    const ElfSection* text = elf.value().find_section(".text");
    REQUIRE(frames != nullptr);
    REQUIRE(text != nullptr);
    Bytes raw = elf.value().raw(*frames);
    bytes.assign(raw.begin(), raw.end());
    start = frames->start;
    code = text->start;
    code_size = text->size;
  }
  std::vector<std::byte> bytes;
  ElfAddr start, code;
  uint64_t code_size = 0;
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t below(uint64_t limit) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % limit;
  }

 private:
  uint64_t state_;
};

// Takes the step that each rule describes, on a stack of three words.
void follow_rules(const UnwindTable& table, const Original& original) {
  std::array<uint64_t, 3> words = {0x1122334455667788, 0x1008, 0x3000};
  Sample sample;
  sample.stack[0] = {.start = {0x1000}, .bytes = std::as_bytes(std::span(words)), .asked = 64};
  sample.stack_count = 1;
  StackMemory memory(sample);
  Registers registers, caller;
  for (Register number : {Register::rsp, Register::rbp}) registers.set(number, 0x1000);
  registers.set(Register::rip, 0x1234);
  for (uint64_t at = 0; at < original.code_size; at += 16) {
    const UnwindRule* rule = table.find(original.code.plus(at));
    if (rule == nullptr || rule->is_root()) continue;
    Recovered cfa = cfa_of(*rule, registers, memory);
    if (cfa.ok()) (void)recover_caller(*rule, cfa.value(), registers, memory, false, caller);
  }
}

void check_rounds(const std::string& path, unsigned rounds, bool is_debug_frame,
                  const std::function<void(std::vector<std::byte>&, Random&)>& damage) {
  Original original(path);
  for (unsigned round = 0; round < rounds; ++round) {
    Random random(round);
    std::vector<std::byte> bytes = original.bytes;
    damage(bytes, random);
    FrameSection section{.bytes = bytes, .start = original.start, .is_debug_frame = is_debug_frame};
    UnwindTable table = UnwindTable::compile(std::span(&section, 1));
    INFO(path << " round " << round);
    CHECK(table.row_count() <= bytes.size());
    // The page index of code spread over 4 GiB.
    constexpr size_t kPages = 256 << 10;
    CHECK(table.bytes() <= 16 * bytes.size() + 4096 + kPages);
    follow_rules(table, original);
  }
}

void scatter(std::vector<std::byte>& bytes, Random& random, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
}

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

}  // namespace

TEST_CASE("wrong bytes anywhere in .eh_frame") {
  check_rounds(kLoader, 1000, false,
               [](auto& bytes, Random& random) { scatter(bytes, random, uint64_t{1} << random.below(10)); });
  check_rounds("/lib/x86_64-linux-gnu/libc.so.6", 20, false,
               [](auto& bytes, Random& random) { scatter(bytes, random, 1000); });
}

TEST_CASE("a torn .eh_frame") {
  check_rounds(kLoader, 200, false,
               [](auto& bytes, Random& random) { bytes.resize(random.below(bytes.size())); });
}

TEST_CASE("pieces of .eh_frame in the wrong place") {
  check_rounds(kLoader, 200, false, [](auto& bytes, Random& random) {
    for (int i = 0; i < 8; ++i) {
      uint64_t size = random.below(256), from = random.below(bytes.size() - size),
               to = random.below(bytes.size() - size);
      std::copy_n(std::vector(bytes.begin() + from, bytes.begin() + from + size).begin(), size,
                  bytes.begin() + to);
    }
  });
}

TEST_CASE("bytes that are something else") {
  check_rounds(kLoader, 50, false,
               [](auto& bytes, Random& random) { scatter(bytes, random, 8 * bytes.size()); });
  check_rounds(kLoader, 200, true, [](auto& bytes, Random& random) { scatter(bytes, random, 100); });
}

}  // namespace jitprof
