// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jitprof {

// One subcommand each: takes what follows its name, does the work, prints, and gives the exit status.
using Arguments = std::vector<std::string>;

int run_record(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_script(const Arguments& arguments);
int run_info(const Arguments& arguments);
int run_doctor(const Arguments& arguments);

}  // namespace jitprof
