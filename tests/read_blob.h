// Decodes the data blob of an HTML page with the description in the blob's header.
#pragma once

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::test {

struct ReadBlob {
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  std::string arrays;
};

inline void read(const std::string& blob, ReadBlob& out) {
  ASSERT_GE(blob.size(), 4U);
  std::uint32_t length = 0;
  std::memcpy(&length, blob.data(), 4);
  const std::size_t begin = (4 + std::size_t{length} + 7) / 8 * 8;
  ASSERT_LE(4 + std::size_t{length}, blob.size());
  out.json = out.parser.parse(simdjson::padded_string(blob.data() + 4, length));
  out.arrays = begin < blob.size() ? blob.substr(begin) : std::string();
}

template <class T>
std::vector<T> array(const ReadBlob& blob, simdjson::dom::element at, const char* type) {
  EXPECT_EQ(std::string_view(at["t"]), type);
  const auto count = static_cast<std::size_t>(std::uint64_t(at["n"]));
  const auto offset = static_cast<std::size_t>(std::uint64_t(at["o"]));
  EXPECT_EQ(offset % 8, 0U);
  EXPECT_LE(offset + count * sizeof(T), blob.arrays.size());
  std::vector<T> out(count);
  if (count > 0)
    std::memcpy(out.data(), blob.arrays.data() + offset, count * sizeof(T));
  return out;
}

/// Returns integers of any width; of nanoseconds, the low 32 bits (all times in the tests are below
/// 2^32 ns).
inline std::vector<std::int64_t> numbers(const ReadBlob& blob, simdjson::dom::element at) {
  simdjson::dom::element low;
  if (at["lo"].get(low) == simdjson::SUCCESS)
    return numbers(blob, low);
  const std::string_view type(at["t"]);
  std::vector<std::int64_t> out;
  const auto add = [&out](const auto& values) { out.assign(values.begin(), values.end()); };
  if (type == "u8")
    add(array<std::uint8_t>(blob, at, "u8"));
  else if (type == "u16")
    add(array<std::uint16_t>(blob, at, "u16"));
  else
    add(array<std::uint32_t>(blob, at, "u32"));
  return out;
}

} // namespace rankscope::test
