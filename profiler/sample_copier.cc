// SPDX-License-Identifier: Apache-2.0
#include "profiler/sample_copier.h"

#include <unistd.h>

#include <bit>
#include <cstring>

namespace jitprof {
namespace {

// Pcs of one side of a callchain, leaf first, as they stand in the ring.
struct Chain {
  Bytes pcs;
  uint32_t count() const { return static_cast<uint32_t>(pcs.size() / 8); }
};

// Values from here on are PERF_CONTEXT_* markers, not pcs.
constexpr uint64_t kContexts = static_cast<uint64_t>(PERF_CONTEXT_MAX);

// Cuts a callchain at its markers: what follows PERF_CONTEXT_KERNEL, and what follows PERF_CONTEXT_USER.
void split_chain(Bytes chain, Chain& kernel, Chain& user) {
  Chain* side = nullptr;
  for (size_t at = 0; at + 8 <= chain.size(); at += 8) {
    uint64_t pc = 0;
    std::memcpy(&pc, chain.data() + at, 8);
    if (pc < kContexts) {
      if (side != nullptr) side->pcs = {side->pcs.data(), side->pcs.size() + 8};
      continue;
    }
    side = nullptr;
    if (pc == static_cast<uint64_t>(PERF_CONTEXT_KERNEL)) side = &kernel;
    if (pc == static_cast<uint64_t>(PERF_CONTEXT_USER)) side = &user;
    // A side comes once; a second marker of its kind would tear its span.
    if (side != nullptr) side->pcs = {chain.data() + at + 8, 0};
  }
}

std::byte* put(std::byte* place, Bytes bytes) {
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  return place + bytes.size();
}

template <class Struct>
std::byte* put_struct(std::byte* place, const Struct& value) {
  return put(place, {reinterpret_cast<const std::byte*>(&value), sizeof value});
}

}  // namespace

// One sample's parts, viewing the ring.
struct SampleCopier::Fields {
  format::SampleRecord record{};
  Bytes registers;
  Chain kernel;
  Chain user;
  uint64_t stack_start = 0;
  uint64_t stack_asked = 0;
  Bytes stack;
};

SampleCopier::SampleCopier(const EventSet& events, const SamplingPlan& plan, RecordingWriter& writer)
    : events_(events),
      writer_(writer),
      is_stack_(plan.call_graph == format::CallGraph::kStack),
      system_wide_(plan.system_wide),
      own_pid_(static_cast<uint32_t>(getpid())) {}

void SampleCopier::copy(Bytes record) {
  Fields fields;
  // A record that ends early would be a kernel bug; there is nothing in it to count as a sample.
  if (!read(record, fields)) return;
  // Idle and ourselves, whom nobody asked about.
  if (system_wide_ && (fields.record.pid == 0 || fields.record.pid == own_pid_)) return;
  write(fields);
  ++samples_;
  if ((fields.record.flags & format::SampleRecord::kInKernel) != 0 || fields.kernel.count() != 0) {
    saw_kernel_ = true;
  }
}

bool SampleCopier::read(Bytes bytes, Fields& fields) const {
  ByteReader reader(bytes);
  auto header = reader.read<perf_event_header>();
  format::SampleRecord& record = fields.record;
  record.event = events_.event_of(reader.u64());
  record.ip = reader.u64();
  record.pid = reader.u32();
  record.tid = reader.u32();
  record.time_ns = reader.u64();
  record.cpu = reader.u32();
  reader.skip(4);
  record.period = reader.u64();
  if ((header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL) {
    record.flags |= format::SampleRecord::kInKernel;
  }
  if ((events_.attrs()[record.event].sample_type & PERF_SAMPLE_CALLCHAIN) != 0) {
    uint64_t count = reader.u64();
    split_chain(reader.take(count > reader.remaining() / 8 ? UINT64_MAX : count * 8), fields.kernel,
                fields.user);
  }
  if (is_stack_ && !read_stack(reader, fields)) return false;
  return reader.ok();
}

bool SampleCopier::read_stack(ByteReader& reader, Fields& fields) const {
  uint64_t abi = reader.u64();
  if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
    fields.registers = reader.take(8 * std::popcount(kUserRegisterMask));
    if (!reader.ok()) return false;
    // Bit 7 is rsp, the eighth value.
    std::memcpy(&fields.stack_start, fields.registers.data() + 8 * 7, 8);
  }
  fields.stack_asked = reader.u64();
  Bytes copied = reader.take(fields.stack_asked);
  if (fields.stack_asked != 0) {
    uint64_t size = reader.u64();
    if (!reader.ok() || size > copied.size()) return false;
    fields.stack = copied.first(size);
  }
  if (abi == PERF_SAMPLE_REGS_ABI_32) {
    fields.record.flags |= format::SampleRecord::kUser32Bit;
    fields.registers = {};
    fields.stack = {};
    fields.stack_asked = 0;
  }
  return reader.ok();
}

void SampleCopier::write(const Fields& fields) {
  format::SampleRecord record = fields.record;
  record.register_mask = fields.registers.empty() ? 0 : kUserRegisterMask;
  record.kernel_chain_count = fields.kernel.count();
  record.user_chain_count = fields.user.count();
  record.stack_count = fields.stack_asked != 0 ? 1 : 0;
  uint64_t size = sizeof record + fields.registers.size() + fields.kernel.pcs.size() +
                  fields.user.pcs.size() + record.stack_count * sizeof(format::StackHead) +
                  fields.stack.size();
  std::byte* place = writer_.append(format::RecordType::kSample, size);
  std::memcpy(&record.head, place, sizeof record.head);
  place = put_struct(place, record);
  place = put(place, fields.registers);
  place = put(place, fields.kernel.pcs);
  place = put(place, fields.user.pcs);
  if (record.stack_count != 0) {
    place = put_struct(place, format::StackHead{fields.stack_start, fields.stack.size(), fields.stack_asked});
    put(place, fields.stack);
  }
}

}  // namespace jitprof
