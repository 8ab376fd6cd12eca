// SPDX-License-Identifier: Apache-2.0
// Plug-in sniffers: how a virtual machine tells jitprof to unwind frames that neither unwind tables (CFI) nor
// frame pointers describe. x86-64; C11 or C++; needs nothing but libc. SNIFFERS.md, beside this file, is the
// guide.
//
// A plug-in is a shared library that defines `jitprof_sniffers`, the list of the sniffers in it. It is given
// to a report as `--sniffer FILE.so`, and runs inside jitprof, long after the profiled process: what an
// answer may rest on is a sample's registers and recorded stack bytes, and the bytes of files. No other
// memory of the process is there.
//
// Threads: jitprof asks from several threads at once. Asking for a register other than rip, rsp and rbp may
// also make jitprof ask about earlier frames of the same stack, on the same thread, before that call returns.
// So a sniffer changes nothing but its own locals and the answer, and the same question has the same answer.
//
// Lifetimes: frames, answers, descriptions and functions passed to a sniffer are jitprof's and good until the
// sniffer returns. The list and what it points to must stay as they are as long as the library is loaded.
//
// Versions: structs only ever grow at their end. A struct that jitprof passes says in its struct_size how far
// it goes: a plug-in that uses a member of a later jitprof looks there first. sniffer_size says the same of
// the plug-in's own structs. JITPROF_SNIFFER_VERSION changes only when the meaning of something does; jitprof
// then says which versions it understands.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JITPROF_SNIFFER_VERSION 1u

// The registers by their DWARF numbers (System V psABI, figure 3.36); 16 is the return-address column.
enum jitprof_register {
  JITPROF_RAX = 0,
  JITPROF_RDX = 1,
  JITPROF_RCX = 2,
  JITPROF_RBX = 3,
  JITPROF_RSI = 4,
  JITPROF_RDI = 5,
  JITPROF_RBP = 6,
  JITPROF_RSP = 7,
  JITPROF_R8 = 8,
  JITPROF_R9 = 9,
  JITPROF_R10 = 10,
  JITPROF_R11 = 11,
  JITPROF_R12 = 12,
  JITPROF_R13 = 13,
  JITPROF_R14 = 14,
  JITPROF_R15 = 15,
  JITPROF_RIP = 16
};
enum { JITPROF_REGISTER_COUNT = 17 };

// What came of reading something. Where it is not JITPROF_OK, nothing was stored.
enum jitprof_result {
  JITPROF_OK = 0,
  JITPROF_UNAVAILABLE = 1,       // the register exists, but its value in this frame could not be recovered
  JITPROF_NO_SUCH_REGISTER = 2,  // x86-64 has none of that number or name
  JITPROF_BEHIND_CUT = 3,        // stack above what --stack-size let the recorder copy
  JITPROF_UNREADABLE = 4         // no recorded stack, or not all of it
};

enum jitprof_code_kind {
  JITPROF_CODE_FILE = 0,  // also of a file that has been deleted, or is a memfd
  JITPROF_CODE_VDSO = 1,
  JITPROF_CODE_ANONYMOUS = 2,  // what JIT compilers write into
  JITPROF_CODE_OTHER = 3,
  JITPROF_CODE_JIT = 4  // one function compiled at run time, of which its compiler told; `path` is its name
};

// The code object that a frame's pc lies in; for a caller, the one that its call lies in.
struct jitprof_code {
  uint32_t struct_size;
  uint32_t kind;            // of enum jitprof_code_kind, or one of a later jitprof
  const char* path;         // as the process saw it, without " (deleted)": "/usr/bin/vm", "[vdso]", "//anon"
  const uint8_t* build_id;  // NULL when there is none
  uint64_t build_id_size;
  uint64_t position;  // in a file: link-time, as in its symbol table; elsewhere: in the process. A caller's
                      // is one less than pc, and so inside its call
  uint64_t mapping_start;  // in the process
  uint64_t mapping_end;    // the first byte behind
};

struct jitprof_frame;

// What a sniffer may ask while it looks at a frame. Positions are those of the profiled process.
struct jitprof_calls {
  uint32_t struct_size;
  // By the number of enum jitprof_register. rip, rsp and rbp come at once, the first other one of a stack
  // costs a second walk. Of a frame that made a call, rip is the return address, and rsp what it was before
  // the call pushed that.
  enum jitprof_result (*read_register)(const struct jitprof_frame* frame, uint32_t number, uint64_t* value);
  // By its lower-case name: "r14".
  enum jitprof_result (*read_named_register)(const struct jitprof_frame* frame, const char* name,
                                             uint64_t* value);
  // `size` bytes of the recorded stack from `position` on: all of them or none.
  enum jitprof_result (*read_stack)(const struct jitprof_frame* frame, uint64_t position, void* to,
                                    uint64_t size);
  // Code bytes from `position` on: how many were stored, fewer than `size` where the mapping or its file
  // ends, 0 where jitprof does not know them (anonymous memory).
  uint64_t (*read_code)(const struct jitprof_frame* frame, uint64_t position, void* to, uint64_t size);
  // NULL: pc lies in no mapping.
  const struct jitprof_code* (*describe_code)(const struct jitprof_frame* frame);
};

// A frame that a sniffer is asked about.
struct jitprof_frame {
  uint32_t struct_size;
  // 1: nothing was called from pc: the stack's first frame, or one that a signal interrupted. It may stand at
  // any instruction. 0: pc is a return address, and the instruction before it a call.
  uint32_t is_exact;
  uint32_t is_top;  // 1: the stack's first frame
  uint64_t pc;
  uint64_t callee_cfa;  // of the frame that was called from this one; of an exact frame, its own rsp
  const struct jitprof_calls* calls;
  void* context;  // jitprof's own
};

enum jitprof_stop {
  JITPROF_STOP_NONE = 0,
  JITPROF_STOP_ROOT = 1,  // nothing called this frame: the thread, or the VM's own kind of it, begins here
  JITPROF_STOP_TRUNCATED = 2  // there is a caller, but JITPROF_BEHIND_CUT
};

// What a sniffer knows of a frame. Zero when it is passed in.
struct jitprof_answer {
  uint32_t struct_size;
  // Bit n: registers[n] was set. rip and rsp must be, unless there is a stop; rbp and the other callee-saved
  // registers (rbx, r12 to r15) are needed where native code called the VM. What is not set is unavailable in
  // the caller: never pass on a value that is not known to be the caller's.
  uint32_t known_registers;
  // Where the caller's rsp stands once this frame has returned. It is the same from the frame's first
  // instruction to its last; above callee_cfa (of an exact frame: or equal), and on the recorded stack or not
  // far above it.
  uint64_t cfa;
  uint64_t code;                               // where the function's code starts, if known; else 0
  uint64_t registers[JITPROF_REGISTER_COUNT];  // of the caller; its rsp is the CFA
  // 1: the caller's rip is exact and no return address, as below a signal frame.
  uint32_t caller_was_interrupted;
  // Of enum jitprof_stop. With one, the caller's registers are not looked at.
  uint32_t stop;
};

static inline void jitprof_set_register(struct jitprof_answer* answer, enum jitprof_register number,
                                        uint64_t value) {
  answer->registers[number] = value;
  answer->known_registers |= UINT32_C(1) << number;
}

// What a sniffer is asked about. jitprof asks in this order, and within one of them the newest sniffer first.
enum jitprof_locus {
  JITPROF_OBJECT_FILE = 0,    // code of one file, before its CFI
  JITPROF_PROGRAM_SPACE = 1,  // code without CFI, in processes that have a file mapped executable
  JITPROF_GLOBAL = 2          // code without CFI, in every process
};

enum jitprof_verdict {
  JITPROF_DECLINED = 0,  // not my kind of frame; the next sniffer is asked
  JITPROF_ANSWERED = 1
};

struct jitprof_sniffer {
  // 1 to 64 letters, digits, '-', '_' or '.'; shown in listings, and what --disable-sniffer takes. One name
  // of a kind in each locus.
  const char* name;
  // JITPROF_OBJECT_FILE: the last part of the file's path. JITPROF_PROGRAM_SPACE: that of a file that the
  // process must have mapped executable, or NULL. JITPROF_GLOBAL: NULL.
  const char* object;
  uint32_t locus;  // of enum jitprof_locus
  void* state;     // passed to unwind
  // Gives an enum jitprof_verdict. An answer that breaks a rule above is not taken: it is counted and named
  // below the report, and the next sniffer is asked.
  uint32_t (*unwind)(void* state, const struct jitprof_frame* frame, struct jitprof_answer* answer);
};

struct jitprof_sniffer_list {
  uint32_t version;       // JITPROF_SNIFFER_VERSION
  uint32_t sniffer_size;  // sizeof(struct jitprof_sniffer)
  uint32_t count;         // 1 to 64
  const struct jitprof_sniffer* sniffers;
};

// Defined by the plug-in.
extern __attribute__((visibility("default"))) const struct jitprof_sniffer_list jitprof_sniffers;

#ifdef __cplusplus
}
#endif
