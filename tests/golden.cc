// SPDX-License-Identifier: Apache-2.0
#include "tests/golden.h"

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/result.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

std::string golden_difference(const std::string& name, const std::string& text) {
  std::string path = std::string(JP_SOURCE_ROOT "/tests/") + name;
  const char* bless = std::getenv("BLESS");
  if (bless != nullptr && std::string_view(bless) == "1") {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    JP_CHECK(file.good());
    return "";
  }
  if (read_file(path) == text) return "";
  TempDir dir;
  ProgramResult diff = run_program({"diff", "-u", "-a", "--new-file", path, dir.write("actual", text)});
  return diff.out + diff.err + "(BLESS=1 takes the new text)\n";
}

}  // namespace jitprof::tests
