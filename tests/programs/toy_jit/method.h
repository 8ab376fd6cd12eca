// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace toy {

// One method of what an instruction belongs to, with the line where it stands or calls.
struct Level {
  std::string name;
  std::string file;
  uint32_t line = 0;
};

// How the frame is left at an instruction: jitprof_frame_row without its offset.
struct FrameState {
  bool by_rbp = false;
  int32_t cfa_offset = 8;
  int32_t rbp_offset = 0;
  bool operator==(const FrameState&) const = default;
};

// The truth of one instruction, taken while it was made.
struct Instruction {
  uint32_t offset = 0;
  std::vector<Level> chain;  // innermost first, the method itself last
  FrameState frame;
};

// What a compiler would tell of its line table, in the order of the code.
struct LineEvent {
  enum class Kind : uint8_t { kLine, kBegin, kEnd };
  Kind kind = Kind::kLine;
  uint32_t offset = 0;
  uint32_t line = 0;       // kBegin: the first of the callee
  uint32_t call_line = 0;  // kBegin
  std::string callee;      // kBegin
  std::string file;        // kBegin
};

// Machine code of one method, with the truth of each of its instructions. Position-independent: it calls by
// absolute addresses.
class Method {
 public:
  Method(std::string name, std::string file, uint32_t line);

  const std::string& name() const { return name_; }
  const std::string& file() const { return file_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  const std::vector<LineEvent>& line_events() const { return line_events_; }

  // Source positions of the instructions that follow.
  void line(uint32_t line);
  void begin_inlined(std::string callee, std::string file, uint32_t call_line, uint32_t first_line);
  void end_inlined();

  void push_rbx();
  void push_rbp();
  void pop_rbx();
  void pop_rbp();
  void set_frame_pointer();  // mov rbp, rsp
  void leave();
  void change_rsp(int8_t bytes);  // by `add`, or `sub` for less than none
  void spoil_rbp();               // uses it for a number
  void call(const void* function);
  void call_through(const void* const* slot);  // call [slot]
  void spin(uint32_t rounds);
  void no_operation();
  void ret();

 private:
  void instruction(std::initializer_list<uint8_t> bytes);
  void append64(uint64_t value);
  void push(uint8_t opcode);
  void pop(uint8_t opcode);

  std::string name_;
  std::string file_;
  std::vector<uint8_t> bytes_;
  std::vector<Instruction> instructions_;
  std::vector<LineEvent> line_events_;
  std::vector<Level> open_;  // outermost first
  FrameState frame_;         // before the next instruction
  int32_t depth_ = 8;        // CFA - rsp
};

}  // namespace toy
