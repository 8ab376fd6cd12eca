// SPDX-License-Identifier: Apache-2.0
// report-text FORMAT: a text profile (text_profile.h) from standard input, as flamegraph, pprof, folded, text
// or tree on standard output. The page tests make their pages with it.
#include <iostream>
#include <iterator>
#include <string>

#include "output/flamegraph/flamegraph.h"
#include "output/format/folded.h"
#include "output/format/pprof.h"
#include "output/format/text.h"
#include "output/format/tree.h"
#include "tests/output/text_profile.h"

int main(int argc, char** argv) {
  using namespace jitprof;
  std::string format = argc == 2 ? argv[1] : "";
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  Profile profile = tests::parse_text_profile(text);
  profile.command = "./sample --text";
  View view;
  if (format == "flamegraph")
    write_flamegraph(profile, view, std::cout);
  else if (format == "pprof")
    write_pprof(profile, view, std::cout);
  else if (format == "folded")
    write_folded(profile, view, {.annotate = true}, std::cout);
  else if (format == "text")
    write_text(profile, view, {}, std::cout);
  else if (format == "tree")
    write_tree(profile, view, {}, std::cout);
  else
    return 2;
  return std::cout.good() ? 0 : 1;
}
