// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/oracle_comparison.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace jitprof::tests {
namespace {

constexpr size_t kKeptUnexplained = 5;

uint64_t hash_of_files(const Process& process, const ModuleTable& modules) {
  uint64_t hash = 0;
  for (const auto& [start, mapping] : process.space.mappings()) {
    if (!modules.module(mapping.module).elf) continue;
    for (uint64_t part : {start.value, mapping.end.value, mapping.bias.value}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    }
  }
  return hash;
}

// Where the frame was looked up: at its pc, or inside its call.
RuntimeAddr lookup_of(const KeptFrame& frame, const Process& process) {
  RuntimeAddr inside = frame.pc.minus(1);
  const Mapping* mapping = process.space.find(inside);
  RuntimeAddr position = mapping == nullptr ? RuntimeAddr{frame.frame.position.value}
                                            : mapping->bias.to_runtime(frame.frame.position);
  return position == inside ? inside : frame.pc;
}

size_t common_frames(const KeptWalk& ours, const std::vector<OracleFrame>& theirs) {
  auto same = [](const KeptFrame& left, const OracleFrame& right) { return left.pc == right.pc; };
  auto [end, _] = std::mismatch(ours.frames.begin(), ours.frames.end(), theirs.begin(), theirs.end(), same);
  return static_cast<size_t>(end - ours.frames.begin());
}

}  // namespace

const char* name_of(Agreement agreement) {
  static constexpr std::array<const char*, kAgreementCount> kNames = {"equal",
                                                                      "equal to anonymous code",
                                                                      "equal to a second mapping",
                                                                      "equal to an unmapped place",
                                                                      "equal to code without CFI",
                                                                      "libdwfl loses a popped register",
                                                                      "unexplained"};
  return kNames[static_cast<unsigned>(agreement)];
}

uint64_t OracleComparison::count(Agreement agreement) const {
  auto found = counts_.find(agreement);
  return found == counts_.end() ? 0 : found->second;
}

DwflOracle& OracleComparison::oracle_of(const Process& process) {
  uint64_t mappings = hash_of_files(process, modules_);
  KnownOracle& known = oracles_[process.id.index];
  if (!known.oracle || known.mappings != mappings) {
    known = {mappings, std::make_unique<DwflOracle>(process, modules_)};
  }
  return *known.oracle;
}

void OracleComparison::add(const Sample& sample, const Process& process) {
  if (sample.stack_count == 0 || !sample.registers.knows(Register::rip)) return;
  ++samples_;
  DwflOracle& oracle = oracle_of(process);
  KeptWalk ours = walk_sample(sample, process, unwinding_.places);
  std::vector<OracleFrame> theirs = oracle.unwind(sample);
  ++counts_[compare(ours, theirs, process, oracle)];
}

Agreement OracleComparison::compare(const KeptWalk& ours, const std::vector<OracleFrame>& theirs,
                                    const Process& process, const DwflOracle& oracle) {
  size_t common = common_frames(ours, theirs);
  frames_ += common;
  auto has_no_cfi = [&](const KeptFrame& frame) { return !oracle.has_cfi(lookup_of(frame, process)); };
  auto last = std::ranges::find_if(ours.frames, has_no_cfi);
  auto at = static_cast<size_t>(last - ours.frames.begin());
  bool rbp_is_lost = false;
  // In a recursion pcs agree although one side has skipped a frame behind code without CFI: rbp tells.
  size_t comparable = std::min(common, at + 1);
  for (size_t i = 0; i < comparable; ++i) {
    auto rbp = ours.frames[i].registers.find(Register::rbp);
    if (rbp == theirs[i].rbp) continue;
    rbp_is_lost = rbp.has_value() && !theirs[i].rbp;
    if (!rbp_is_lost) return unexplained(ours, theirs, i, process);
    break;
  }
  if (common == ours.frames.size() && common == theirs.size()) {
    if (!rbp_is_lost) return Agreement::kEqual;
    return oracle.read_below_sp() ? Agreement::kPoppedRegister : unexplained(ours, theirs, 0, process);
  }

  bool is_to_last = last != ours.frames.end();
  // Without a file libdwfl gives not even the first frame.
  if (is_to_last && (at < common || !oracle.has_files()))
    return end_without_cfi(ours, theirs, at, process, oracle);
  // Every frame of ours has CFI by libdw's account, to the root or to where the stack was cut.
  bool is_by_cfi = is_to_last || ours.stop == StopReason::kReachedRoot || ours.stop == StopReason::kTruncated;
  if (common == theirs.size() && oracle.read_below_sp() && is_by_cfi) return Agreement::kPoppedRegister;
  return unexplained(ours, theirs, common, process);
}

Agreement OracleComparison::end_without_cfi(const KeptWalk& ours, const std::vector<OracleFrame>& theirs,
                                            size_t last, const Process& process, const DwflOracle& oracle) {
  const KeptFrame& frame = ours.frames[last];
  if (last + 1 == ours.frames.size()) {
    ++ends_[jitprof::name_of(ours.stop)];
  } else {
    bool is_same = common_frames(ours, theirs) == ours.frames.size();
    ++ends_[unwinding_.sniffers.entry({ours.frames[last + 1].frame.sniffer}).name +
            (is_same ? ", as libdwfl" : "")];
  }
  const Mapping* mapping = process.space.find(lookup_of(frame, process));
  if (mapping == nullptr) return Agreement::kEqualToUnmappedPlace;
  const Module& module = modules_.module(mapping->module);
  if (module.kind == Module::Kind::kAnonymous) return Agreement::kEqualToAnonymousCode;
  if (!module.elf) return Agreement::kEqualToUnmappedPlace;
  bool is_held = oracle.has_module(lookup_of(frame, process));
  return is_held ? Agreement::kEqualToCodeWithoutCfi : Agreement::kEqualToSecondMapping;
}

Agreement OracleComparison::unexplained(const KeptWalk& ours, const std::vector<OracleFrame>& theirs,
                                        size_t at, const Process& process) {
  if (unexplained_.size() == kKeptUnexplained) return Agreement::kUnexplained;
  constexpr size_t kAround = 2;
  std::ostringstream text;
  text << "pid " << process.pid << ", frame " << at << " of " << ours.frames.size() << " and "
       << theirs.size() << ", " << jitprof::name_of(ours.stop) << "; ours";
  size_t first = at < kAround ? 0 : at - kAround;
  for (size_t i = first; i <= at + kAround && i < ours.frames.size(); ++i) {
    text << " " << place_of(ours.frames[i].pc, process);
  }
  text << "; libdwfl's";
  for (size_t i = first; i <= at + kAround && i < theirs.size(); ++i)
    text << " " << place_of(theirs[i].pc, process);
  unexplained_.push_back(text.str());
  return Agreement::kUnexplained;
}

std::string OracleComparison::place_of(RuntimeAddr pc, const Process& process) const {
  std::ostringstream text;
  const Mapping* mapping = process.space.find(pc.minus(1));
  if (mapping != nullptr) text << modules_.module(mapping->module).name() << "+";
  text << "0x" << std::hex << (mapping == nullptr ? pc.value : mapping->bias.to_elf(pc).value);
  return text.str();
}

}  // namespace jitprof::tests
