// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jitprof {

// What a command of jitprof ends with; README lists them. `record` has the target's own status instead.
// kGateFailed: the work was done, and --min-complete was not met.
enum ExitStatus { kOk = 0, kGateFailed = 1, kFailed = 2, kRecordFailed = 125 };

}  // namespace jitprof
