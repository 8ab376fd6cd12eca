// SPDX-License-Identifier: Apache-2.0
#include "symbolize/source_path.h"

#include <vector>

namespace jitprof {

std::string joined_path(std::string_view directory, std::string_view path) {
  if (directory.empty() || path.starts_with('/')) return std::string(path);
  if (path.empty()) return std::string(directory);
  std::string joined(directory);
  if (!joined.ends_with('/')) joined += '/';
  joined += path;
  return joined;
}

std::string normalized_path(std::string_view path) {
  bool is_absolute = path.starts_with('/');
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !is_absolute) {
      parts.push_back(part);
    }
  }
  std::string normalized;
  for (std::string_view part : parts) {
    if (is_absolute || !normalized.empty()) normalized += '/';
    normalized += part;
  }
  return normalized;
}

}  // namespace jitprof
