// SPDX-License-Identifier: Apache-2.0
#include "output/format/text.h"

#include <algorithm>
#include <iomanip>

#include "base/one_line.h"
#include "output/call_tree.h"
#include "output/format/quantity.h"

namespace jitprof {
namespace {

// Where the function is declared, else the module it was seen in.
std::string place_of(const Profile& profile, const FunctionSum& sum) {
  const Function& function = profile.names.function(sum.function);
  if (!function.file.is_none()) {
    std::string place = on_one_line(profile.names.text(function.file));
    return " (" + place + (function.line != 0 ? ":" + std::to_string(function.line) : "") + ")";
  }
  if (sum.module.is_none()) return "";
  return " (" + on_one_line(profile.modules[sum.module.index].path) + ")";
}

}  // namespace

Page page_of(const TextOptions& options, uint64_t length) {
  uint64_t first = std::min(options.offset, length);
  uint64_t count = options.limit == 0 ? length - first : std::min(options.limit, length - first);
  return {first, first + count};
}

std::string describe_page(const Page& page, uint64_t length, const std::string& what) {
  std::string text = what + ": " + std::to_string(length);
  if (page.first == 0 && page.end == length) return text + "\n";
  if (page.first == page.end) return text + ", none of them on this page\n";
  return text + ", shown: " + std::to_string(page.first + 1) + " to " + std::to_string(page.end) + "\n";
}

void write_text(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out) {
  const ValueType& type = profile.value_types[view.value];
  CallTree tree = build_call_tree(profile, view);
  std::vector<FunctionSum> sums = sum_functions(profile, tree);
  Page page = page_of(options, sums.size());
  out << describe_view(profile, view, tree.total) << describe_page(page, sums.size(), "functions");

  std::string unit = shown_unit(type).empty() ? "" : " " + shown_unit(type);
  int width = static_cast<int>(std::max<size_t>(shown_value(type, tree.total).size(), 8));
  out << '\n'
      << std::setw(width) << "self" + unit << std::setw(8) << "self%" << std::setw(width + 2)
      << "total" + unit << std::setw(8) << "total%"
      << "  function\n";
  for (uint64_t index = page.first; index < page.end; ++index) {
    const FunctionSum& sum = sums[index];
    const Function& function = profile.names.function(sum.function);
    out << std::setw(width) << shown_value(type, sum.self) << std::setw(8)
        << shown_percent(sum.self, tree.total) << std::setw(width + 2) << shown_value(type, sum.total)
        << std::setw(8) << shown_percent(sum.total, tree.total) << "  "
        << on_one_line(profile.names.text(options.signatures ? function.signature : function.name))
        << place_of(profile, sum) << '\n';
  }
}

}  // namespace jitprof
