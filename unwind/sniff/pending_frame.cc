// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/pending_frame.h"

#include <string>

#include "unwind/call_site.h"

namespace jitprof {

std::optional<uint64_t> PendingFrame::find(Register number) const {
  return follows(number) ? followed_.find(number) : all_().find(number);
}

Registers PendingFrame::callee_saved() const {
  Registers kept;
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!is_callee_saved(number) || !follows(number)) continue;
    if (auto value = followed_.find(number)) kept.set(number, *value);
  }
  return kept;
}

Result<std::optional<uint64_t>> PendingFrame::find(std::string_view name) const {
  auto number = register_named(name);
  if (!number) return Error{"x86-64 has no register '" + std::string(name) + "'"};
  return find(*number);
}

Bytes PendingFrame::code_at(RuntimeAddr position) const {
  const Mapping* mapping = process_.space.find(position);
  if (mapping == nullptr) return {};
  const Module& module = modules_.module(mapping->module);
  Bytes code = module.code_from(mapping->bias.to_elf(position));
  return code.first(std::min<uint64_t>(code.size(), mapping->end.distance_from(position)));
}

std::optional<std::optional<bool>> PendingFrame::call_before(RuntimeAddr position) const {
  // Looked up inside the call: a return address may be the first byte behind its mapping.
  const Mapping* mapping = process_.space.find(position.minus(1));
  if (mapping == nullptr) return std::nullopt;
  return follows_call(modules_.module(mapping->module), mapping->bias.to_elf(position));
}

bool PendingFrame::can_be_return_address(RuntimeAddr position) const {
  auto call = call_before(position);
  return call && (call->value_or(true) || begins_with_sigreturn(code_at(position)));
}

bool PendingFrame::is_behind_call(RuntimeAddr position) const {
  auto call = call_before(position);
  return call && call->value_or(false);
}

std::optional<bool> follows_call(const Module& module, ElfAddr position) {
  for (unsigned size = kLongestCall; size >= 2; --size) {
    Bytes code = module.code_from(position.minus(size));
    if (code.size() >= size) return ends_in_call(code.first(size));
  }
  return std::nullopt;
}

}  // namespace jitprof
