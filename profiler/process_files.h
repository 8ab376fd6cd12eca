// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/fd.h"
#include "profiler/side_band.h"

namespace jitprof {

// Opens what a process sees under a path, which in a container is not what we see under it. Symbolic links
// are followed inside the process' root only, and nothing but regular files is opened for reading: a fifo or
// a device under a hostile name must not hang us.

// A folder of the process, to be used after the process is gone as well.
Fd open_folder_of(uint32_t pid, const std::string& path);
Fd open_file_of(uint32_t pid, const std::string& path);
// The file behind an executable mapping itself, even if it was deleted or replaced; needs CAP_SYS_ADMIN or
// CAP_CHECKPOINT_RESTORE.
Fd open_mapped_file(uint32_t pid, uint64_t start, uint64_t size);
// The file of a mapping with a path and an inode, by whatever way is left: also for a process that has ended.
Fd open_file_behind(const Mapping& mapping);
// A regular file `name` in an opened folder, not following a link.
Fd open_file_in(const Fd& folder, const std::string& name);

// The pid the process has in its own pid namespace, which it uses in names of its files; 0 when it is gone.
uint32_t inner_pid_of(uint32_t pid);

}  // namespace jitprof
