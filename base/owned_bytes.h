// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace jitprof {

// Memory for bytes that are about to be written: unlike a vector's, it is not cleared first, which for a
// chunk of a recording took half as long as inflating it.
class OwnedBytes {
 public:
  OwnedBytes() = default;
  explicit OwnedBytes(size_t size) : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}

  std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  std::span<std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

}  // namespace jitprof
