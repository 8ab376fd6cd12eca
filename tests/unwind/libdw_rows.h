// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unwind/cfi/unwind_rule.h"

namespace jitprof::tests {

// A rule spelled out, so that rules of different origin can be compared.
struct PlainRule {
  struct Column {
    RegisterRule::Kind kind = RegisterRule::Kind::kUndefined;
    Register other{};
    int64_t offset = 0;
    std::vector<ExpressionOp> expression;
    bool operator==(const Column&) const = default;
  };
  bool is_signal_frame = false;
  Register cfa_register{};
  int64_t cfa_offset = 0;
  std::vector<ExpressionOp> cfa_expression;  // empty: register and offset
  std::array<Column, kRegisterCount> columns;
  bool operator==(const PlainRule&) const = default;
};

PlainRule plain(const UnwindRule& rule);

// CFI rows as libdw reads them, in our terms.
class LibdwRows {
 public:
  enum class Section { kEhFrame, kDebugFrame };
  LibdwRows(const std::string& path, Section section);

  struct Row {
    uint64_t start = 0, end = 0;
    std::optional<PlainRule> rule;  // nullopt: one that leaves the CFA or the caller unknown
  };
  // nullopt where there is none.
  std::optional<Row> find(uint64_t position) const;

 private:
  struct Close {
    void operator()(Elf* elf) const { elf_end(elf); }
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
    void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
  };
  std::string image_;
  // Each is closed before what it was made from.
  std::unique_ptr<Elf, Close> elf_;
  std::unique_ptr<Dwarf, Close> dwarf_;
  std::unique_ptr<Dwarf_CFI, Close> own_cfi_;
  Dwarf_CFI* cfi_ = nullptr;
};

}  // namespace jitprof::tests
