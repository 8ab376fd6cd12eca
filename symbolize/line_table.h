// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/position.h"

namespace jitprof {

// The sections a line program speaks of; inflated. Any may be empty.
struct LineSections {
  Bytes line;      // .debug_line
  Bytes line_str;  // .debug_line_str
  Bytes str;       // .debug_str
};

// The line program of one unit, DWARF 2 to 5. Its file names are read at once, its rows when the first
// position is asked for. Views the sections.
class LineTable {
 public:
  struct Row {
    uint64_t start = 0;   // reaches to the next row of its sequence
    uint32_t file = 0;    // as DWARF numbers them
    uint32_t line = 0;    // 0: the code belongs to no line
    uint32_t column = 0;  // 0: none
  };

  LineTable() = default;
  // `offset` into .debug_line; `unit_directory` stands for a directory 0 that is not there.
  LineTable(const LineSections& sections, uint64_t offset, std::string_view unit_directory);

  // The path of a file as this unit numbers them, normalised; relative only if the unit's directory is; empty
  // when there is none. 0 means none up to DWARF 4 and is the primary file in DWARF 5.
  std::string file(uint64_t number) const;
  size_t file_count() const { return files_.size(); }

  // The row at `position`; nullptr when no sequence covers it. Of several rows at one place the last counts.
  const Row* find(ElfAddr position);

 private:
  struct File {
    std::string_view name;
    uint64_t directory = 0;
  };
  // Rows first..last stand for [start of the first, end).
  struct Sequence {
    uint64_t start = 0;
    uint64_t end = 0;
    uint32_t first = 0;
    uint32_t last = 0;  // exclusive
  };
  struct State;

  void read_header(uint64_t offset);
  void read_old_tables(ByteReader& header);
  void read_new_tables(ByteReader& header);
  void read_rows();
  void step(State& state, ByteReader& program);
  void step_extended(State& state, ByteReader& program);
  void append_row(State& state);
  void end_sequence(State& state);

  LineSections sections_;
  std::string_view unit_directory_;
  uint16_t version_ = 0;
  bool has_wide_offsets_ = false;  // 64-bit DWARF
  uint8_t min_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 0;
  uint8_t opcode_base_ = 0;
  Bytes opcode_operands_;
  std::vector<std::string_view> directories_;
  std::vector<File> files_;
  Bytes program_;
  bool rows_read_ = false;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_;  // sorted by start once read
};

}  // namespace jitprof
