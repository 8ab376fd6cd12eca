// SPDX-License-Identifier: Apache-2.0

// Any bytes as a jitdump: must end, within bounded memory, without a crash, and say only what makes sense.
// The first byte chooses where the file is cut into two pieces, and whether a valid header is put in front.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/result.h"
#include "unwind/jit/jitdump.h"

namespace jitprof {
namespace {

std::vector<std::byte> with_header(Bytes records, bool is_v8) {
  jitdump::FileHeader head{
      jitdump::kMagic, jitdump::kVersion, sizeof head, 62, is_v8 ? jitdump::kV8Pad : 0, 1, 2, 0};
  std::vector<std::byte> file(sizeof head);
  std::memcpy(file.data(), &head, sizeof head);
  file.insert(file.end(), records.begin(), records.end());
  return file;
}

void check(const JitLog& log, size_t file_size) {
  size_t kept = 0;
  for (const JitCode& code : log.codes) {
    kept += code.name.size() + code.bytes.size() + code.eh_frame.size() + code.lines.size();
    for (const JitLine& line : code.lines) JP_CHECK(line.offset < code.size && line.file < code.files.size());
  }
  JP_CHECK(kept <= file_size);
  for (const JitChange& change : log.changes) {
    JP_CHECK(change.size > 0 && change.start.value + change.size >= change.size);
    JP_CHECK(change.kind != JitChange::Kind::kLoad || log.codes.at(change.code).size == change.size);
  }
}

}  // namespace
}  // namespace jitprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jitprof;
  if (size == 0) return 0;
  Bytes rest = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<std::byte> file(rest.begin(), rest.end());
  if ((data[0] & 1) != 0) file = with_header(rest, (data[0] & 2) != 0);
  size_t cut = std::min<size_t>(file.size(), (data[0] >> 2) * 8u);
  JitLog log;
  JitdumpReader reader(1, true, log);
  reader.add(Bytes(file).first(cut), {1000, 2000});
  reader.add(Bytes(file).subspan(cut), {2000, 3000});
  reader.finish();
  check(log, file.size());
  return 0;
}
