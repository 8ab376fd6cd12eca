// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <cctype>
#include <cstdio>
#include <iostream>

#include "cli/exit_status.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

bool takes_value(const std::string& word, const po::options_description& description) {
  if (word.find('=') != std::string::npos) return false;
  bool is_long = word.starts_with("--");
  // "-F999" carries its value, "-F 999" does not.
  if (!is_long && word.size() > 2) return false;
  const std::string name = is_long ? word.substr(2) : word;
  const po::option_description* option = description.find_nothrow(name, false);
  return option != nullptr && option->semantic()->max_tokens() > 0;
}

// No option takes a number below zero, and Boost would read -1 as 18446744073709551615.
std::optional<Error> find_negative(const po::parsed_options& words) {
  for (const po::option& option : words.options) {
    for (const std::string& value : option.value) {
      bool is_negative =
          value.size() > 1 && value[0] == '-' && std::isdigit(static_cast<unsigned char>(value[1]));
      if (is_negative)
        return Error{"--" + option.string_key + " " + value +
                     ": no number below 0 is allowed here; --help tells which are"};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<ParsedOptions> parse_options(const Arguments& arguments, const po::options_description& description,
                                    const char* positional) {
  ParsedOptions parsed;
  try {
    po::positional_options_description places;
    places.add(positional, -1);
    po::parsed_options words =
        po::command_line_parser(arguments).options(description).positional(places).style(kStyle).run();
    if (auto problem = find_negative(words)) return *problem;
    po::store(words, parsed.values);
    parsed.help = parsed.has("help");
    if (!parsed.help) po::notify(parsed.values);
  } catch (const po::error& problem) {
    return Error{std::string(problem.what()) + "; --help lists the options"};
  }
  return parsed;
}

SplitArguments split_program(const Arguments& arguments, const po::options_description& description) {
  SplitArguments split;
  size_t i = 0;
  for (; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word.size() < 2 || word[0] != '-') break;
    split.own.push_back(word);
    if (takes_value(word, description) && i + 1 < arguments.size()) split.own.push_back(arguments[++i]);
  }
  split.program.assign(arguments.begin() + std::min(i, arguments.size()), arguments.end());
  return split;
}

void print_error(const std::string& message) { std::fprintf(stderr, "jitprof: %s\n", message.c_str()); }

int fail(const std::string& message) {
  print_error(message);
  return kFailed;
}

int run_with_options(const Arguments& arguments, const po::options_description& description,
                     const char* positional, int (*command)(const ParsedOptions&)) {
  auto parsed = parse_options(arguments, description, positional);
  if (!parsed.ok()) return fail(parsed.error().message);
  if (parsed.value().help) {
    std::cout << description;
    return kOk;
  }
  return command(parsed.value());
}

}  // namespace jitprof
