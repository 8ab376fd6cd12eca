// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <optional>
#include <vector>

#include "profiler/event.h"
#include "unwind/space/process_table.h"

namespace jitprof::tests {

// A frame as libdwfl sees it, leaf first.
struct OracleFrame {
  RuntimeAddr pc;  // a return address, except of the leaf and of what a signal interrupted
  std::optional<uint64_t> rbp;
};

// libdwfl as unwinder of recorded samples. Stands for one process with the files it has mapped now; another
// oracle is needed when that changes. Opens no debug files.
class DwflOracle {
 public:
  DwflOracle(const Process& process, const ModuleTable& modules);
  ~DwflOracle();
  DwflOracle(const DwflOracle&) = delete;
  DwflOracle& operator=(const DwflOracle&) = delete;

  std::vector<OracleFrame> unwind(const Sample& sample);

  // Whether libdwfl has a module there (it cannot hold one file at two places), and whether libdw finds a row
  // of CFI for that position. Without, libdwfl goes by the frame pointer and does not say so.
  bool has_module(RuntimeAddr position) const;
  bool has_cfi(RuntimeAddr position) const;
  // Whether there is any file at all; without one, libdwfl unwinds nothing.
  bool has_files() const { return is_attached_; }
  // Whether the last unwind asked for memory below the leaf's stack pointer, which holds nothing any more.
  bool read_below_sp() const { return read_below_sp_; }

 private:
  struct Close {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  void report(const Process& process, const ModuleTable& modules);
  static const Dwfl_Thread_Callbacks kThreadCallbacks;
  bool read_word(uint64_t position, Dwarf_Word* word);

  std::unique_ptr<Dwfl, Close> dwfl_;
  bool is_attached_ = false;
  const Sample* sample_ = nullptr;
  bool read_below_sp_ = false;
};

}  // namespace jitprof::tests
