// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/unwind/dwfl_oracle.h"
#include "tests/unwind/unwinding.h"
#include "tests/unwind/walk_sample.h"

namespace jitprof::tests {

// How our walk of a sample stands to libdwfl's. Each but kUnexplained is checked to be what its name says.
enum class Agreement : uint8_t {
  kEqual,  // every frame, and the same end
  // Equal down to a frame which nobody's CFI leads out of. What libdwfl then lists, it found by following
  // rbp.
  kEqualToAnonymousCode,  // of a JIT compiler
  kEqualToSecondMapping,  // a file's second place, which libdwfl cannot hold
  kEqualToUnmappedPlace,  // in no mapping, or in a file (the vdso) without an image
  kEqualToCodeWithoutCfi,
  // libdwfl reads the slot of a register that the leaf has popped, which lies below rsp and is not recorded;
  // it loses rbp, or the caller whose CFA hangs on it.
  kPoppedRegister,
  kUnexplained,
};
inline constexpr unsigned kAgreementCount = 7;
const char* name_of(Agreement agreement);

// Compares sample by sample, and counts.
class OracleComparison {
 public:
  explicit OracleComparison(const ModuleTable& modules) : modules_(modules) {}

  // `process` as it stands at the sample's time. Samples without a stack are left out.
  void add(const Sample& sample, const Process& process);

  uint64_t samples() const { return samples_; }
  uint64_t frames() const { return frames_; }  // that were found equal
  const std::map<Agreement, uint64_t>& counts() const { return counts_; }
  uint64_t count(Agreement agreement) const;
  // Of the walks that are equal to a frame nobody's CFI leads out of: what our walk did there.
  const std::map<std::string, uint64_t>& ends() const { return ends_; }
  // Up to a few of the unexplained: what is on either side where they part.
  const std::vector<std::string>& unexplained() const { return unexplained_; }

 private:
  struct KnownOracle {
    uint64_t mappings = 0;  // a hash of what it was made for
    std::unique_ptr<DwflOracle> oracle;
  };
  DwflOracle& oracle_of(const Process& process);
  Agreement compare(const KeptWalk& ours, const std::vector<OracleFrame>& theirs, const Process& process,
                    const DwflOracle& oracle);
  Agreement end_without_cfi(const KeptWalk& ours, const std::vector<OracleFrame>& theirs, size_t last,
                            const Process& process, const DwflOracle& oracle);
  Agreement unexplained(const KeptWalk& ours, const std::vector<OracleFrame>& theirs, size_t at,
                        const Process& process);
  std::string place_of(RuntimeAddr pc, const Process& process) const;

  const ModuleTable& modules_;
  Unwinding unwinding_{modules_};
  std::map<uint32_t, KnownOracle> oracles_;
  uint64_t samples_ = 0;
  uint64_t frames_ = 0;
  std::map<Agreement, uint64_t> counts_;
  std::map<std::string, uint64_t> ends_;
  std::vector<std::string> unexplained_;
};

}  // namespace jitprof::tests
