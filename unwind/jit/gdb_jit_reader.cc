// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/gdb_jit_reader.h"

#include "unwind/jit/gdb_jit_object.h"

namespace jitprof {
namespace {

// The recorder copies none that is larger.
constexpr uint64_t kMaxObjectBytes = 64u << 20;

}  // namespace

void GdbJitReader::add(const SideFileEvent& piece) {
  ObjectKey key(piece.pid, piece.path);
  if (piece.kind == SideFileKind::kGdbJitGone) {
    unload(key, piece.time_ns);
    return;
  }
  Object& object = objects_[key];
  if (piece.offset == 0) object = Object{.whole_size = piece.whole_size};
  bool is_next = piece.offset == object.bytes.size() && object.whole_size == piece.whole_size &&
                 object.whole_size <= kMaxObjectBytes &&
                 piece.bytes.size() <= object.whole_size - object.bytes.size();
  if (!is_next || !object.loads.empty()) return;
  object.bytes.insert(object.bytes.end(), piece.bytes.begin(), piece.bytes.end());
  if (object.bytes.size() == object.whole_size) load(object, piece);
}

void GdbJitReader::load(Object& object, const SideFileEvent& last_piece) {
  auto read = read_gdb_jit_object(std::move(object.bytes), last_piece.path);
  object.bytes.clear();
  object.whole_size = 0;
  if (!read.ok()) {
    ++log_.shortfalls["objects of the GDB JIT interface that could not be read"];
    return;
  }
  for (const auto& [shortfall, count] : read.value().shortfalls) log_.shortfalls[shortfall] += count;
  log_.codes.push_back(std::move(read.value().code));
  for (const GdbJitObject::CodeRange& range : read.value().code_ranges) {
    // It may have run ever since nobody looked.
    object.loads.push_back({.time_ns = last_piece.previous_look_ns,
                            .pid = last_piece.pid,
                            .kind = JitChange::Kind::kLoad,
                            .code = static_cast<uint32_t>(log_.codes.size() - 1),
                            .start = range.start,
                            .size = range.size,
                            .moved_to = {}});
  }
  log_.changes.insert(log_.changes.end(), object.loads.begin(), object.loads.end());
}

void GdbJitReader::unload(const ObjectKey& key, uint64_t time_ns) {
  auto found = objects_.find(key);
  if (found == objects_.end()) return;
  for (JitChange change : found->second.loads) {
    change.kind = JitChange::Kind::kUnload;
    change.time_ns = time_ns;
    log_.changes.push_back(change);
  }
  objects_.erase(found);
}

void GdbJitReader::finish() {
  for (const auto& [key, object] : objects_) {
    if (!object.bytes.empty())
      ++log_.shortfalls["objects of the GDB JIT interface that were not copied whole"];
  }
  objects_.clear();
}

}  // namespace jitprof
