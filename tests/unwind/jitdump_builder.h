// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace jitprof::tests {

// A jitdump made by hand. Records may contradict one another and the format.
class JitdumpBuilder {
 public:
  struct Header {
    uint32_t magic = 0x4a695444;
    uint32_t version = 1;
    uint32_t size = 40;
    uint32_t machine = 62;
    uint32_t pad = 0;
    uint64_t time = 1796088423932010;  // of the wall clock, as V8 and CPython have it
    uint64_t flags = 0;
  };
  JitdumpBuilder() : JitdumpBuilder(Header()) {}
  explicit JitdumpBuilder(const Header& header);

  struct Line {
    uint64_t pc;
    uint32_t line;
    std::string file;  // raw: "\xff" for the one before
    uint32_t discriminator = 0;
  };
  JitdumpBuilder& load(uint64_t time_ns, uint64_t start, const std::string& name,
                       const std::string& code = std::string(64, '\x90'), uint64_t index = 0);
  // As LLVM does it, or wrongly.
  JitdumpBuilder& load_of(uint64_t time_ns, uint64_t vma, uint64_t start, uint64_t size,
                          const std::string& name, const std::string& code);
  JitdumpBuilder& move(uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size);
  JitdumpBuilder& lines(uint64_t start, const std::vector<Line>& lines);
  JitdumpBuilder& unwinding(const std::string& eh_frame, uint64_t header_size = 20);
  JitdumpBuilder& close();
  JitdumpBuilder& record(uint32_t id, uint64_t time_ns, const std::string& body);
  JitdumpBuilder& raw(const std::string& bytes);

  const std::string& text() const { return text_; }
  Bytes bytes() const { return std::as_bytes(std::span(text_)); }

 private:
  std::string text_;
};

}  // namespace jitprof::tests
