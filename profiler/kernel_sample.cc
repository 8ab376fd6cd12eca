// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>

#include "profiler/kernel_record.h"
#include "profiler/perf_registers.h"

namespace jitprof {
namespace {

// Chain entries from here up are PERF_CONTEXT_* markers, not pcs.
constexpr uint64_t kFirstContext = static_cast<uint64_t>(PERF_CONTEXT_MAX);

// Kernels before 4.x may leave the mode of a sample unknown; user space never reaches the upper half.
bool hit_kernel(uint16_t misc, RuntimeAddr ip) {
  switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_USER:
    case PERF_RECORD_MISC_GUEST_USER:
      return false;
    case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
      return static_cast<int64_t>(ip.value) < 0;
    default:
      return true;
  }
}

// PERF_SAMPLE_READ: counter values, of one event or of its group, that nothing here uses.
void skip_counters(ByteReader& reader, uint64_t format) {
  uint64_t per_value = 1 + std::popcount(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
  uint64_t times = std::popcount(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
  uint64_t values = 1;
  if (format & PERF_FORMAT_GROUP) values = reader.u64();
  reader.skip(8 * times);
  // A count that would overflow the product is beyond any record's size as well.
  reader.skip(values > UINT32_MAX ? UINT64_MAX : 8 * per_value * values);
}

void skip_branches(ByteReader& reader, uint64_t branch_sample_type) {
  constexpr uint64_t kCounters = uint64_t{1} << 19;  // PERF_SAMPLE_BRANCH_COUNTERS, kernel 6.8
  uint64_t count = reader.u64();
  if (branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) reader.skip(8);
  uint64_t entry_size = branch_sample_type & kCounters ? 32 : 24;
  reader.skip(count > UINT32_MAX ? UINT64_MAX : entry_size * count);
}

// The fields of fixed size, in the kernel's order, up to the period.
void read_fixed_fields(ByteReader& reader, uint64_t sample_type, Sample& sample) {
  if (sample_type & PERF_SAMPLE_IDENTIFIER) reader.skip(8);
  if (sample_type & PERF_SAMPLE_IP) sample.ip.value = reader.u64();
  if (sample_type & PERF_SAMPLE_TID) {
    sample.pid = reader.u32();
    sample.tid = reader.u32();
  }
  if (sample_type & PERF_SAMPLE_TIME) sample.time_ns = reader.u64();
  if (sample_type & PERF_SAMPLE_ADDR) reader.skip(8);
  if (sample_type & PERF_SAMPLE_ID) reader.skip(8);
  if (sample_type & PERF_SAMPLE_STREAM_ID) reader.skip(8);
  if (sample_type & PERF_SAMPLE_CPU) {
    sample.cpu = reader.u32();
    reader.skip(4);
  }
  if (sample_type & PERF_SAMPLE_PERIOD) sample.period = reader.u64();
}

}  // namespace

KernelRecordDecoder::Outcome KernelRecordDecoder::decode_sample(uint16_t misc, Bytes body,
                                                                const RecordLayout& layout, Event& event) {
  Sample& sample = event.emplace<Sample>();
  ByteReader reader(body);
  sample.period = layout.fixed_period;
  read_fixed_fields(reader, layout.sample_type, sample);
  sample.in_kernel = hit_kernel(misc, sample.ip);
  if (layout.sample_type & PERF_SAMPLE_READ) skip_counters(reader, layout.read_format);
  kernel_chain_.clear();
  user_chain_.clear();
  if (layout.sample_type & PERF_SAMPLE_CALLCHAIN && !read_chain(reader, sample.in_kernel)) {
    return Outcome::kMalformed;
  }
  if (layout.sample_type & PERF_SAMPLE_RAW) reader.skip(reader.u32());
  if (layout.sample_type & PERF_SAMPLE_BRANCH_STACK) skip_branches(reader, layout.branch_sample_type);
  if (!read_registers_and_stack(reader, layout, sample)) return Outcome::kMalformed;
  // With a stack to unwind the chain of user space is at most the pc, which the registers have too.
  if (sample.stack_count > 0) user_chain_.clear();
  sample.kernel_chain = kernel_chain_;
  sample.user_chain = user_chain_;
  return Outcome::kEvent;
}

bool KernelRecordDecoder::read_chain(ByteReader& reader, bool starts_in_kernel) {
  uint64_t count = reader.u64();
  if (count > reader.remaining() / 8) return false;
  std::vector<RuntimeAddr>* chain = starts_in_kernel ? &kernel_chain_ : &user_chain_;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t entry = reader.u64();
    if (entry < kFirstContext) {
      if (chain != nullptr) chain->push_back({entry});
    } else if (entry == static_cast<uint64_t>(PERF_CONTEXT_KERNEL)) {
      chain = &kernel_chain_;
    } else if (entry == static_cast<uint64_t>(PERF_CONTEXT_USER)) {
      chain = &user_chain_;
    } else {
      chain = nullptr;  // of a hypervisor or a guest: neither of our two spaces
    }
  }
  return reader.ok();
}

bool KernelRecordDecoder::read_registers_and_stack(ByteReader& reader, const RecordLayout& layout,
                                                   Sample& sample) {
  if (layout.sample_type & PERF_SAMPLE_REGS_USER) {
    uint64_t abi = reader.u64();
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
      sample.registers = read_perf_registers(layout.user_registers, reader);
    was_32_bit_ = abi == PERF_SAMPLE_REGS_ABI_32;
    if (was_32_bit_) sample.registers = {};
  }
  if (layout.sample_type & PERF_SAMPLE_STACK_USER) {
    uint64_t size = reader.u64();
    Bytes dump = reader.take(size);
    uint64_t copied = size == 0 ? 0 : reader.u64();
    if (!reader.ok()) return false;
    std::optional<uint64_t> stack_pointer = sample.registers.find(Register::rsp);
    if (copied > 0 && stack_pointer) {
      sample.stack[0] = {{*stack_pointer}, dump.first(std::min<uint64_t>(copied, dump.size())), size};
      sample.stack_count = 1;
    }
  }
  return reader.ok();
}

}  // namespace jitprof
