// FNV-1a hash, 64 bits, for the names of state files and for file contents. It does not protect
// against forgery.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace rankscope {

class Fnv64 {
public:
  void update(std::string_view bytes) {
    for (const char c : bytes)
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }
  /// Returns the hash as 16 hexadecimal digits.
  [[nodiscard]] std::string hex() const { return fmt::format("{:016x}", hash_); }

private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

[[nodiscard]] inline std::string fnv64_hex(std::string_view text) {
  Fnv64 hash;
  hash.update(text);
  return hash.hex();
}

} // namespace rankscope
