// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "symbolize/demangler.h"
#include "symbolize/flat_intervals.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/source_path.h"
#include "symbolize/type_spelling.h"
#include "tests/catch.h"

namespace jitprof {

TEST_CASE("demangling keeps template arguments and drops parameters and return types") {
  auto name = [](const char* mangled) { return demangle(mangled).name; };
  CHECK(name("_Z3fooImEvT_") == "foo<unsigned long>");
  CHECK(demangle("_Z3fooImEvT_").signature == "void foo<unsigned long>(unsigned long)");
  CHECK(name("_ZZ4mainENKUliE_clEi") == "main::{lambda(int)#1}::operator()");
  CHECK(name("_ZZN1A3fooEiENKUlvE_clEv") == "A::foo::{lambda()#1}::operator()");
  CHECK(name("_ZN1AcvT_IiEEv") == "A::operator int<int>");
  CHECK(name("_ZNK1AcvbEv") == "A::operator bool");
  CHECK(name("_ZN1A1fB5cxx11Ev") == "A::f[abi:cxx11]");
  CHECK(name("_ZThn16_N1A1fEv") == "non-virtual thunk to A::f");
  CHECK(name("_ZN12_GLOBAL__N_11fEv") == "(anonymous namespace)::f");
  // A member of a std::function that holds a function type keeps its parentheses.
  CHECK(name("_ZNSt17_Function_handlerIFvvEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data") ==
        "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke");
  // libiberty's component interface alone cannot read clang's "sr".
  CHECK(name("_ZSt9__fill_a1IPiiEN9__gnu_cxx11__enable_ifIXsr11__is_scalarIT0_EE7__valueEvE6__typeET_S6_"
             "RKS3_") == "std::__fill_a1<int*, int>");
}

TEST_CASE("Rust and D names are read, and what is not mangled is not") {
  CHECK(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE").name == "core::fmt::Write::write_fmt");
  CHECK(demangle("_RNvCs1234_7mycrate3foo").name == "mycrate::foo");
  CHECK(demangle("_D3app4mainFZv").name == "app.main");
  CHECK(demangle("i").name.empty());
  CHECK(demangle("main").name.empty());
  CHECK(demangle("_start").name.empty());
  CHECK(demangle("").name.empty());
}

TEST_CASE("hostile mangled names end soon") {
  CHECK(demangle("_Z1f" + std::string(100'000, 'P') + "i").name.empty());
  demangle("_Z1f" + std::string(16'000, 'P') + "i");
  // Each template doubles the one before: 2^60 characters.
  std::string bomb = "_Z1fI1AIiiE";
  for (int i = 0; i < 30; ++i)
    bomb += "1BIS" + std::string(i == 0 ? "_" : std::to_string(i - 1) + "_") + "S_E";
  demangle(bomb + "Evv");
  demangle("_D" + std::string(4000, 'Q'));
  demangle("_R" + std::string(10'000, 'B'));
}

TEST_CASE("suffixes of parts and copies are no part of a name") {
  CHECK(without_clone_suffix("main.cold") == "main");
  CHECK(without_clone_suffix("f.constprop.0.isra.1") == "f");
  CHECK(without_clone_suffix("f.llvm.123") == "f");
  CHECK(without_clone_suffix("memcpy@@GLIBC_2.14") == "memcpy");
  CHECK(without_clone_suffix("main.init") == "main.init");
  CHECK(without_clone_suffix(".text") == ".text");
}

TEST_CASE("inner intervals own their part of outer ones") {
  FlatIntervals flat({{10, 100, 0, 0}, {20, 30, 1, 1}, {25, 40, 2, 2}, {90, 120, 1, 3}, {200, 200, 0, 4}});
  auto owner = [&](uint64_t position) { return flat.find({position}); };
  CHECK(!owner(9).has_value());
  CHECK(owner(10) == 0u);
  CHECK(owner(20) == 1u);
  CHECK(owner(25) == 2u);
  CHECK(owner(39) == 2u);
  CHECK(owner(40) == 0u);
  CHECK(owner(95) == 3u);
  CHECK(owner(119) == 3u);
  CHECK(!owner(120).has_value());
  CHECK(!owner(200).has_value());
}

TEST_CASE("kernel symbols leave out zeros, data and module names") {
  std::string text =
      "0000000000000000 T hidden\n"
      "ffffffff81000000 T _stext\n"
      "ffffffff81000000 T startup_64\n"
      "ffffffff81000100 t do_work\n"
      "ffffffff81000180 D some_data\n"
      "ffffffffc0000000 t ext4_read\t[ext4]\n"
      "torn line";
  KernelSymbols symbols(Bytes(reinterpret_cast<const std::byte*>(text.data()), text.size()));
  CHECK(symbols.find({0x10}) == nullptr);
  REQUIRE(symbols.find({0xffffffff81000000}) != nullptr);
  CHECK(symbols.find({0xffffffff81000000})->name == "startup_64");
  CHECK(symbols.find({0xffffffff81000190})->name == "do_work");
  CHECK(symbols.find({0xffffffffc0000008})->name == "ext4_read");
  CHECK(symbols.find({0xfffffffff0000000}) == nullptr);
}

TEST_CASE("source paths are normalised by their text") {
  CHECK(normalized_path("/src/./a/../b.h") == "/src/b.h");
  CHECK(normalized_path("/../x//y") == "/x/y");
  CHECK(normalized_path("../x") == "../x");
  CHECK(joined_path("/build", "../a.cc") == "/build/../a.cc");
  CHECK(joined_path("/build", "/a.cc") == "/a.cc");
}

TEST_CASE("template arguments are split at their own level only") {
  CHECK(split_arguments("f<int, g<a, b>, (& x)>") == std::vector<std::string>{"int", "g<a, b>", "&x"});
  CHECK(name_before_arguments("operator<< <int>") == "operator<<");
  CHECK(name_before_arguments("operator< <int>") == "operator<");
  CHECK(name_before_arguments("f<int>") == "f");
}

}  // namespace jitprof
