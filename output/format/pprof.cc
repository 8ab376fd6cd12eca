// SPDX-License-Identifier: Apache-2.0
#include "output/format/pprof.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.h"
#include "output/format/gzip.h"
#include "output/format/pprof_layout.h"
#include "output/format/protobuf_writer.h"
#include "output/format/utf8.h"

namespace jitprof {
namespace {

// Field numbers of google/pprof's proto/profile.proto, by message.
namespace field {
enum ProfileField : uint32_t {
  kSampleType = 1,
  kSample,
  kMapping,
  kLocation,
  kFunction,
  kStringTable,
  kDropFrames,
  kKeepFrames,
  kTimeNanos,
  kDurationNanos,
  kPeriodType,
  kPeriod,
  kComment,
  kDefaultSampleType
};
enum ValueTypeField : uint32_t { kType = 1, kUnit };
enum SampleField : uint32_t { kLocationId = 1, kValue, kLabel };
enum LabelField : uint32_t { kKey = 1, kStr, kNum };
enum MappingField : uint32_t {
  kMappingId = 1,
  kMemoryStart,
  kMemoryLimit,
  kFileOffset,
  kFilename,
  kBuildId,
  kHasFunctions,
  kHasFilenames,
  kHasLineNumbers,
  kHasInlineFrames
};
enum LocationField : uint32_t { kLocationIdOfLocation = 1, kMappingIdOfLocation, kAddress, kLine };
enum LineField : uint32_t { kFunctionId = 1, kLineNumber, kColumn };
enum FunctionField : uint32_t { kFunctionIdOfFunction = 1, kName, kSystemName, kFile, kStartLine };
}  // namespace field

// One sample of the file: rows of one stack and thread, a value for each value type.
struct Sum {
  StackId stack;
  ProfileThreadId thread;
  std::vector<uint64_t> values;
};

// What makes two functions one, as indices into the file's string table.
struct FunctionTexts {
  uint64_t name = 0;
  uint64_t system_name = 0;
  uint64_t file = 0;
  auto operator<=>(const FunctionTexts&) const = default;
};

class PprofWriter {
 public:
  PprofWriter(const Profile& profile, const View& view) : profile_(profile), view_(view) {
    strings_.intern("");
  }

  const std::string& write() {
    for (const ValueType& type : profile_.value_types) write_value_type(field::kSampleType, type);
    std::vector<Sum> sums = sum_rows();
    std::vector<ProfileFrameId> used = number_frames(sums);
    for (const Sum& sum : sums) write_sample(sum);
    layout_ = lay_out_for_pprof(profile_, used);
    for (size_t index = 0; index < layout_.mappings.size(); ++index) write_mapping(index + 1);
    for (ProfileFrameId id : used) write_location(id);
    write_functions();
    write_header();
    // Last, when every text has been asked for.
    for (uint32_t index = 0; index < strings_.size(); ++index) {
      file_.text(field::kStringTable, strings_.text({index}));
    }
    return file_.bytes();
  }

 private:
  // Strict readers refuse a whole file for one text that is no UTF-8.
  uint64_t text(std::string_view text) { return strings_.intern(to_utf8(text)).index; }
  uint64_t text(StringId id) { return text(profile_.names.text(id)); }

  void write_value_type(uint32_t number, const ValueType& type) {
    part_.clear();
    part_.number(field::kType, text(type.name));
    part_.number(field::kUnit, text(type.unit));
    file_.message(number, part_);
  }

  std::vector<Sum> sum_rows() const {
    std::vector<Sum> sums;
    std::unordered_map<uint64_t, size_t> places;
    for (const ProfileRow& row : profile_.rows) {
      if (!view_.passes(profile_, row)) continue;
      uint64_t key = static_cast<uint64_t>(row.stack.index) << 32 | row.thread.index;
      auto [place, is_new] = places.try_emplace(key, sums.size());
      if (is_new) sums.push_back({row.stack, row.thread, std::vector<uint64_t>(profile_.value_types.size())});
      std::vector<uint64_t>& values = sums[place->second].values;
      for (size_t index = 0; index < values.size(); ++index)
        values[index] += value_of(profile_.value_types[index], row);
    }
    std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
      return std::tie(a.stack, a.thread) < std::tie(b.stack, b.thread);
    });
    return sums;
  }

  // Locations are numbered in order of first use, and stand in the file in that order.
  std::vector<ProfileFrameId> number_frames(const std::vector<Sum>& sums) {
    std::vector<ProfileFrameId> used;
    location_ids_.resize(profile_.frames.size());
    std::vector<bool> seen(profile_.stacks.size());
    for (const Sum& sum : sums) {
      for (StackId at = sum.stack; !at.is_none() && !seen[at.index]; at = profile_.stacks[at.index].caller) {
        seen[at.index] = true;
        uint64_t& id = location_ids_[profile_.stacks[at.index].frame.index];
        if (id != 0) continue;
        used.push_back(profile_.stacks[at.index].frame);
        id = used.size();
      }
    }
    return used;
  }

  void write_sample(const Sum& sum) {
    ids_.clear();
    for (StackId at = sum.stack; !at.is_none(); at = profile_.stacks[at.index].caller) {
      ids_.push_back(location_ids_[profile_.stacks[at.index].frame.index]);
    }
    part_.clear();
    part_.numbers(field::kLocationId, ids_);
    part_.numbers(field::kValue, sum.values);
    const ProfileThread& thread = profile_.threads[sum.thread.index];
    add_label("pid", field::kNum, thread.pid);
    add_label("tid", field::kNum, thread.tid);
    add_label("comm", field::kStr, text(thread.comm));
    file_.message(field::kSample, part_);
  }

  void add_label(std::string_view key, uint32_t kind, uint64_t value) {
    inner_.clear();
    inner_.number(field::kKey, text(key));
    inner_.number(kind, value);
    part_.message(field::kLabel, inner_);
  }

  void write_mapping(uint64_t id) {
    const PprofLayout::Mapping& mapping = layout_.mappings[id - 1];
    part_.clear();
    part_.number(field::kMappingId, id);
    part_.number(field::kMemoryStart, mapping.start);
    part_.number(field::kMemoryLimit, mapping.limit);
    part_.number(field::kFileOffset, mapping.file_offset);
    part_.number(field::kFilename, text(mapping.file));
    part_.number(field::kBuildId, text(mapping.build_id));
    // All is named that can be: without these flags pprof would name it once more, from the files it finds
    // here.
    for (uint32_t flag = field::kHasFunctions; flag <= field::kHasInlineFrames; ++flag) part_.number(flag, 1);
    file_.message(field::kMapping, part_);
  }

  void write_location(ProfileFrameId id) {
    const ProfileFrame& frame = profile_.frames[id.index];
    const PprofLayout::Place& place = layout_.places[id.index];
    part_.clear();
    part_.number(field::kLocationIdOfLocation, location_ids_[id.index]);
    part_.number(field::kMappingIdOfLocation, place.mapping_id);
    part_.number(field::kAddress, place.position);
    for (size_t index = view_.inlined ? 0 : frame.lines.size() - 1; index < frame.lines.size(); ++index) {
      const SourceFrame& line = frame.lines[index];
      inner_.clear();
      inner_.number(field::kFunctionId, function_id(line.function));
      inner_.number(field::kLineNumber, line.line);
      inner_.number(field::kColumn, line.column);
      part_.message(field::kLine, inner_);
    }
    file_.message(field::kLocation, part_);
  }

  // Functions are told apart by what pprof tells them apart by.
  uint64_t function_id(FunctionId id) {
    const Function& function = profile_.names.function(id);
    FunctionTexts texts;
    texts.name = text(function.name);
    // Never a demangled name: pprof takes one for mangled and cuts templates and parameters off.
    texts.system_name = text(function.linkage_name);
    texts.file = text(function.file);
    auto [place, is_new] = function_ids_.try_emplace(texts, functions_.size() + 1);
    if (is_new) functions_.emplace_back(texts, function.line);
    return place->second;
  }

  void write_functions() {
    for (size_t index = 0; index < functions_.size(); ++index) {
      const auto& [texts, line] = functions_[index];
      part_.clear();
      part_.number(field::kFunctionIdOfFunction, index + 1);
      part_.number(field::kName, texts.name);
      part_.number(field::kSystemName, texts.system_name);
      part_.number(field::kFile, texts.file);
      part_.number(field::kStartLine, line);
      file_.message(field::kFunction, part_);
    }
  }

  void write_header() {
    file_.number(field::kTimeNanos, profile_.start_wall_ns);
    file_.number(field::kDurationNanos, profile_.duration_ns);
    // The first event's periods: what a reader wants to see first.
    auto first = std::find_if(profile_.value_types.begin(), profile_.value_types.end(),
                              [](const ValueType& type) { return type.by_period; });
    if (first != profile_.value_types.end()) {
      write_value_type(field::kPeriodType, *first);
      file_.number(field::kPeriod, profile_.sample_period);
      file_.number(field::kDefaultSampleType, text(first->name));
    }
    if (!profile_.command.empty()) file_.number(field::kComment, text("command: " + profile_.command));
    if (profile_.lost > 0)
      file_.number(field::kComment, text("lost records: " + std::to_string(profile_.lost)));
  }

  const Profile& profile_;
  const View& view_;
  ProtobufWriter file_;
  ProtobufWriter part_;   // the message in `file_` being written
  ProtobufWriter inner_;  // the message in `part_` being written
  Interner strings_;
  PprofLayout layout_;
  std::vector<uint64_t> location_ids_;  // by frame id; 0: not used
  std::map<FunctionTexts, uint64_t> function_ids_;
  std::vector<std::pair<FunctionTexts, uint32_t>> functions_;  // by id - 1, with the line of declaration
  std::vector<uint64_t> ids_;
};

}  // namespace

void write_pprof(const Profile& profile, const View& view, std::ostream& out) {
  write_gzip(PprofWriter(profile, view).write(), out);
}

}  // namespace jitprof
