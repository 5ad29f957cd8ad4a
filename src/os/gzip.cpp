#include "os/gzip.h"

#include <cstdint>
#include <isa-l/igzip_lib.h>
#include <vector>

namespace rankscope {

std::string gzip_of(std::string_view bytes) {
  constexpr std::size_t kStep = std::size_t{1} << 24; // avail_in has 32 bits
  isal_zstream stream{};
  isal_deflate_init(&stream);
  std::vector<std::uint8_t> level(ISAL_DEF_LVL3_DEFAULT);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = 3;
  stream.level_buf = level.data();
  stream.level_buf_size = static_cast<std::uint32_t>(level.size());
  std::vector<std::uint8_t> buffer(std::size_t{1} << 18);
  std::string out;
  std::string_view rest = bytes;
  do {
    const std::string_view part = rest.substr(0, kStep);
    rest.remove_prefix(part.size());
    // next_in is not const, but the library does not write to it
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<std::uint32_t>(part.size());
    stream.end_of_stream = rest.empty() ? 1 : 0;
    do {
      stream.next_out = buffer.data();
      stream.avail_out = static_cast<std::uint32_t>(buffer.size());
      isal_deflate(&stream);
      out.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!rest.empty());
  return out;
}

} // namespace rankscope
