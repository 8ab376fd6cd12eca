// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/known_layouts.h"

#include <algorithm>

namespace jitprof {
namespace {

// 10 MB for each module. A recording of hostile positions has more of them, no real one.
constexpr size_t kMostKept = 64 << 10;

}  // namespace

KnownLayouts::OfModule& KnownLayouts::of(const Module& module) {
  std::lock_guard lock(guard_);
  std::unique_ptr<OfModule>& known = modules_[&module];
  if (!known) known = std::make_unique<OfModule>();
  return *known;
}

std::optional<FunctionStarts::Function> KnownLayouts::function_at(const Module& module, ElfAddr position) {
  return function_in(of(module), module, position);
}

std::optional<FunctionStarts::Function> KnownLayouts::function_in(OfModule& known, const Module& module,
                                                                  ElfAddr position) {
  if (!module.elf) {
    // Code made at run time counts from its function's first byte.
    if (module.jit == nullptr || position.value >= module.jit->bytes.size()) return std::nullopt;
    return FunctionStarts::Function{{0}, module.jit->bytes.size(), module.jit->name};
  }
  std::call_once(known.has_starts, [&] { known.starts.emplace(*module.elf); });
  if (auto function = known.starts->find(position)) return function;
  auto next = module.published_names.upper_bound(position);
  if (next == module.published_names.begin()) return std::nullopt;
  const auto& [start, published] = *std::prev(next);
  if (position.distance_from(start) >= published.size) return std::nullopt;
  return FunctionStarts::Function{start, published.size, published.name};
}

std::optional<FrameLayout> KnownLayouts::find(const Module& module, ElfAddr position, CallState state,
                                              uint64_t framed_from) {
  OfModule& known = of(module);
  uint64_t key = position.value << 1 | (state == CallState::kInCall);
  {
    std::lock_guard lock(known.guard);
    auto found = known.layouts.find(key);
    if (found != known.layouts.end()) return found->second;
  }
  // A compiler may say later what is there.
  auto function = function_in(known, module, position);
  if (!function) return std::nullopt;
  Bytes code = module.code_from(function->start);
  code = code.first(std::min<uint64_t>(code.size(), function->size));
  uint64_t offset = position.distance_from(function->start);
  uint64_t skipped = std::min({framed_from, offset, uint64_t{code.size()}});
  auto layout = decode_frame(code.subspan(skipped), offset - skipped, state,
                             skipped > 0 ? Begins::kFramed : Begins::kCalled);
  std::lock_guard lock(known.guard);
  if (known.layouts.size() < kMostKept) known.layouts.try_emplace(key, layout);
  return layout;
}

}  // namespace jitprof
