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

std::optional<FrameLayout> KnownLayouts::find(const Module& module, ElfAddr position, CallState state) {
  OfModule& known = of(module);
  uint64_t key = position.value << 1 | (state == CallState::kInCall);
  {
    std::lock_guard lock(known.guard);
    auto found = known.layouts.find(key);
    if (found != known.layouts.end()) return found->second;
  }
  // Code made at run time counts from its function's first byte.
  FunctionStarts::Function function;
  if (module.elf) {
    std::call_once(known.has_starts, [&] { known.starts.emplace(*module.elf); });
    function = known.starts->find(position).value_or(function);
  } else if (module.jit != nullptr) {
    function.size = module.jit->bytes.size();
  }
  std::optional<FrameLayout> layout;
  if (function.size > 0) {
    Bytes code = module.code_from(function.start);
    code = code.first(std::min<uint64_t>(code.size(), function.size));
    layout = decode_frame(code, position.distance_from(function.start), state);
  }
  std::lock_guard lock(known.guard);
  if (known.layouts.size() < kMostKept) known.layouts.try_emplace(key, layout);
  return layout;
}

}  // namespace jitprof
