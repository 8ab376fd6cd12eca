// SPDX-License-Identifier: Apache-2.0
#include "symbolize/frame_class.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace jitprof {
namespace {

// Beginnings of file names.
constexpr std::array<std::string_view, 16> kRuntimes = {
    "node",     "libnode.so", "d8",        "python3", "libpython3", "libjvm.so",   "lli",       "libLLVM",
    "beam.smp", "luajit",     "libluajit", "php",     "libphp",     "libcoreclr.", "libclrjit", "libmono"};

// What V8 and HotSpot call code that they make for themselves.
constexpr std::array<std::string_view, 9> kRuntimeCode = {
    "Builtin:",    "BytecodeHandler:", "Stub:",   "JSToWasmFunction:", "WasmToJS",
    "Interpreter", "StubRoutines",     "I2C/C2I", "vtable stub"};

constexpr std::array<std::string_view, 5> kLibraryFolders = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/",
                                                             "/usr/local/lib/"};

template <class Beginnings>
bool begins_with_one_of(std::string_view text, const Beginnings& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view begin) { return text.starts_with(begin); });
}

}  // namespace

FrameClass class_of(const Module& module) {
  switch (module.kind) {
    case Module::Kind::kKernel:
    case Module::Kind::kKernelModule:
      return FrameClass::kKernel;
    case Module::Kind::kVdso:
      return FrameClass::kLibrary;
    case Module::Kind::kAnonymous:
      return FrameClass::kApplication;
    case Module::Kind::kJit:
      return begins_with_one_of(module.name(), kRuntimeCode) ? FrameClass::kRuntime
                                                             : FrameClass::kApplication;
    case Module::Kind::kFile:
      break;
  }
  if (begins_with_one_of(module.name(), kRuntimes)) return FrameClass::kRuntime;
  return begins_with_one_of(module.path, kLibraryFolders) ? FrameClass::kLibrary : FrameClass::kApplication;
}

}  // namespace jitprof
