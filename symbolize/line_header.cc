// SPDX-License-Identifier: Apache-2.0
// The header of a line program: its directory and file tables (DWARF 5 section 6.2.4, DWARF 4 section 6.2.4).
#include <dwarf.h>

#include <algorithm>

#include "base/leb128.h"
#include "symbolize/line_table.h"
#include "symbolize/source_path.h"

namespace jitprof {
namespace {

constexpr size_t kMaxEntries = 1 << 20;

std::string_view text_at(Bytes section, uint64_t offset) {
  ByteReader reader(section);
  reader.seek(offset);
  return reader.c_string();
}

// How DWARF 5 describes a field of a directory or file entry.
struct EntryField {
  uint64_t content = 0;  // DW_LNCT_*
  uint64_t form = 0;     // DW_FORM_*
};

std::vector<EntryField> read_entry_format(ByteReader& header) {
  std::vector<EntryField> fields(header.u8());
  for (EntryField& field : fields) {
    field.content = read_uleb128(header);
    field.form = read_uleb128(header);
  }
  return fields;
}

struct FieldValue {
  std::string_view text;
  uint64_t number = 0;
};

// Reading fails on forms that the standard does not allow here: the size of such a field is unknown.
FieldValue read_field(ByteReader& header, uint64_t form, const LineSections& sections,
                      bool has_wide_offsets) {
  FieldValue value;
  auto offset = [&] { return has_wide_offsets ? header.u64() : header.u32(); };
  switch (form) {
    case DW_FORM_string:
      value.text = header.c_string();
      break;
    case DW_FORM_line_strp:
      value.text = text_at(sections.line_str, offset());
      break;
    case DW_FORM_strp:
      value.text = text_at(sections.str, offset());
      break;
    case DW_FORM_data1:
      value.number = header.u8();
      break;
    case DW_FORM_data2:
      value.number = header.u16();
      break;
    case DW_FORM_data4:
      value.number = header.u32();
      break;
    case DW_FORM_data8:
      value.number = header.u64();
      break;
    case DW_FORM_data16:  // an MD5 sum
      header.skip(16);
      break;
    case DW_FORM_udata:
      value.number = read_uleb128(header);
      break;
    case DW_FORM_block:
      header.skip(read_uleb128(header));
      break;
    default:
      header.skip(header.remaining() + 1);
      break;
  }
  return value;
}

}  // namespace

LineTable::LineTable(const LineSections& sections, uint64_t offset, std::string_view unit_directory)
    : sections_(sections), unit_directory_(unit_directory) {
  read_header(offset);
}

void LineTable::read_header(uint64_t offset) {
  ByteReader unit(sections_.line);
  unit.seek(offset);
  uint64_t length = unit.u32();
  if (length == 0xffffffff) {
    has_wide_offsets_ = true;
    length = unit.u64();
  }
  // A length beyond the section: what is there is still of use.
  Bytes body = unit.take(std::min(length, unit.remaining()));
  ByteReader header(body);
  version_ = header.u16();
  if (version_ < 2 || version_ > 5) return;
  if (version_ >= 5) header.skip(2);  // sizes of a position and of a segment selector
  uint64_t header_length = has_wide_offsets_ ? header.u64() : header.u32();
  uint64_t program_start = header.offset() + std::min(header_length, header.remaining());
  min_instruction_ = header.u8();
  if (version_ >= 4) header.skip(1);  // operations per instruction, 1 on x86
  header.skip(1);                     // is_stmt at the start
  line_base_ = static_cast<int8_t>(header.u8());
  line_range_ = header.u8();
  opcode_base_ = header.u8();
  opcode_operands_ = header.take(opcode_base_ == 0 ? 0 : opcode_base_ - 1u);
  if (!header.ok()) {
    opcode_base_ = 0;
    return;
  }
  if (version_ >= 5) {
    read_new_tables(header);
  } else {
    read_old_tables(header);
  }
  program_ = body.subspan(program_start);
}

// Up to DWARF 4: names ended by an empty one; numbers from 1, directory 0 is the unit's own.
void LineTable::read_old_tables(ByteReader& header) {
  directories_.push_back(unit_directory_);
  while (header.ok() && directories_.size() < kMaxEntries) {
    std::string_view directory = header.c_string();
    if (directory.empty()) break;
    directories_.push_back(directory);
  }
  files_.push_back({});
  while (header.ok() && files_.size() < kMaxEntries) {
    File file{header.c_string(), 0};
    if (file.name.empty()) break;
    file.directory = read_uleb128(header);
    read_uleb128(header);  // time of change
    read_uleb128(header);  // size
    if (header.ok()) files_.push_back(file);
  }
}

void LineTable::read_new_tables(ByteReader& header) {
  auto read_entries = [&](auto&& add) {
    std::vector<EntryField> format = read_entry_format(header);
    uint64_t count = read_uleb128(header);
    if (format.empty()) return;
    for (uint64_t i = 0; i < count && i < kMaxEntries && header.ok(); ++i) {
      File entry;
      for (EntryField field : format) {
        FieldValue value = read_field(header, field.form, sections_, has_wide_offsets_);
        if (field.content == DW_LNCT_path) entry.name = value.text;
        if (field.content == DW_LNCT_directory_index) entry.directory = value.number;
      }
      if (header.ok()) add(entry);
    }
  };
  read_entries([&](const File& entry) { directories_.push_back(entry.name); });
  read_entries([&](const File& entry) { files_.push_back(entry); });
}

std::string LineTable::file(uint64_t number) const {
  if (number >= files_.size() || files_[number].name.empty()) return {};
  const File& file = files_[number];
  // Directory 0 is the one the unit was compiled in; the others may be relative to it. A relative directory 0
  // ("./misc": sources built with -fdebug-prefix-map) leaves the path relative.
  std::string_view base = directories_.empty() ? unit_directory_ : directories_[0];
  std::string_view directory;
  if (file.directory != 0 && file.directory < directories_.size()) directory = directories_[file.directory];
  return normalized_path(joined_path(base, joined_path(directory, file.name)));
}

}  // namespace jitprof
