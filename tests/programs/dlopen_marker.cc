// SPDX-License-Identifier: Apache-2.0
// dlopen and dlclose: loads each plugin in turn, runs its marker and unloads it, twice round; the kernel
// usually puts the next one at the same place. Usage: dlopen_marker CPU_SECONDS PLUGIN...; prints nothing but
// errors.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s CPU_SECONDS PLUGIN...\n", argv[0]);
    return 2;
  }
  constexpr int kRounds = 2;
  const double share = std::atof(argv[1]) / (kRounds * (argc - 2));
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 2; i < argc; ++i) {
      void* plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      void* marker = plugin != nullptr ? dlsym(plugin, "plugin_marker") : nullptr;
      if (marker == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
      }
      (*static_cast<void (**)(double)>(marker))(share);
      dlclose(plugin);
    }
  }
  return 0;
}
