// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/pipeline.h"
#include "cli/reading_options.h"
#include "output/completeness.h"
#include "output/flamegraph/flamegraph.h"
#include "output/footer.h"
#include "output/format/folded.h"
#include "output/format/pprof.h"
#include "output/format/quality.h"
#include "output/format/text.h"
#include "output/format/tree.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

po::options_description describe() {
  po::options_description options("jitprof report [OPTIONS] [FILE…]\n\nOptions");
  add_reading_options(options);
  add_sniffer_options(options);
  add_frame_options(options);
  auto add = options.add_options();
  add("format,f", po::value<std::string>()->value_name("FORMAT"),
      "text, tree, folded, pprof or flamegraph (text)");
  add("output,o", po::value<std::string>()->value_name("FILE"), "where to write (standard output)");
  add("no-inline", "physical functions only");
  add("annotate", "folded: append _[i] to inlined, _[j] to JIT and _[k] to kernel frames");
  add("signatures", "functions with their parameters, where known");
  add("value", po::value<std::string>()->value_name("NAME"),
      "what to sum: samples, cpu, an event's name (samples)");
  add("pid", po::value<uint32_t>()->value_name("N"), "only this process");
  add("tid", po::value<uint32_t>()->value_name("N"), "only this thread");
  add("comm", po::value<std::string>()->value_name("NAME"), "only threads of this name");
  add("quality", "instead of a report: how many stacks are complete, why others are not, what helps");
  add("min-complete", po::value<std::string>()->value_name("PCT"),
      "exit with 1 when fewer of the stacks are complete");
  add("offset", po::value<uint64_t>()->value_name("N"), "text, tree, quality: leave out the first N lines");
  add("limit", po::value<uint64_t>()->value_name("N"), "text, tree, quality: print at most N lines (0: all)");
  return options;
}

using Writer = std::function<void(const Profile&, const View&, std::ostream&)>;

Result<Writer> find_writer(const ParsedOptions& parsed) {
  TextOptions text{.offset = parsed.find<uint64_t>("offset").value_or(0),
                   .limit = parsed.find<uint64_t>("limit").value_or(0),
                   .signatures = parsed.has("signatures")};
  FoldedOptions folded{.annotate = parsed.has("annotate"), .signatures = parsed.has("signatures")};
  using std::placeholders::_1, std::placeholders::_2, std::placeholders::_3;
  if (parsed.has("quality")) {
    if (parsed.has("format")) return Error{"--quality is a report of its own: leave out -f"};
    return Writer(std::bind(write_quality, _1, _2, text, _3));
  }
  std::string format = parsed.find<std::string>("format").value_or("text");
  if (format == "text") return Writer(std::bind(write_text, _1, _2, text, _3));
  if (format == "tree") return Writer(std::bind(write_tree, _1, _2, text, _3));
  if (format == "folded") return Writer(std::bind(write_folded, _1, _2, folded, _3));
  if (format == "pprof") return Writer(write_pprof);
  if (format == "flamegraph") return Writer(write_flamegraph);
  return Error{"there is no format '" + format + "': it is text, tree, folded, pprof or flamegraph"};
}

Result<View> read_view(const ParsedOptions& parsed, const Profile& profile) {
  View view;
  view.inlined = !parsed.has("no-inline");
  view.pid = parsed.find<uint32_t>("pid");
  view.tid = parsed.find<uint32_t>("tid");
  view.comm = parsed.find<std::string>("comm");
  if (auto name = parsed.find<std::string>("value")) view.value = JP_TRY(find_value_type(profile, *name));
  return view;
}

Status write_output(const Writer& writer, const Profile& profile, const View& view,
                    const std::optional<std::string>& path) {
  if (!path || *path == "-") {
    writer(profile, view, std::cout);
    std::cout.flush();
    return std::cout.good() ? Status(Nothing{}) : Status(Error{"cannot write to standard output"});
  }
  std::ofstream file(*path, std::ios::binary);
  if (file) writer(profile, view, file);
  file.close();
  if (!file) return Error{"cannot write '" + *path + "': " + std::strerror(errno)};
  return Nothing{};
}

void print_footer(const Profile& profile, const View& view) {
  for (const std::string& line : footer_lines(profile, view)) std::fprintf(stderr, "%s\n", line.c_str());
}

// The share of complete stacks asked for, in percent times 10,000: exact for what people write.
Result<uint64_t> parse_share(std::string text) {
  Error error{"--min-complete '" + text + "': it must be a percentage from 0 to 100, as 99, 99.5 or 95%"};
  if (text.ends_with('%')) text.pop_back();
  double percent = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (problem != std::errc() || end != text.data() + text.size() || !(percent >= 0 && percent <= 100))
    return error;
  return static_cast<uint64_t>(std::llround(percent * 10'000));
}

// The exit status. A profile without samples says nothing about its stacks, so it cannot pass.
int check_share(const Profile& profile, const View& view, const std::string& text, uint64_t share) {
  Completeness counts = count_complete(profile, view);
  if (counts.stacks == 0) return fail("--min-complete " + text + ": there are no samples to judge by");
  if (counts.complete() * 1'000'000 >= share * counts.stacks) return kOk;
  print_error(std::to_string(counts.complete()) + " of " + std::to_string(counts.stacks) +
              " stacks are complete, fewer than --min-complete " + text + "; --quality says why");
  return kGateFailed;
}

int report(const ParsedOptions& parsed) {
  // Asked first, so that a misspelt format does not cost a minute's work.
  auto writer = find_writer(parsed);
  if (!writer.ok()) return fail(writer.error().message);
  auto min_complete = parsed.find<std::string>("min-complete");
  auto share = parse_share(min_complete.value_or("0"));
  if (!share.ok()) return fail(share.error().message);
  auto options = reading_options(parsed);
  if (!options.ok()) return fail(options.error().message);
  bool is_quality = parsed.has("quality");
  // It names modules only.
  if (is_quality) options.value().names = NameDetail::kModule;
  auto loaded = load_profile(options.value());
  if (!loaded.ok()) return fail(loaded.error().message);
  const Profile& profile = loaded.value().profile;
  auto view = read_view(parsed, profile);
  if (!view.ok()) return fail(view.error().message);

  Status written = write_output(writer.value(), profile, view.value(), parsed.find<std::string>("output"));
  if (!written.ok()) return fail(written.error().message);
  // The table of --quality has these already.
  if (!is_quality) print_footer(profile, view.value());
  if (loaded.value().damage) return fail(loaded.value().damage->message);
  if (options.value().has_refused_plugins) return kFailed;
  return min_complete ? check_share(profile, view.value(), *min_complete, share.value()) : kOk;
}

}  // namespace

int run_report(const Arguments& arguments) { return run_with_options(arguments, describe(), "file", report); }

}  // namespace jitprof
