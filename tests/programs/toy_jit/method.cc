// SPDX-License-Identifier: Apache-2.0
#include "method.h"

#include <algorithm>
#include <utility>

namespace toy {

Method::Method(std::string name, std::string file, uint32_t line)
    : name_(std::move(name)), file_(std::move(file)) {
  open_.push_back({name_, file_, line});
  line_events_.push_back({LineEvent::Kind::kLine, 0, line, 0, {}, {}});
}

void Method::line(uint32_t line) {
  open_.back().line = line;
  line_events_.push_back({LineEvent::Kind::kLine, static_cast<uint32_t>(bytes_.size()), line, 0, {}, {}});
}

void Method::begin_inlined(std::string callee, std::string file, uint32_t call_line, uint32_t first_line) {
  line_events_.push_back(
      {LineEvent::Kind::kBegin, static_cast<uint32_t>(bytes_.size()), first_line, call_line, callee, file});
  open_.back().line = call_line;
  open_.push_back({std::move(callee), std::move(file), first_line});
}

void Method::end_inlined() {
  open_.pop_back();
  line_events_.push_back({LineEvent::Kind::kEnd, static_cast<uint32_t>(bytes_.size()), 0, 0, {}, {}});
}

void Method::instruction(std::initializer_list<uint8_t> bytes) {
  Instruction made{static_cast<uint32_t>(bytes_.size()), open_, frame_};
  std::reverse(made.chain.begin(), made.chain.end());
  instructions_.push_back(std::move(made));
  bytes_.insert(bytes_.end(), bytes);
}

void Method::append64(uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void Method::push(uint8_t opcode) {
  instruction({opcode});
  depth_ += 8;
  if (!frame_.by_rbp) frame_.cfa_offset = depth_;
}

void Method::pop(uint8_t opcode) {
  instruction({opcode});
  depth_ -= 8;
  if (!frame_.by_rbp) frame_.cfa_offset = depth_;
}

void Method::push_rbx() { push(0x53); }
void Method::pop_rbx() { pop(0x5b); }

void Method::push_rbp() {
  push(0x55);
  frame_.rbp_offset = -depth_;
}

void Method::pop_rbp() {
  pop(0x5d);
  frame_ = {false, depth_, 0};
}

void Method::set_frame_pointer() {
  instruction({0x48, 0x89, 0xe5});
  frame_.by_rbp = true;
  frame_.cfa_offset = depth_;
}

void Method::leave() {
  instruction({0xc9});
  depth_ = 8;
  frame_ = {false, depth_, 0};
}

void Method::change_rsp(int8_t bytes) {
  if (bytes < 0) {
    instruction({0x48, 0x83, 0xec, static_cast<uint8_t>(-bytes)});
  } else {
    instruction({0x48, 0x83, 0xc4, static_cast<uint8_t>(bytes)});
  }
  depth_ -= bytes;
  if (!frame_.by_rbp) frame_.cfa_offset = depth_;
}

void Method::spoil_rbp() { instruction({0xbd, 0x55, 0x55, 0x55, 0x55}); }

void Method::call(const void* function) {
  instruction({0x48, 0xb8});
  append64(reinterpret_cast<uint64_t>(function));
  instruction({0xff, 0xd0});
}

void Method::call_through(const void* const* slot) {
  instruction({0x48, 0xb8});
  append64(reinterpret_cast<uint64_t>(slot));
  instruction({0xff, 0x10});
}

void Method::spin(uint32_t rounds) {
  instruction({0xb9, static_cast<uint8_t>(rounds), static_cast<uint8_t>(rounds >> 8),
               static_cast<uint8_t>(rounds >> 16), static_cast<uint8_t>(rounds >> 24)});
  instruction({0xff, 0xc9});
  instruction({0x75, 0xfc});
}

void Method::no_operation() { instruction({0x90}); }
void Method::ret() { instruction({0xc3}); }

}  // namespace toy
