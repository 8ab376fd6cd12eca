// SPDX-License-Identifier: Apache-2.0
#include "symbolize/frame_class.h"

#include "tests/catch.h"

namespace jitprof {

TEST_CASE("whose code a frame runs") {
  auto of_file = [](const char* path) { return class_of(Module{.path = path}); };
  CHECK(of_file("/home/me/app") == FrameClass::kApplication);
  CHECK(of_file("/home/me/lib/libown.so") == FrameClass::kApplication);
  CHECK(of_file("/usr/lib/x86_64-linux-gnu/libc.so.6") == FrameClass::kLibrary);
  CHECK(of_file("/lib64/ld-linux-x86-64.so.2") == FrameClass::kLibrary);
  for (const char* path : {"/usr/local/bin/node", "/usr/bin/python3.11", "/usr/lib/jvm/lib/server/libjvm.so",
                           "/usr/bin/lli-14", "/usr/lib/x86_64-linux-gnu/libnode.so.108"})
    CHECK(of_file(path) == FrameClass::kRuntime);

  CHECK(class_of(Module{.kind = Module::Kind::kKernelModule, .path = "[ext4]"}) == FrameClass::kKernel);
  CHECK(class_of(Module{.kind = Module::Kind::kVdso, .path = "[vdso]"}) == FrameClass::kLibrary);
  CHECK(class_of(Module{.kind = Module::Kind::kAnonymous, .path = "//anon"}) == FrameClass::kApplication);

  auto of_code = [](const char* name) {
    JitCode code{.name = name};
    return class_of(Module{.kind = Module::Kind::kJit, .path = "[jit]", .jit = &code});
  };
  CHECK(of_code("JS:*mid chain.js:16:13") == FrameClass::kApplication);
  CHECK(of_code("py::mid:/srv/chain.py") == FrameClass::kApplication);
  CHECK(of_code("Builtin:ArrayMap") == FrameClass::kRuntime);
  CHECK(of_code("BytecodeHandler:Ldar") == FrameClass::kRuntime);
}

}  // namespace jitprof
