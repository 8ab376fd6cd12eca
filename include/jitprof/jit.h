// SPDX-License-Identifier: Apache-2.0
// How a virtual machine tells profilers of the code that it makes while it runs: names, source lines, inlined
// methods, and how to unwind it. x86-64 Linux; C11 or C++; needs nothing but libc, and nothing to link.
// JIT.md, beside this file, is the guide.
//
// What is published goes to a jitdump file, jit-PID.dump, which `jitprof record` finds by itself and `perf
// inject --jit` reads too. What jitdump has no words for stands in records of our own that others skip.
//
// Threads: any thread may call these functions at any time, a signal handler never. A child of fork gets a
// file of its own when it first publishes. Times are CLOCK_MONOTONIC: code has its name from the moment it is
// published, so publish it before it first runs.
//
// Errors: functions that return int return 0 or an errno value, and then have published nothing.
#pragma once

#include "jit_file.h"
#include "jit_inlines.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- What a VM says of one piece of code. Offsets count bytes from the start of the code.

// From `offset` on the code belongs to this line.
struct jitprof_line {
  uint32_t offset;
  uint32_t line;
  uint32_t column;   // 0: not known
  const char* file;  // NULL: that of the code
};

enum { JITPROF_BASE_RBP = 6, JITPROF_BASE_RSP = 7 };

// From `offset` on, base + cfa_offset is the CFA: where rsp pointed before the call. The return address is at
// CFA - 8, and the caller's rbp at CFA + rbp_offset, or still in rbp when that is 0.
struct jitprof_frame_row {
  uint32_t offset;
  uint32_t base;
  int32_t cfa_offset;
  int32_t rbp_offset;
};

struct jitprof_jit_code {
  const char* name;
  uint64_t start;     // where it runs
  uint64_t size;      // not 0
  const void* bytes;  // where its bytes can be read now; NULL: at `start`
  const char* file;   // source file; NULL: not known
  // Lines of the innermost methods by rising offset, for tools that know plain jitdump only.
  const struct jitprof_line* lines;
  size_t line_count;
  // How frames of the code are left. Rows by rising offset, the first at 0; or an .eh_frame of one CIE and
  // one FDE, whose position is DW_EH_PE_pcrel | DW_EH_PE_sdata4 as if the section lay at `start` + `size`
  // rounded up to 8; or neither, which does where rbp is a frame pointer.
  const struct jitprof_frame_row* frame_rows;
  size_t frame_row_count;
  const void* eh_frame;
  size_t eh_frame_size;
  const struct jitprof_inline_table* inlines;  // finished; NULL: none
};

// ---- What stands in the file beside the records of jitdump itself.

// Record id JITPROF_RECORD: 16 bytes of jitdump's prefix (id, size, time), then this, little-endian. Kind
// DETAILS comes before the JIT_CODE_LOAD of the same index. Behind it stand the frame rows (struct
// jitprof_frame_row each), the entries of the line table (struct jitprof_inline_entry each) and string_size
// bytes of strings: the code's file, then name and file of each callee, each ended by a NUL. Readers skip
// what follows them, kinds that they do not know, and records of another version.
enum {
  JITPROF_RECORD = 0x4a50,
  JITPROF_RECORD_VERSION = 1,
  JITPROF_RECORD_DETAILS = 1,
  JITPROF_RECORD_UNLOAD = 2
};
struct jitprof_record_body {
  uint32_t version;
  uint32_t kind;
  uint64_t code_index;
  uint64_t code_start;
  uint64_t code_size;
  uint32_t frame_row_count;  // of an unload these four are 0
  uint32_t entry_count;
  uint32_t callee_count;
  uint32_t string_size;
};

// ---- Records. In jitdump's layout, which the Linux sources have in
// tools/perf/Documentation/jitdump-specification.txt.

enum { JITPROF_LOAD = 0, JITPROF_MOVE = 1, JITPROF_DEBUG_INFO = 2, JITPROF_CLOSE = 3, JITPROF_UNWINDING = 4 };

// Records that are written at once. The first that failed makes `error`.
struct jitprof_records {
  struct jitprof_buffer buffer;
  size_t record;  // where the newest one starts
  int error;
};

static inline void jitprof_put(struct jitprof_records* records, const void* bytes, size_t size) {
  if (!jitprof_append(&records->buffer, bytes, size)) records->error = ENOMEM;
}
static inline void jitprof_put32(struct jitprof_records* records, uint32_t value) {
  jitprof_put(records, &value, sizeof value);
}
static inline void jitprof_put64(struct jitprof_records* records, uint64_t value) {
  jitprof_put(records, &value, sizeof value);
}
static inline void jitprof_put_string(struct jitprof_records* records, const char* text) {
  jitprof_put(records, text, strlen(text) + 1);
}

static inline void jitprof_begin_record(struct jitprof_records* records, uint32_t id) {
  records->record = records->buffer.size;
  jitprof_put32(records, id);
  jitprof_put32(records, 0);
  jitprof_put64(records, jitprof_now());
}

static inline void jitprof_end_record(struct jitprof_records* records) {
  const uint64_t size = records->buffer.size - records->record;
  const uint32_t stored = (uint32_t)size;
  if (size > INT32_MAX) records->error = EFBIG;
  if (records->error == 0) memcpy(records->buffer.bytes + records->record + 4, &stored, sizeof stored);
}

static inline void jitprof_put_lines(struct jitprof_records* records, const struct jitprof_jit_code* code) {
  const char* file = code->file ? code->file : "";
  // Some makers add 64, an ELF header, to every position. An entry at the start says that we do not.
  const int starts_late = code->lines[0].offset != 0;
  jitprof_begin_record(records, JITPROF_DEBUG_INFO);
  jitprof_put64(records, code->start);
  jitprof_put64(records, code->line_count + (size_t)starts_late);
  if (starts_late) {
    jitprof_put64(records, code->start);
    jitprof_put64(records, 0);
    jitprof_put_string(records, file);
  }
  for (size_t i = 0; i < code->line_count; ++i) {
    const struct jitprof_line* line = &code->lines[i];
    jitprof_put64(records, code->start + line->offset);
    jitprof_put32(records, line->line);
    jitprof_put32(records, line->column);
    jitprof_put_string(records, line->file ? line->file : file);
  }
  jitprof_end_record(records);
}

// .eh_frame, and the .eh_frame_hdr that perf looks it up by: version 1, pcrel sdata4, udata4, datarel sdata4;
// where .eh_frame starts, the number of FDEs, where the code and where its FDE starts.
static inline void jitprof_put_eh_frame(struct jitprof_records* records,
                                        const struct jitprof_jit_code* code) {
  const unsigned char encodings[4] = {1, 0x1b, 0x03, 0x3b};
  const uint64_t code_room = (code->size + 7) & ~(uint64_t)7;
  const uint64_t size = code->eh_frame_size;
  uint32_t cie_size = 0;
  memcpy(&cie_size, code->eh_frame, sizeof cie_size);
  jitprof_begin_record(records, JITPROF_UNWINDING);
  jitprof_put64(records, size + 20);
  jitprof_put64(records, 20);
  jitprof_put64(records, size + 20);
  jitprof_put(records, code->eh_frame, size);
  jitprof_put(records, encodings, sizeof encodings);
  jitprof_put32(records, (uint32_t)(0 - (size + 4)));
  jitprof_put32(records, 1);
  jitprof_put32(records, (uint32_t)(0 - (size + code_room)));
  jitprof_put32(records, (uint32_t)(cie_size + 4 - size));
  jitprof_end_record(records);
}

static inline void jitprof_put_body(struct jitprof_records* records, struct jitprof_record_body body,
                                    uint32_t kind) {
  body.version = JITPROF_RECORD_VERSION;
  body.kind = kind;
  jitprof_begin_record(records, JITPROF_RECORD);
  jitprof_put(records, &body, sizeof body);
}

static inline void jitprof_put_details(struct jitprof_records* records, const struct jitprof_jit_code* code,
                                       uint64_t index) {
  const char* file = code->file ? code->file : "";
  const struct jitprof_inline_table* inlines = code->inlines;
  struct jitprof_record_body body = {0, 0, index, code->start, code->size, 0, 0, 0, 0};
  body.frame_row_count = (uint32_t)code->frame_row_count;
  body.string_size = (uint32_t)strlen(file) + 1;
  if (inlines != NULL) {
    body.entry_count = (uint32_t)(inlines->entries.size / sizeof(struct jitprof_inline_entry));
    body.callee_count = inlines->callee_count;
    body.string_size += (uint32_t)inlines->callees.size;
  }
  jitprof_put_body(records, body, JITPROF_RECORD_DETAILS);
  jitprof_put(records, code->frame_rows, code->frame_row_count * sizeof *code->frame_rows);
  if (inlines != NULL) jitprof_put(records, inlines->entries.bytes, inlines->entries.size);
  jitprof_put_string(records, file);
  if (inlines != NULL) jitprof_put(records, inlines->callees.bytes, inlines->callees.size);
  jitprof_end_record(records);
}

static inline void jitprof_put_load(struct jitprof_records* records, const struct jitprof_jit_code* code,
                                    uint64_t index) {
  jitprof_begin_record(records, JITPROF_LOAD);
  jitprof_put32(records, (uint32_t)getpid());
  jitprof_put32(records, (uint32_t)syscall(SYS_gettid));
  jitprof_put64(records, code->start);
  jitprof_put64(records, code->start);
  jitprof_put64(records, code->size);
  jitprof_put64(records, index);
  jitprof_put_string(records, code->name);
  jitprof_put(records, code->bytes ? code->bytes : (const void*)(uintptr_t)code->start, code->size);
  jitprof_end_record(records);
}

// With the lock held: writes the records, or nothing, and frees them.
static inline int jitprof_send(struct jitprof_jit* jit, struct jitprof_records* records) {
  int error = records->error;
  if (error == 0 && !jitprof_has_file(jit)) error = EBADF;
  if (error == 0 && jit->pid != (uint32_t)getpid()) {
    jitprof_leave_file(jit);
    error = jitprof_enter_file(jit);
  }
  if (error == 0) error = jitprof_write(jit, records->buffer.bytes, records->buffer.size);
  free(records->buffer.bytes);
  return error;
}

static inline int jitprof_is_in_order(const struct jitprof_jit_code* code) {
  if (code->name == NULL || code->size == 0 || code->size > INT32_MAX) return 0;
  if (code->eh_frame_size != 0 && (code->eh_frame_size < 8 || code->frame_row_count != 0)) return 0;
  if (code->inlines != NULL && (!code->inlines->is_finished || code->inlines->error != JITPROF_INLINE_OK ||
                                code->inlines->code_size != code->size))
    return 0;
  for (size_t i = 0; i < code->line_count; ++i) {
    const uint32_t offset = code->lines[i].offset;
    if (offset >= code->size || (i > 0 && offset < code->lines[i - 1].offset)) return 0;
  }
  for (size_t i = 0; i < code->frame_row_count; ++i) {
    const struct jitprof_frame_row* row = &code->frame_rows[i];
    if (row->offset >= code->size || (i == 0 ? row->offset != 0 : row->offset <= row[-1].offset)) return 0;
    if (row->base != JITPROF_BASE_RBP && row->base != JITPROF_BASE_RSP) return 0;
    if (row->cfa_offset < 8 || (row->rbp_offset != 0 && row->rbp_offset > -16)) return 0;
  }
  return 1;
}

// ---- What a VM calls, besides jitprof_jit_open.

// `index`, unless NULL, gets the number by which the code is known to move and unload. EINVAL: something in
// `code` is not as said above. Code may be published where other code was that is not unloaded.
static inline int jitprof_jit_publish(struct jitprof_jit* jit, const struct jitprof_jit_code* code,
                                      uint64_t* index) {
  struct jitprof_records records = {{NULL, 0, 0}, 0, 0};
  uint64_t number;
  int error;
  if (!jitprof_is_in_order(code)) return EINVAL;
  jitprof_lock(jit);
  number = jit->next_index++;
  if (code->line_count != 0) jitprof_put_lines(&records, code);
  if (code->eh_frame_size != 0) jitprof_put_eh_frame(&records, code);
  if (code->frame_row_count != 0 || code->inlines != NULL) jitprof_put_details(&records, code, number);
  jitprof_put_load(&records, code, number);
  error = jitprof_send(jit, &records);
  jitprof_unlock(jit);
  if (error == 0 && index != NULL) *index = number;
  return error;
}

// To be called after the bytes were moved, before they run.
static inline int jitprof_jit_move(struct jitprof_jit* jit, uint64_t index, uint64_t from, uint64_t to,
                                   uint64_t size) {
  struct jitprof_records records = {{NULL, 0, 0}, 0, 0};
  int error;
  jitprof_lock(jit);
  jitprof_begin_record(&records, JITPROF_MOVE);
  jitprof_put32(&records, (uint32_t)getpid());
  jitprof_put32(&records, (uint32_t)syscall(SYS_gettid));
  jitprof_put64(&records, to);
  jitprof_put64(&records, from);
  jitprof_put64(&records, to);
  jitprof_put64(&records, size);
  jitprof_put64(&records, index);
  jitprof_end_record(&records);
  error = jitprof_send(jit, &records);
  jitprof_unlock(jit);
  return error;
}

static inline int jitprof_jit_unload(struct jitprof_jit* jit, uint64_t index, uint64_t start, uint64_t size) {
  struct jitprof_records records = {{NULL, 0, 0}, 0, 0};
  const struct jitprof_record_body body = {0, 0, index, start, size, 0, 0, 0, 0};
  int error;
  jitprof_lock(jit);
  jitprof_put_body(&records, body, JITPROF_RECORD_UNLOAD);
  jitprof_end_record(&records);
  error = jitprof_send(jit, &records);
  jitprof_unlock(jit);
  return error;
}

// Nothing is published after it; what was published keeps its names.
static inline void jitprof_jit_close(struct jitprof_jit* jit) {
  jitprof_lock(jit);
  // A child of fork that published nothing has no file to end.
  if (jitprof_has_file(jit) && jit->pid == (uint32_t)getpid()) {
    struct jitprof_records records = {{NULL, 0, 0}, 0, 0};
    jitprof_begin_record(&records, JITPROF_CLOSE);
    jitprof_end_record(&records);
    (void)jitprof_send(jit, &records);
  }
  jitprof_leave_file(jit);
  jitprof_unlock(jit);
}

#ifdef __cplusplus
}
#endif
