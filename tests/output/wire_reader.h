// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitprof::tests {

std::string gunzip(std::string_view bytes);

// A protobuf message taken apart, written without regard to the product's writer. Fails the process on bytes
// that are no message.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes);

  uint64_t number(uint32_t field) const;        // the last one; 0 when there is none
  std::string_view text(uint32_t field) const;  // the last one
  std::vector<WireMessage> messages(uint32_t field) const;
  std::vector<std::string_view> texts(uint32_t field) const;
  std::vector<uint64_t> packed(uint32_t field) const;

 private:
  std::vector<std::pair<uint32_t, uint64_t>> numbers_;
  std::vector<std::pair<uint32_t, std::string_view>> texts_;
};

}  // namespace jitprof::tests
