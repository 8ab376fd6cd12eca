// SPDX-License-Identifier: Apache-2.0
#include "output/format/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/result.h"

namespace jitprof {

void write_gzip(std::string_view bytes, std::ostream& out) {
  constexpr int kLevel = 6;
  constexpr int kWindowBits = 15 + 16;  // + 16: gzip's header and trailer
  constexpr int kMemoryLevel = 8;
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // avail_in has 32 bits

  z_stream stream{};
  JP_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK);
  std::array<char, 65536> buffer;
  int state = Z_OK;
  do {
    size_t piece = std::min(bytes.size(), kMostAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(piece);
    bytes.remove_prefix(piece);
    int flush = bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = buffer.size();
      state = deflate(&stream, flush);
      JP_CHECK(state != Z_STREAM_ERROR);
      out.write(buffer.data(), static_cast<std::streamsize>(buffer.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  } while (state != Z_STREAM_END);
  deflateEnd(&stream);
}

}  // namespace jitprof
