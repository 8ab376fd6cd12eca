// SPDX-License-Identifier: Apache-2.0
#include "symbolize/running_kernel.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace jitprof {

std::string symbols_of_running_kernel(const std::string& release, std::string_view symbol,
                                      RuntimeAddr place) {
  utsname running{};
  if (uname(&running) != 0 || release != running.release || place == RuntimeAddr{0}) return "";
  std::ostringstream content;
  content << std::ifstream("/proc/kallsyms").rdbuf();
  std::string text = content.str();
  // "ffffffff81000000 T _text"
  size_t line_end = text.find(" " + std::string(symbol) + "\n");
  if (line_end == std::string::npos) return "";
  size_t line = text.rfind('\n', line_end) + 1;
  return std::strtoull(text.c_str() + line, nullptr, 16) == place.value ? text : "";
}

}  // namespace jitprof
