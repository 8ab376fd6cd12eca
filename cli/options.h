// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"

namespace jitprof {

// A parsed command line. With `help` set the text was asked for and nothing else counts.
struct ParsedOptions {
  boost::program_options::variables_map values;
  bool help = false;

  bool has(const char* name) const { return values.count(name) > 0; }
  template <class T>
  std::optional<T> find(const char* name) const {
    if (!has(name)) return std::nullopt;
    return values[name].as<T>();
  }
  std::vector<std::string> list(const char* name) const {
    return find<std::vector<std::string>>(name).value_or(std::vector<std::string>{});
  }
};

// Parses options and positional arguments, which go to the option named `positional`. Abbreviated options are
// refused: a script must not break when an option is added.
Result<ParsedOptions> parse_options(const Arguments& arguments,
                                    const boost::program_options::options_description& description,
                                    const char* positional);

// Cuts a command line like "-F 99 -- prog -x" or "-F 99 prog -x" before the program: everything from the
// first word that is neither an option nor an option's value is the program's.
struct SplitArguments {
  Arguments own;
  Arguments program;
};
SplitArguments split_program(const Arguments& arguments,
                             const boost::program_options::options_description& description);

// Prints "jitprof: MESSAGE" on stderr.
void print_error(const std::string& message);
// The same, and gives kFailed.
int fail(const std::string& message);

// What every reading command does first: parses, prints the help that was asked for or what is wrong with the
// command line, and else runs `command`. Gives the exit status.
int run_with_options(const Arguments& arguments,
                     const boost::program_options::options_description& description, const char* positional,
                     int (*command)(const ParsedOptions&));

}  // namespace jitprof
