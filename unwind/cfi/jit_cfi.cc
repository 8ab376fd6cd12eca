// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/jit_cfi.h"

#include "unwind/cfi/cfi_compiler.h"
#include "unwind/cfi/rule_dictionary.h"

namespace jitprof {
namespace {

FrameState state_of(const JitFrameRow& row) {
  FrameState state;
  state.cfa = {.kind = UnwindRule::Cfa::kRegisterOffset, .base = row.base, .offset = row.cfa_offset};
  state.of(Register::rip) = {.kind = RegisterRule::Kind::kAtCfaOffset, .offset = -8};
  if (row.rbp_offset != 0) {
    state.of(Register::rbp) = {.kind = RegisterRule::Kind::kAtCfaOffset, .offset = row.rbp_offset};
  }
  return state;
}

CompiledCfi compile_rows(const JitCode& code) {
  RuleDictionary dictionary;
  CompiledCfi compiled;
  uint64_t end = std::min<uint64_t>(code.size, UINT32_MAX);
  if (code.frame_rows.front().offset > 0) compiled.rows.append(0, RowList::kGap);
  for (const JitFrameRow& row : code.frame_rows) {
    if (row.offset >= end) break;
    compiled.rows.append(row.offset, dictionary.number_of(state_of(row)).value_or(RowList::kGap));
  }
  compiled.rows.append(static_cast<uint32_t>(end), RowList::kGap);
  compiled.rows.shrink_to_fit();
  compiled.rules = dictionary.pool();
  return compiled;
}

}  // namespace

UnwindTable compile_jit_cfi(const JitCode& code) {
  if (!code.eh_frame.empty()) {
    FrameSection section{.bytes = code.eh_frame, .start = code.eh_frame_start, .ends_at_zero = true};
    return UnwindTable::compile(std::span(&section, 1));
  }
  return code.frame_rows.empty() ? UnwindTable() : UnwindTable(compile_rows(code));
}

}  // namespace jitprof
