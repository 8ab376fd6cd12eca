// SPDX-License-Identifier: Apache-2.0
// Part of jit.h: the line table by which a compiler says which methods it inlined where. Its functions are
// called in the order of the code. The first thing that is wrong is kept and returned by
// jitprof_inline_finish; a table that is not finished without error is not published.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JITPROF_MAX_LINE (INT32_MAX - 2)
enum { JITPROF_MAX_INLINE_DEPTH = 256 };

enum jitprof_inline_error {
  JITPROF_INLINE_OK = 0,
  JITPROF_INLINE_NO_MEMORY = 1,
  JITPROF_INLINE_OUT_OF_ORDER = 2,  // an offset lies below an earlier one
  JITPROF_INLINE_BEYOND_CODE = 3,   // an offset lies above the size of the code
  JITPROF_INLINE_BAD_LINE = 4,      // a line is above JITPROF_MAX_LINE
  JITPROF_INLINE_NO_NAME = 5,       // a callee without a name
  JITPROF_INLINE_TOO_DEEP = 6,      // more than JITPROF_MAX_INLINE_DEPTH bodies inside each other
  JITPROF_INLINE_NOT_OPEN = 7,      // an end without a begin
  JITPROF_INLINE_STILL_OPEN = 8,    // a begin without an end
  JITPROF_INLINE_FINISHED = 9       // something was added after the finish
};

// line >= 0: that line starts at offset `value`; -2: a body opens at offset `value`; -3 - X: the body that is
// closed next was of callee `value`, called at line X; -1: closes the body that was opened at offset `value`.
// After a close there is a line of the caller, from the first instruction behind the body on.
struct jitprof_inline_entry {
  int32_t line;
  uint32_t value;
};
struct jitprof_inline_body {
  uint32_t start;
  uint32_t callee;
  uint32_t call_line;
};
struct jitprof_buffer {
  unsigned char* bytes;
  size_t size;
  size_t capacity;
};
// The members are for these functions only. Start it before the first use and free it after the last.
struct jitprof_inline_table {
  struct jitprof_buffer entries;  // struct jitprof_inline_entry
  struct jitprof_buffer callees;  // name NUL file NUL of each
  struct jitprof_buffer open;     // struct jitprof_inline_body, the innermost last
  uint32_t callee_count;
  uint32_t newest_offset;
  uint64_t code_size;
  int error;
  int is_finished;
};

static inline void jitprof_inline_start(struct jitprof_inline_table* table) {
  memset(table, 0, sizeof *table);
}

static inline void jitprof_inline_free(struct jitprof_inline_table* table) {
  free(table->entries.bytes);
  free(table->callees.bytes);
  free(table->open.bytes);
  memset(table, 0, sizeof *table);
}

// Returns 0 when there is no memory.
static inline int jitprof_append(struct jitprof_buffer* buffer, const void* bytes, size_t size) {
  if (size > buffer->capacity - buffer->size) {
    const size_t capacity = buffer->capacity + buffer->capacity / 2 + size + 64;
    unsigned char* grown = (unsigned char*)realloc(buffer->bytes, capacity);
    if (grown == NULL) return 0;
    buffer->bytes = grown;
    buffer->capacity = capacity;
  }
  if (size != 0) memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
  return 1;
}

static inline int jitprof_append_string(struct jitprof_buffer* buffer, const char* text) {
  return jitprof_append(buffer, text, strlen(text) + 1);
}

static inline void jitprof_inline_fail(struct jitprof_inline_table* table, int error) {
  if (table->error == JITPROF_INLINE_OK) table->error = error;
}

static inline void jitprof_inline_add(struct jitprof_inline_table* table, int32_t line, uint32_t value) {
  struct jitprof_inline_entry entry;
  entry.line = line;
  entry.value = value;
  if (!jitprof_append(&table->entries, &entry, sizeof entry))
    jitprof_inline_fail(table, JITPROF_INLINE_NO_MEMORY);
}

// Whether something may be added at this offset.
static inline int jitprof_inline_reach(struct jitprof_inline_table* table, uint32_t offset) {
  if (table->is_finished) jitprof_inline_fail(table, JITPROF_INLINE_FINISHED);
  if (offset < table->newest_offset) jitprof_inline_fail(table, JITPROF_INLINE_OUT_OF_ORDER);
  table->newest_offset = offset;
  return table->error == JITPROF_INLINE_OK;
}

// From `offset` on: this line of the method that is open. Line 0: not known.
static inline void jitprof_inline_line(struct jitprof_inline_table* table, uint32_t offset, uint32_t line) {
  if (line > JITPROF_MAX_LINE) jitprof_inline_fail(table, JITPROF_INLINE_BAD_LINE);
  if (jitprof_inline_reach(table, offset)) jitprof_inline_add(table, (int32_t)line, offset);
}

// Which callee it is; UINT32_MAX when there is no memory.
static inline uint32_t jitprof_inline_callee(struct jitprof_inline_table* table, const char* name,
                                             const char* file) {
  const size_t before = table->callees.size;
  const char* known = (const char*)table->callees.bytes;
  for (uint32_t i = 0; i < table->callee_count; ++i) {
    const char* known_file = known + strlen(known) + 1;
    if (!strcmp(known, name) && !strcmp(known_file, file)) return i;
    known = known_file + strlen(known_file) + 1;
  }
  if (jitprof_append_string(&table->callees, name) && jitprof_append_string(&table->callees, file))
    return table->callee_count++;
  table->callees.size = before;
  return UINT32_MAX;
}

// The body of an inlined method begins, called at call_line of the method that is open; first_line is the
// line of its first instruction. The strings are copied. callee_file NULL: not known.
static inline void jitprof_inline_begin(struct jitprof_inline_table* table, uint32_t offset,
                                        const char* callee, const char* callee_file, uint32_t call_line,
                                        uint32_t first_line) {
  struct jitprof_inline_body body;
  if (callee == NULL || *callee == 0) jitprof_inline_fail(table, JITPROF_INLINE_NO_NAME);
  if (call_line > JITPROF_MAX_LINE) jitprof_inline_fail(table, JITPROF_INLINE_BAD_LINE);
  if (table->open.size / sizeof body == JITPROF_MAX_INLINE_DEPTH)
    jitprof_inline_fail(table, JITPROF_INLINE_TOO_DEEP);
  if (!jitprof_inline_reach(table, offset)) return;
  body.start = offset;
  body.callee = jitprof_inline_callee(table, callee, callee_file ? callee_file : "");
  body.call_line = call_line;
  if (body.callee == UINT32_MAX || !jitprof_append(&table->open, &body, sizeof body))
    jitprof_inline_fail(table, JITPROF_INLINE_NO_MEMORY);
  jitprof_inline_add(table, -2, offset);
  jitprof_inline_line(table, offset, first_line);
}

// The innermost open body ends before the instruction at `offset`. Its caller goes on there, at call_line
// until another line is said.
static inline void jitprof_inline_end(struct jitprof_inline_table* table, uint32_t offset) {
  struct jitprof_inline_body body;
  if (table->open.size == 0) jitprof_inline_fail(table, JITPROF_INLINE_NOT_OPEN);
  if (!jitprof_inline_reach(table, offset)) return;
  table->open.size -= sizeof body;
  memcpy(&body, table->open.bytes + table->open.size, sizeof body);
  jitprof_inline_add(table, -3 - (int32_t)body.call_line, body.callee);
  jitprof_inline_add(table, -1, body.start);
  jitprof_inline_add(table, (int32_t)body.call_line, offset);
}

// Returns an enum jitprof_inline_error.
static inline int jitprof_inline_finish(struct jitprof_inline_table* table, uint64_t code_size) {
  if (table->open.size != 0) jitprof_inline_fail(table, JITPROF_INLINE_STILL_OPEN);
  if (table->newest_offset > code_size) jitprof_inline_fail(table, JITPROF_INLINE_BEYOND_CODE);
  table->code_size = code_size;
  table->is_finished = 1;
  return table->error;
}

#ifdef __cplusplus
}
#endif
