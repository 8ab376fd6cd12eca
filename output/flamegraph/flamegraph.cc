// SPDX-License-Identifier: Apache-2.0
#include "output/flamegraph/flamegraph.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/one_line.h"
#include "flamegraph_page.h"
#include "output/call_tree.h"
#include "output/footer.h"
#include "output/format/quantity.h"
#include "output/format/utf8.h"

namespace jitprof {
namespace {

// The page's data as one JSON object, read by tree.js:
//   title      the command
//   about      what the page sums to
//   notes      what is missing in it, a text each
//   value      name and unit of the values
//   total      sum over the view
//   files, modules   texts that functions refer to
//   functions  [name, signature (0: as name), file (-1: unknown), line, module (-1: none)]
//   nodes      the call tree in preorder, columns of equal length: function, level, self,
//              flags: 1 inlined; 2, 4, 6: JIT, kernel, bracket; where lines are known 8, 16: of a library, of
//              a runtime
class PageData {
 public:
  PageData(const Profile& profile, const View& view)
      : profile_(profile),
        view_(view),
        tree_(build_call_tree(profile, view)),
        indices_(profile.names.function_count()),
        has_lines_(std::any_of(profile.modules.begin(), profile.modules.end(),
                               [](const ProfileModule& module) { return module.has_lines; })) {}

  const std::string& write() {
    const ValueType& type = profile_.value_types[view_.value];
    json_ = "{\"title\":";
    append_json_string(json_, profile_.command.empty() ? "jitprof" : on_one_line(profile_.command));
    json_ += ",\n\"about\":";
    append_json_string(json_, describe_total(profile_, view_, tree_.total));
    json_ += ",\n\"notes\":";
    write_lines(footer_lines(profile_, view_));
    json_ += ",\n\"value\":";
    write_lines({type.name, type.unit});
    json_ += ",\n\"total\":" + std::to_string(tree_.total);
    write_functions();
    json_ += ",\n\"files\":";
    write_lines(files_.texts);
    json_ += ",\n\"modules\":";
    write_lines(modules_.texts);
    json_ += ",\n\"nodes\":{";
    write_column("function", [this](const CallNode& node) { return indices_[node.function.index]; });
    json_ += ",\n";
    write_column("level", [](const CallNode& node) { return node.level; });
    json_ += ",\n";
    write_column("self", [](const CallNode& node) { return node.self; });
    json_ += ",\n";
    write_column("flags", [this](const CallNode& node) { return flags_of(node) | class_flag_of(node); });
    json_ += "}}\n";
    return json_;
  }

 private:
  // Texts in order of first use.
  struct Texts {
    int64_t index(std::string_view text) {
      auto [place, is_new] = indices.try_emplace(std::string(text), texts.size());
      if (is_new) texts.emplace_back(text);
      return static_cast<int64_t>(place->second);
    }
    std::vector<std::string> texts;
    std::unordered_map<std::string, size_t> indices;
  };

  static unsigned flags_of(const CallNode& node) {
    unsigned flags = node.inlined ? 1 : 0;
    switch (node.kind) {
      case ProfileFrame::Kind::kNative:
        return flags;
      case ProfileFrame::Kind::kJit:
        return flags | 2;
      case ProfileFrame::Kind::kKernel:
        return flags | 4;
      case ProfileFrame::Kind::kBracket:
        return flags | 6;
    }
    return flags;
  }

  unsigned class_flag_of(const CallNode& node) const {
    if (!has_lines_) return 0;
    if (node.frame_class == FrameClass::kRuntime) return 16;
    return node.frame_class == FrameClass::kLibrary ? 8 : 0;
  }

  void write_lines(const std::vector<std::string>& lines) {
    json_ += '[';
    for (const std::string& line : lines) {
      if (&line != &lines.front()) json_ += ',';
      append_json_string(json_, line);
    }
    json_ += ']';
  }

  // Numbered in order of the tree, so that frequent functions, met early, have short numbers.
  void write_functions() {
    json_ += ",\n\"functions\":[";
    std::vector<bool> written(indices_.size());
    uint32_t count = 0;
    for (const CallNode& node : tree_.nodes) {
      if (written[node.function.index]) continue;
      written[node.function.index] = true;
      indices_[node.function.index] = count;
      if (count++ > 0) json_ += ",\n";
      write_function(node);
    }
    json_ += ']';
  }

  void write_function(const CallNode& node) {
    const Function& function = profile_.names.function(node.function);
    json_ += '[';
    append_json_string(json_, profile_.names.text(function.name));
    json_ += ',';
    if (function.signature.is_none() || function.signature == function.name) {
      json_ += '0';
    } else {
      append_json_string(json_, profile_.names.text(function.signature));
    }
    int64_t file = function.file.is_none() ? -1 : files_.index(profile_.names.text(function.file));
    int64_t module = node.module.is_none() ? -1 : modules_.index(profile_.modules[node.module.index].path);
    json_ +=
        ',' + std::to_string(file) + ',' + std::to_string(function.line) + ',' + std::to_string(module) + ']';
  }

  template <class Value>
  void write_column(const char* name, Value value) {
    json_ += '"';
    json_ += name;
    json_ += "\":[";
    for (const CallNode& node : tree_.nodes) {
      if (&node != &tree_.nodes.front()) json_ += ',';
      json_ += std::to_string(value(node));
    }
    json_ += ']';
  }

  const Profile& profile_;
  const View& view_;
  CallTree tree_;
  std::vector<uint32_t> indices_;  // in the page, by function id
  const bool has_lines_;
  Texts files_;
  Texts modules_;
  std::string json_;
};

}  // namespace

void write_flamegraph(const Profile& profile, const View& view, std::ostream& out) {
  out << kPageBeforeData << PageData(profile, view).write() << kPageAfterData;
}

}  // namespace jitprof
