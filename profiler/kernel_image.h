// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "profiler/recording_writer.h"

namespace jitprof {

// Puts into the recording what only this machine knows about its kernel: where its text and its modules are,
// as snapshot mappings, and the symbols of /proc/kallsyms. Writes nothing where kernel.kptr_restrict hides
// them. Takes some 50 ms, so it is called once, when the first kernel pc was sampled. Mappings and symbols
// get `time_ns`.
void write_kernel_image(RecordingWriter& writer, uint64_t time_ns);

// The image of the vdso, which is in no file. The same in every process.
void write_vdso(RecordingWriter& writer, uint64_t time_ns);

}  // namespace jitprof
