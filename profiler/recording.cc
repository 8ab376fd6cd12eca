// SPDX-License-Identifier: Apache-2.0
#include "profiler/recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "profiler/chunk_source.h"
#include "profiler/format.h"
#include "profiler/perf_data_source.h"
#include "profiler/source.h"

namespace jitprof {
namespace {

// What a pipe may bring; a file of any size is mapped, not read.
constexpr uint64_t kMaxPipeBytes = uint64_t{8} << 30;

Result<MappedFile> read_standard_input() {
  struct stat status;
  if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) return MappedFile::open("/dev/stdin");
  std::vector<std::byte> bytes;
  uint64_t size = 0;
  while (true) {
    if (size == bytes.size()) bytes.resize(std::max<uint64_t>(1u << 20, 2 * size));
    ssize_t got = read(STDIN_FILENO, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{std::string("cannot read standard input: ") + std::strerror(errno)};
    if (got == 0) break;
    size += got;
    if (size > kMaxPipeBytes)
      return Error{"standard input brings more than 8 GiB: write the recording to a file first"};
  }
  bytes.resize(size);
  return MappedFile::from_memory(std::move(bytes));
}

bool begins_with(Bytes file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

// What a file that is no recording looks like, so that a mixed-up name is noticed.
std::string_view kind_of(Bytes file) {
  using std::string_view_literals::operator""sv;
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"\x7f"
       "ELF"sv,
       "an ELF file"},
      {"\x1f\x8b"sv, "a gzip file (a pprof profile?)"},
      {"\x28\xb5\x2f\xfd"sv, "a zstd file"},
      {"\xfd"
       "7zXZ"sv,
       "an xz file"},
      {"PK\x03\x04"sv, "a zip file"},
      {"DTiJ"sv, "a jitdump"},
      {"{"sv, "JSON"},
      {"<"sv, "HTML or XML"},
  };
  for (auto [magic, kind] : kKinds) {
    if (begins_with(file, magic)) return kind;
  }
  auto is_text = [](std::byte byte) {
    auto code = std::to_integer<unsigned>(byte);
    return (code >= 0x20 && code != 0x7f) || code == '\n' || code == '\t' || code == '\r';
  };
  Bytes start = file.first(std::min<size_t>(file.size(), 512));
  return std::ranges::all_of(start, is_text) ? "text" : "something else";
}

}  // namespace

Result<Recording> Recording::open(const std::string& path, WorkerPool* helpers) {
  if (path == "-") return parse(JP_TRY(read_standard_input()), "standard input", helpers);
  return parse(JP_TRY(MappedFile::open(path)), path, helpers);
}

Result<Recording> Recording::parse(MappedFile file, const std::string& name, WorkerPool* helpers) {
  Bytes bytes = file.bytes();
  if (bytes.empty()) return Error{"'" + name + "' is empty"};
  if (begins_with(bytes, {format::kMagic, sizeof format::kMagic})) {
    return Recording(JP_TRY(ChunkSource::open(std::move(file), name, helpers)));
  }
  if (begins_with(bytes, "PERFILE2")) return Recording(JP_TRY(PerfDataSource::open(std::move(file), name)));
  if (begins_with(bytes, "PERFFILE")) {
    return Error{"'" + name +
                 "' is a perf.data of the first version, as perf before Linux 2.6.34 wrote it: record anew"};
  }
  if (begins_with(bytes, "2ELIFREP") || begins_with(bytes, "ELIFFREP")) {
    return Error{
        "'" + name +
        "' is a perf.data of a machine of the other byte order: only recordings of x86_64 can be read"};
  }
  return Error{"'" + name + "' is neither a jitprof recording nor a perf.data, it looks like " +
               std::string(kind_of(bytes))};
}

Recording::Recording(std::unique_ptr<Source> source) : source_(std::move(source)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

const RecordingHeader& Recording::header() const { return source_->header(); }
Result<const Event*> Recording::next(Earlier earlier) { return source_->next(earlier); }
const std::map<std::string, uint64_t>& Recording::shortfalls() const { return source_->shortfalls(); }

}  // namespace jitprof
