// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/jit_collector.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "unwind/jit/jitdump_coverage.h"
#include "unwind/space/address_space.h"

namespace jitprof {

// The loads that perf maps tell of. At one time a jitdump outranks a map, but for lines behind its end.
struct JitCollector::Loads {
  std::vector<JitChange> before_jitdumps;
  std::vector<JitChange> after_jitdumps;
};

void JitCollector::add(const SideFileEvent& piece) { add(piece, false); }

void JitCollector::add_file(uint32_t pid, SideFileKind kind, Bytes whole) {
  SideFileEvent piece;
  piece.pid = pid;
  piece.kind = kind;
  piece.bytes = whole;
  add(piece, true);
}

void JitCollector::add(const SideFileEvent& piece, bool is_whole) {
  FileKey key(piece.pid, piece.path);
  LookTimes times{piece.previous_look_ns, is_whole ? LookTimes::kNever : piece.time_ns};
  if (piece.kind == SideFileKind::kPerfMap) {
    read_piece(maps_.try_emplace(key).first->second, piece, times);
  } else if (piece.kind == SideFileKind::kJitDump) {
    File<JitdumpReader> unread{JitdumpReader(piece.pid, has_monotonic_times_, log_)};
    read_piece(dumps_.try_emplace(key, std::move(unread)).first->second, piece, times);
  } else if (is_jit_file(piece.kind)) {
    objects_.add(piece);
  }
}

// One at offset 0 begins the file anew, which may also be that of another process with the number.
template <class Reader>
void JitCollector::read_piece(File<Reader>& file, const SideFileEvent& piece, LookTimes times) {
  if (piece.offset == 0) {
    file.reader.begin_anew();
  } else if (piece.offset != file.next_offset) {
    file.reader.lose_bytes();
  }
  file.reader.add(piece.bytes, times);
  file.next_offset = piece.offset + piece.bytes.size();
}

JitLog JitCollector::finish() {
  for (auto& [key, file] : dumps_) file.reader.finish();
  dumps_.clear();
  objects_.finish();
  std::ranges::stable_sort(log_.changes, {}, &JitChange::time_ns);
  drop_what_objects_tell();
  std::map<uint32_t, std::vector<JitChange>> jitdumps;
  for (const JitChange& change : log_.changes) jitdumps[change.pid].push_back(change);
  Loads loads;
  for (auto& [pid, lines] : take_map_lines()) add_map_lines(pid, std::move(lines), jitdumps[pid], loads);
  std::vector<JitChange> changes = std::move(loads.before_jitdumps);
  for (const auto* more : {&log_.changes, &loads.after_jitdumps})
    changes.insert(changes.end(), more->begin(), more->end());
  std::ranges::stable_sort(changes, {}, &JitChange::time_ns);
  log_.changes = std::move(changes);
  return std::exchange(log_, JitLog());
}

// LLVM writes a jitdump of the code that it registers for GDB too; only the object has CFI and inlined
// functions.
void JitCollector::drop_what_objects_tell() {
  std::map<uint32_t, MappingLayer> objects;  // by process
  auto is_told = [&](const JitChange& change) {
    if (change.code == JitChange::kAnyCode) return false;
    MappingLayer& layer = objects[change.pid];
    bool is_load = change.kind == JitChange::Kind::kLoad;
    if (log_.codes[change.code].channel != JitCode::Channel::kGdbJit)
      return is_load && layer.find(change.start) != nullptr;
    RuntimeAddr end = change.start.plus(change.size);
    if (is_load) {
      layer.map({.start = change.start, .end = end});
    } else {
      layer.unmap(change.start, end);
    }
    return false;
  };
  std::erase_if(log_.changes, is_told);
}

std::map<uint32_t, std::vector<PerfMapEntry>> JitCollector::take_map_lines() {
  std::map<uint32_t, std::vector<PerfMapEntry>> by_process;
  for (auto& [key, file] : maps_) {
    file.reader.finish();
    for (const auto& [shortfall, count] : file.reader.shortfalls()) log_.shortfalls[shortfall] += count;
    std::vector<PerfMapEntry>& lines = by_process[key.first];
    std::ranges::move(file.reader.entries(), std::back_inserter(lines));
  }
  maps_.clear();
  return by_process;
}

void JitCollector::add_map_lines(uint32_t pid, std::vector<PerfMapEntry> lines,
                                 const std::vector<JitChange>& jitdumps, Loads& loads) {
  std::ranges::stable_sort(lines, {}, [](const PerfMapEntry& line) { return line.times.seen_ns; });
  std::vector<MapLine> verdicts = judge_map_lines(lines, jitdumps);
  bool is_uncertain = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (verdicts[i] == MapLine::kTold) continue;
    bool is_behind = verdicts[i] == MapLine::kBehindEnd;
    PerfMapEntry& line = lines[i];
    is_uncertain |= line.times.seen_ns == LookTimes::kNever;
    JitCode& code = log_.codes.emplace_back();
    code.channel = JitCode::Channel::kPerfMap;
    code.name = std::move(line.name);
    code.size = line.size;
    // Code that is reused was freed before its place was filled again, so the name may count from the look
    // that did not find it.
    uint64_t time_ns = is_behind ? std::max(line.times.from_ns, jitdumps.back().time_ns) : line.times.from_ns;
    (is_behind ? loads.after_jitdumps : loads.before_jitdumps)
        .push_back({.time_ns = time_ns,
                    .pid = pid,
                    .kind = JitChange::Kind::kLoad,
                    .code = static_cast<uint32_t>(log_.codes.size() - 1),
                    .start = line.start,
                    .size = line.size,
                    .moved_to = {}});
  }
  if (is_uncertain)
    ++log_.shortfalls["perf maps read after the run: code that was replaced may carry a later name"];
}

}  // namespace jitprof
