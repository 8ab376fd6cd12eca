// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/module.h"

namespace jitprof {

const char* describe(Module::Problem problem) {
  switch (problem) {
    case Module::Problem::kNone:
      return "";
    case Module::Problem::kMissing:
      return "the file is not there (--symfs DIR finds it below DIR)";
    case Module::Problem::kUnreadable:
      return "the file is not a readable ELF file";
    case Module::Problem::kOtherBuildId:
      return "the file there is another build than the one recorded (--symfs DIR finds others below DIR)";
  }
  return "";
}

}  // namespace jitprof
