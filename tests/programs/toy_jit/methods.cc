// SPDX-License-Identifier: Apache-2.0
#include "methods.h"

#include <string>

namespace toy {
namespace {

void enter(Method& method, bool with_frame_pointer) {
  if (with_frame_pointer) {
    method.push_rbp();
    method.set_frame_pointer();
    method.change_rsp(-32);
  } else {
    method.push_rbx();
    method.push_rbp();
    method.change_rsp(-24);
    method.spoil_rbp();
  }
}

void leave(Method& method, bool with_frame_pointer) {
  if (with_frame_pointer) {
    method.leave();
  } else {
    method.change_rsp(24);
    method.pop_rbp();
    method.pop_rbx();
  }
  method.ret();
}

Method make_caller(const char* name, uint32_t line, bool with_frame_pointer, const void* const* callee_slot) {
  Method method(name, kFile, line);
  enter(method, with_frame_pointer);
  method.line(line + 1);
  method.no_operation();
  // The call is the body's last instruction: its return address is the caller's already.
  method.begin_inlined("forward", "library.src", line + 2, 50);
  method.no_operation();
  method.line(51);
  method.call_through(callee_slot);
  method.end_inlined();
  method.line(line + 3);
  leave(method, with_frame_pointer);
  return method;
}

// A body in a body, which starts where the outer one does, and one that comes later.
void add_nested(Method& leaf, uint32_t rounds) {
  leaf.begin_inlined("small", "library.src", 302, 10);
  leaf.begin_inlined("tiny", "library.src", 10, 20);
  leaf.spin(rounds);
  leaf.end_inlined();
  leaf.line(11);
  leaf.spin(rounds);
  leaf.begin_inlined("tiny", "library.src", 12, 20);
  leaf.line(21);
  leaf.spin(rounds);
  leaf.end_inlined();
  leaf.end_inlined();
}

// Two calls of one line, without an instruction between them; then a body of nothing.
void add_neighbours(Method& leaf, uint32_t rounds) {
  for (int i = 0; i < 2; ++i) {
    leaf.begin_inlined("small", "library.src", 303, 10);
    leaf.spin(rounds);
    leaf.line(11 + i);
    leaf.spin(rounds);
    leaf.end_inlined();
  }
  leaf.begin_inlined("nothing", "library.src", 304, 30);
  leaf.end_inlined();
  leaf.line(305);
  leaf.spin(rounds);
}

Method make_leaf(bool with_frame_pointer, uint32_t rounds, const void* callback) {
  Method leaf("leaf", kFile, 300);
  enter(leaf, with_frame_pointer);
  leaf.line(301);
  leaf.spin(rounds);
  add_nested(leaf, rounds);
  add_neighbours(leaf, rounds);
  leaf.line(306);
  // What a compiler without a frame pointer does around a call with arguments on the stack.
  leaf.change_rsp(-16);
  leaf.begin_inlined("small", "library.src", 307, 13);
  leaf.spin(rounds);
  leaf.call(callback);
  leaf.end_inlined();
  leaf.change_rsp(16);
  // The last body reaches to the end of the code.
  leaf.begin_inlined("finish", "library.src", 308, 40);
  leaf.spin(rounds);
  leave(leaf, with_frame_pointer);
  leaf.end_inlined();
  return leaf;
}

}  // namespace

Chain make_chain(bool only_frame_pointers, uint32_t rounds, const void* callback,
                 const void* const* middle_slot, const void* const* leaf_slot) {
  return {make_caller("outer", 100, true, middle_slot),
          make_caller("middle", 200, only_frame_pointers, leaf_slot),
          make_leaf(only_frame_pointers, rounds, callback)};
}

Method make_version(unsigned version, bool only_frame_pointers, uint32_t rounds, const void* marker) {
  bool with_frame_pointer = only_frame_pointers || version % 2 == 0;
  Method method("version_" + std::to_string(version), kFile, 1000 + version);
  enter(method, with_frame_pointer);
  for (unsigned i = 0; i < version * 5; ++i) method.no_operation();
  method.spin(rounds);
  method.begin_inlined("inlined_" + std::to_string(version), "library.src", 1100 + version, 60);
  method.spin(rounds);
  method.call(marker);
  method.end_inlined();
  method.spin(rounds);
  leave(method, with_frame_pointer);
  return method;
}

}  // namespace toy
