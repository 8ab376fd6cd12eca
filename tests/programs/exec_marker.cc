// SPDX-License-Identifier: Apache-2.0
// exec: the same process runs a first image in one marker, then itself under another name (a hard link
// SELF_again, which it leaves behind for the reader of a recording) at other addresses in another marker.
// Usage: exec_marker [CPU_SECONDS in all]; prints nothing but errors.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "marker.h"

extern "C" KEEP void marker_before_exec(double seconds) { SPIN_SECONDS(seconds); }
extern "C" KEEP void marker_after_exec(double seconds) { SPIN_SECONDS(seconds); }

int main(int argc, char** argv) {
  const char* seconds = argc > 1 ? argv[1] : "1";
  if (argc > 2) {
    marker_after_exec(std::atof(seconds) / 2);
    return 0;
  }
  marker_before_exec(std::atof(seconds) / 2);
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 1;
  const std::string again = std::string(self, static_cast<std::size_t>(length)) + "_again";
  unlink(again.c_str());
  self[length] = '\0';
  if (link(self, again.c_str()) != 0) {
    std::perror(again.c_str());
    return 1;
  }
  execl(again.c_str(), again.c_str(), seconds, "again", static_cast<char*>(nullptr));
  std::perror(again.c_str());
  return 1;
}
