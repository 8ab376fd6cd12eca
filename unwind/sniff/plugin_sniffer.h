// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "include/jitprof/sniffer.h"
#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Puts questions to a plug-in's callback, whose library must stay loaded, and checks what its answers say. An
// answer with a value that sniffer.h does not define becomes one without registers, which the walk refuses
// and counts as it does every other useless answer.
class PluginSniffer : public Sniffer {
 public:
  explicit PluginSniffer(const jitprof_sniffer& plugin) : plugin_(plugin) {}
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;

 private:
  jitprof_sniffer plugin_;
};

}  // namespace jitprof
