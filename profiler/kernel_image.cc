// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_image.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/event.h"
#include "profiler/fd.h"
#include "profiler/machine_limits.h"
#include "profiler/record_writers.h"
#include "profiler/side_band.h"

namespace jitprof {
namespace {

// 10 times what a distribution's kernel has.
constexpr size_t kMaxSymbolBytes = 256u << 20;

std::string read_symbols() {
  std::string text;
  Fd file(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  // A read gives a page at most, so there are thousands.
  std::vector<char> page(64u << 10);
  ssize_t got;
  while (file.is_open() && text.size() < kMaxSymbolBytes &&
         (got = read(file.number(), page.data(), page.size())) > 0) {
    text.append(page.data(), static_cast<size_t>(got));
  }
  return text;
}

// "ffffffff81000000 T _stext": 0 when there is no such symbol or its place is hidden.
uint64_t find_symbol(std::string_view text, const std::string& name) {
  for (const char* kind : {" T ", " t ", " D ", " R ", " A "}) {
    size_t found = text.find(kind + name + "\n");
    if (found == std::string_view::npos) continue;
    size_t line = text.rfind('\n', found) + 1;  // npos + 1 is the start of the text
    uint64_t place = 0;
    std::from_chars(text.data() + line, text.data() + found, place, 16);
    return place;
  }
  return 0;
}

void write_mapping(RecordingWriter& writer, uint64_t time_ns, uint64_t start, uint64_t size,
                   std::string_view name) {
  Mapping mapping;
  mapping.pid = UINT32_MAX;
  mapping.start = start;
  mapping.size = size;
  mapping.protection = PROT_READ | PROT_EXEC;
  mapping.path = name;
  write_kernel_record(writer, make_mapping(mapping, PERF_RECORD_MISC_KERNEL), time_ns,
                      format::KernelRecord::kSnapshot);
}

// Lines "ext4 1007616 1 - Live 0xffffffffc0a00000".
void write_kernel_modules(RecordingWriter& writer, uint64_t time_ns) {
  std::string text = read_small_file("/proc/modules").value_or("");
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    char name[65] = "";
    uint64_t size = 0;
    uint64_t start = 0;
    if (std::sscanf(line.c_str(), "%64s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &start) != 3)
      continue;
    if (start != 0) write_mapping(writer, time_ns, start, size, "[" + std::string(name) + "]");
  }
}

}  // namespace

void write_kernel_image(RecordingWriter& writer, uint64_t time_ns) {
  std::string symbols = read_symbols();
  uint64_t start = find_symbol(symbols, "_stext");
  uint64_t end = find_symbol(symbols, "_etext");
  // kptr_restrict shows zeros.
  if (start == 0 || end <= start) return;
  write_mapping(writer, time_ns, start, end - start, "[kernel.kallsyms]_text");
  write_kernel_modules(writer, time_ns);
  SideFileEvent event;
  event.time_ns = time_ns;
  event.kind = SideFileKind::kKallsyms;
  event.path = "/proc/kallsyms";
  event.bytes = std::as_bytes(std::span(symbols.data(), symbols.size()));
  write_side_file(writer, event);
}

void write_vdso(RecordingWriter& writer, uint64_t time_ns) {
  uint64_t start = getauxval(AT_SYSINFO_EHDR);
  std::string maps = read_small_file("/proc/self/maps").value_or("");
  size_t name = maps.find("[vdso]");
  if (start == 0 || name == std::string::npos) return;
  size_t line = maps.rfind('\n', name) + 1;
  uint64_t first = 0;
  uint64_t end = 0;
  if (std::sscanf(maps.c_str() + line, "%" SCNx64 "-%" SCNx64, &first, &end) != 2 || first != start) return;
  SideFileEvent event;
  event.time_ns = time_ns;
  event.kind = SideFileKind::kVdso;
  event.path = "[vdso]";
  event.bytes = {reinterpret_cast<const std::byte*>(start), end - start};
  write_side_file(writer, event);
}

}  // namespace jitprof
