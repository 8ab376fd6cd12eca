// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "profiler/event_order.h"
#include "profiler/recording.h"

namespace jitprof {

// One open recording, whatever its format. A format reads records one by one and decodes each twice: when it
// is read, to know its time and that it is sound, and when its turn has come, to hand it out. So what is held
// back is a few words per record, and damage is found before anything behind it is handed out.
class Recording::Source {
 public:
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const RecordingHeader& header() const { return header_; }
  const std::map<std::string, uint64_t>& shortfalls() const { return shortfalls_; }
  Result<const Event*> next(Earlier earlier);

 protected:
  Source() = default;

  // Reads one record: holds it in order_, raises what order_ may release, or skips it. False at the end.
  virtual Result<bool> read_record() = 0;
  // The event of a record that was held.
  virtual const Event& decode(const HeldRecord& record) = 0;

  void count_shortfall(const std::string& name, uint64_t count = 1);

  RecordingHeader header_;
  EventOrder order_;

 private:
  std::map<std::string, uint64_t> shortfalls_;
  std::optional<Error> damage_;
  bool at_end_ = false;
};

}  // namespace jitprof
