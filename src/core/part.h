// Parts: the data that an analysis needs of one rank (or of one configuration), as bytes. The same
// format is used for ranks in one process, for the state on disk, and for parts from another
// machine.
//
//   part    = "RSKPART1" kind:text version:varint content checksum
//   varint  = 7 bits per byte, lowest bits first, at most 10 bytes; signed numbers are zig-zag
//   text    = length:varint bytes; double = 8 bytes, lowest first; bool = one byte, 0 or 1
//   list    = count:varint items; optional = bool, then the value
//   section = name:text length (8 bytes) content
//   checksum = FNV-1a of all bytes before it, 8 bytes
//
// A type lists its fields once, for both directions:
//
//   template <class Archive, PartOf<Window> Row> void part_fields(Archive& archive, Row& w) {
//     archive(w.start_ns, w.label, w.samples); // never change the order (or use a new version)
//   }
#pragma once

#include "base/result.h"
#include "base/string_pool.h"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rankscope {

/// A type that is T or const T: the row that part_fields() for T gets, to read or to write.
template <class Row, class T>
concept PartOf = std::same_as<std::remove_const_t<Row>, T>;

/// Writes the fields of a part into memory. No operation can fail.
class PartWriter {
public:
  static constexpr bool kReads = false;

  /// `kind` names the content of the part ("collectives"); `version` is the version of its fields.
  PartWriter(std::string_view kind, std::uint32_t version);

  template <class... Fields> void operator()(const Fields&... fields) { (put(fields), ...); }
  /// Writes an enumerator of an enum that has `count` values, numbered from 0.
  template <class Enum> void choice(const Enum& value, [[maybe_unused]] std::uint64_t count) {
    varint(static_cast<std::uint64_t>(value));
  }
  /// Writes an index into a list of `size` elements, for example the texts of a pool.
  template <std::unsigned_integral Index>
  void below(const Index& index, [[maybe_unused]] std::size_t size) {
    varint(index);
  }
  /// Writes a list. `item(element)` writes each element; use it if the items need other data too.
  template <class T, class Item> void list(const std::vector<T>& items, Item&& item) {
    varint(items.size());
    for (const T& element : items)
      item(element);
  }
  /// Writes what `content()` writes as a separate section.
  template <class Content> void section(std::string_view name, Content&& content) {
    const std::size_t at = begin_section(name);
    content();
    end_section(at);
  }
  /// Returns the finished part, with its checksum.
  [[nodiscard]] std::string finish() &&;

private:
  void varint(std::uint64_t value);
  void fixed(std::uint64_t value);
  std::size_t begin_section(std::string_view name);
  void end_section(std::size_t at);

  void put(bool value) { bytes_ += value ? '\1' : '\0'; }
  void put(const char*) = delete; // deleted, because a pointer would be converted to bool
  template <std::unsigned_integral Int> void put(Int value) { varint(value); }
  template <std::signed_integral Int> void put(Int value) {
    const auto wide = static_cast<std::int64_t>(value);
    varint((static_cast<std::uint64_t>(wide) << 1U) ^ static_cast<std::uint64_t>(wide >> 63));
  }
  void put(double value) { fixed(std::bit_cast<std::uint64_t>(value)); }
  void put(std::string_view text) {
    varint(text.size());
    bytes_ += text;
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const StringPool& pool);
  template <class T> void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value)
      put(*value);
  }
  template <class A, class B> void put(const std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  template <class T> void put(const std::vector<T>& items) {
    list(items, [this](const T& item) { put(item); });
  }
  template <class K, class V, class C> void put(const std::map<K, V, C>& map) {
    varint(map.size());
    for (const auto& item : map)
      put(item);
  }
  template <class T>
  requires std::is_class_v<T>
  void put(const T& row) { part_fields(*this, row); }

  std::string bytes_;
};

/// Reads from untrusted bytes what a PartWriter wrote. After the first error in the bytes, all
/// values are read as zeros and empty lists. So a decoder only has to check finish(), which returns
/// the error. The memory is proportional to the size of the input.
class PartReader {
public:
  static constexpr bool kReads = true;

  /// Checks the magic, checksum, kind and version. `bytes` must outlive the reader. Errors:
  /// kUnreadable, with the byte position of the error.
  static Result<PartReader> open(std::string_view bytes, std::string_view kind,
                                 std::uint32_t version);

  template <class... Fields> void operator()(Fields&... fields) { (get(fields), ...); }
  template <class Enum> void choice(Enum& value, std::uint64_t count) {
    const std::uint64_t read = varint();
    if (read >= count)
      return fail("an enumerator that is not known");
    value = static_cast<Enum>(read);
  }
  template <std::unsigned_integral Index> void below(Index& index, std::size_t size) {
    const std::uint64_t read = varint();
    if (read >= size)
      return fail("an index beyond its list");
    index = static_cast<Index>(read);
  }
  template <class T, class Item> void list(std::vector<T>& items, Item&& item) {
    items.clear();
    for (std::size_t more = count(); more > 0 && ok(); --more) {
      T element{};
      item(element);
      items.push_back(std::move(element));
    }
  }
  template <class Content> void section(std::string_view name, Content&& content) {
    const std::size_t outer = begin_section(name);
    if (!error_)
      content();
    end_section(outer);
  }
  /// Reports an error that a type finds in its fields (for example, the same rank twice).
  void fail(std::string_view why);
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  /// Returns the first error; also an error if there are bytes after the last field.
  Result<void> finish();

private:
  static constexpr int kMaxDepth = 64;

  PartReader() = default;
  std::uint64_t varint();
  std::uint64_t fixed();
  std::string_view text();
  /// Reads the number of items of a list; it cannot be larger than the number of remaining bytes.
  std::size_t count();
  std::size_t begin_section(std::string_view name);
  void end_section(std::size_t outer);
  [[nodiscard]] std::size_t left() const { return end_ - at_; }

  void get(bool& value);
  void get(double& value) { value = std::bit_cast<double>(fixed()); }
  template <std::unsigned_integral Int> void get(Int& value) {
    const std::uint64_t read = varint();
    if (read > std::numeric_limits<Int>::max())
      return fail("a number too large for its field");
    value = static_cast<Int>(read);
  }
  template <std::signed_integral Int> void get(Int& value) {
    const std::uint64_t zigzag = varint();
    const auto read = static_cast<std::int64_t>((zigzag >> 1U) ^ (~(zigzag & 1U) + 1U));
    if (read > std::numeric_limits<Int>::max() || read < std::numeric_limits<Int>::min())
      return fail("a number too large for its field");
    value = static_cast<Int>(read);
  }
  void get(std::string& value) { value = text(); }
  void get(StringPool& pool);
  template <class T> void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there && ok())
      get(value.emplace());
  }
  template <class A, class B> void get(std::pair<A, B>& value) {
    get(value.first);
    get(value.second);
  }
  template <class T> void get(std::vector<T>& items) {
    list(items, [this](T& item) { get(item); });
  }
  template <class K, class V, class C> void get(std::map<K, V, C>& map) {
    map.clear();
    for (std::size_t more = count(); more > 0 && ok(); --more) {
      std::pair<K, V> item{};
      get(item);
      if (ok() && !map.emplace(std::move(item)).second)
        fail("a key is there twice");
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void get(T& row) {
    if (++depth_ > kMaxDepth)
      return fail("too many values in values"); // a malicious part may contain a very deep tree
    part_fields(*this, row);
    --depth_;
  }

  std::string_view bytes_;
  std::size_t at_ = 0, end_ = 0;
  int depth_ = 0;
  std::optional<Error> error_;
};

/// Writes a part that consists of one value, with all fields in its part_fields().
template <class T>
[[nodiscard]] std::string encode_part(std::string_view kind, std::uint32_t version,
                                      const T& value) {
  PartWriter writer(kind, version);
  writer(value);
  return std::move(writer).finish();
}
template <class T>
[[nodiscard]] Result<T> decode_part(std::string_view kind, std::uint32_t version,
                                    std::string_view bytes) {
  RS_TRY(PartReader reader, PartReader::open(bytes, kind, version));
  T value{};
  reader(value);
  RS_CHECK(reader.finish());
  return value;
}

/// Returns the checksum at the end of a part, which covers all bytes before it.
[[nodiscard]] std::uint64_t part_checksum(std::string_view bytes);

} // namespace rankscope
