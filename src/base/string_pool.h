// StringPool: stores each distinct text once and gives it a 32-bit id (0, 1, 2, ...). Id 0 is the
// empty text.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace rankscope {

using StrId = std::uint32_t;
inline constexpr StrId kEmptyStr = 0;

/// Only one thread may call intern(), and no other thread may use the pool meanwhile; several
/// threads may call view(). Views stay valid as long as the pool exists, also after it is moved.
class StringPool {
public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  /// Returns a pool with the same texts and ids. Both pools share the memory of the existing texts,
  /// which is not written any more. A text that is added later is in one of the pools only. Several
  /// threads may call share() as long as the pool does not change.
  [[nodiscard]] StringPool share() const;

  [[nodiscard]] StrId intern(std::string_view text);
  /// Returns the id of a text, or kNotFound if the pool does not contain it.
  [[nodiscard]] StrId find(std::string_view text) const;
  [[nodiscard]] std::string_view view(StrId id) const { return views_[id]; }
  [[nodiscard]] std::size_t size() const { return views_.size(); }
  [[nodiscard]] std::size_t bytes() const; ///< memory in use

  static constexpr StrId kNotFound = 0xffffffffU;

private:
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  std::vector<std::string_view> views_;
  std::vector<std::uint32_t>
      hashes_;               ///< low bits of each text's hash, to compare and rehash cheaply
  std::vector<StrId> slots_; ///< hash table with open addressing; kNotFound = free
  std::vector<std::shared_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
  std::size_t arena_bytes_ = 0;
};

} // namespace rankscope
