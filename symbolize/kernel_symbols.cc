// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

namespace jitprof {
namespace {

constexpr uint64_t kFurthest = 1 << 20;

std::optional<KernelSymbols::Symbol> parse_line(std::string_view line) {
  uint64_t start = 0;
  auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), start, 16);
  if (error != std::errc() || start == 0) return std::nullopt;
  line.remove_prefix(rest - line.data());
  if (line.size() < 4 || line[0] != ' ' || line[2] != ' ') return std::nullopt;
  if (std::string_view("tTwW").find(line[1]) == std::string_view::npos) return std::nullopt;
  std::string_view name = line.substr(3);
  name = name.substr(0, name.find_first_of("\t \r"));
  if (name.empty()) return std::nullopt;
  return KernelSymbols::Symbol{{start}, name};
}

}  // namespace

KernelSymbols::KernelSymbols(Bytes kallsyms)
    : text_(reinterpret_cast<const char*>(kallsyms.data()), kallsyms.size()) {
  std::string_view rest = text_;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    if (auto symbol = parse_line(rest.substr(0, end))) symbols_.push_back(*symbol);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // Of several names for one place: the one without a leading underscore ("_stext"), then the lesser text.
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    bool a_hidden = a.name.starts_with('_');
    bool b_hidden = b.name.starts_with('_');
    return std::tie(a.start, a_hidden, a.name) < std::tie(b.start, b_hidden, b.name);
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) { return a.start == b.start; }),
                 symbols_.end());
}

const KernelSymbols::Symbol* KernelSymbols::find(RuntimeAddr position) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), position,
                                [](RuntimeAddr p, const Symbol& symbol) { return p < symbol.start; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *std::prev(after);
  return position.distance_from(symbol.start) < kFurthest ? &symbol : nullptr;
}

}  // namespace jitprof
