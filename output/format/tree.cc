// SPDX-License-Identifier: Apache-2.0
#include "output/format/tree.h"

#include <algorithm>
#include <iomanip>

#include "base/one_line.h"
#include "output/call_tree.h"
#include "output/format/quantity.h"

namespace jitprof {
namespace {

// Deeper frames stand in one column, told apart by their numbers: indenting a stack of 100,000 frames to its
// end would write gigabytes.
constexpr uint32_t kIndentedLevels = 40;

}  // namespace

void write_tree(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out) {
  const ValueType& type = profile.value_types[view.value];
  CallTree tree = build_call_tree(profile, view);
  Page page = page_of(options, tree.nodes.size());
  out << describe_view(profile, view, tree.total) << describe_page(page, tree.nodes.size(), "frames");

  std::string unit = shown_unit(type).empty() ? "" : " " + shown_unit(type);
  int width = static_cast<int>(std::max<size_t>(shown_value(type, tree.total).size(), 8));
  out << '\n'
      << std::setw(width) << "total" + unit << std::setw(8) << "total%" << std::setw(width + 2)
      << "self" + unit << "  frame\n";
  for (uint64_t index = page.first; index < page.end; ++index) {
    const CallNode& node = tree.nodes[index];
    const Function& function = profile.names.function(node.function);
    out << std::setw(width) << shown_value(type, node.total) << std::setw(8)
        << shown_percent(node.total, tree.total) << std::setw(width + 2) << shown_value(type, node.self)
        << "  " << std::string(2 * std::min(node.level, kIndentedLevels), ' ') << '#' << node.level << ' '
        << on_one_line(profile.names.text(options.signatures ? function.signature : function.name))
        << (node.inlined ? " (inlined)" : "") << '\n';
  }
}

}  // namespace jitprof
