// SPDX-License-Identifier: Apache-2.0
#include "tests/symbolize/code_under_test.h"

#include <cctype>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "symbolize/demangler.h"
#include "symbolize/source_path.h"
#include "symbolize/type_spelling.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

constexpr const char* kLlvm = "llvm-symbolizer-16";

// "file:line:column"; the file may hold colons.
NamedLine parse_place(const std::string& name, const std::string& place) {
  size_t column = place.rfind(':');
  size_t line = place.rfind(':', column - 1);
  NamedLine parsed{name, place.substr(0, line), 0};
  parsed.line = static_cast<uint32_t>(std::stoul(place.substr(line + 1)));
  parsed.file = parsed.file == "??" ? "" : normalized_path(parsed.file);
  return parsed;
}

}  // namespace

Module module_of(const std::string& path) {
  Module module;
  module.path = module.file_path = path;
  Result<ElfFile> opened = ElfFile::open(path);
  if (!opened.ok()) std::fprintf(stderr, "%s\n", opened.error().message.c_str());
  JP_CHECK(opened.ok());
  module.elf.emplace(std::move(opened.value()));
  return module;
}

CodeUnderTest::CodeUnderTest(const std::string& path, const std::vector<std::string>& debug_directories)
    : module_(module_of(path)), symbols_(module_, debug_directories, names_) {}

std::vector<NamedLine> CodeUnderTest::lines_at(uint64_t position) {
  std::vector<NamedLine> lines;
  for (const SourceFrame& line : frame_at(position).lines) {
    lines.push_back(
        {std::string(names_.name(line.function)), std::string(names_.text(line.file)), line.line});
  }
  return lines;
}

std::vector<uint64_t> instructions_of(const std::string& path, const std::string& section) {
  ProgramResult result = run_program({"objdump", "-d", "--no-show-raw-insn", "-j", section, path});
  JP_CHECK(result.status == 0);
  std::vector<uint64_t> positions;
  std::istringstream listing(result.out);
  for (std::string text; std::getline(listing, text);) {
    size_t start = text.find_first_not_of(' ');
    size_t colon = text.find(":\t");
    if (start == 0 || start == std::string::npos || colon == std::string::npos) continue;
    uint64_t position = 0;
    if (std::from_chars(text.data() + start, text.data() + colon, position, 16).ptr == text.data() + colon) {
      positions.push_back(position);
    }
  }
  return positions;
}

std::vector<std::vector<NamedLine>> llvm_lines(const std::string& path,
                                               const std::vector<uint64_t>& positions) {
  TempDir folder;
  std::string input;
  char number[24];
  for (uint64_t position : positions) {
    std::snprintf(number, sizeof number, "0x%" PRIx64 "\n", position);
    input += number;
  }
  std::string file = folder.write("positions", input);
  ProgramResult result = run_program(
      {"sh", "-c", std::string(kLlvm) + " --no-demangle --inlines --obj=\"$0\" < \"$1\"", path, file});
  JP_CHECK(result.status == 0);
  std::vector<std::vector<NamedLine>> all(1);
  std::istringstream listing(result.out);
  for (std::string name, place; std::getline(listing, name);) {
    if (name.empty()) {
      all.emplace_back();
    } else if (std::getline(listing, place)) {
      all.back().push_back(parse_place(name, place));
    }
  }
  all.resize(positions.size());
  return all;
}

std::string last_component(std::string_view name) {
  name = without_clone_suffix(name);
  std::string demangled = demangle(name).name;
  std::string_view text = demangled.empty() ? name : std::string_view(demangled);
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (depth == 0 && text.substr(i).starts_with("operator") && i == start && i + 8 < text.size() &&
        !std::isalnum(static_cast<unsigned char>(text[i + 8])) && text[i + 8] != '_') {
      break;
    }
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0 && c == ':' && text.substr(i).starts_with("::")) start = i + 2;
  }
  std::string_view last = name_before_arguments(text.substr(start));
  return std::string(last.substr(0, last.find('[')));
}

}  // namespace jitprof::tests
