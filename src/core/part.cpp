#include "core/part.h"

#include "base/fnv.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::string_view kMagic = "RSKPART1"; // the last character is the version of the format
constexpr std::size_t kFixed = 8;

void append_fixed(std::string& to, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    to += static_cast<char>((value >> shift) & 0xffU);
}

std::uint64_t fixed_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kFixed; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

Error damaged(std::size_t at, std::string_view why) {
  return {ErrorCode::kUnreadable, fmt::format("byte {}", at),
          fmt::format("not a valid part: {}", why), ""};
}

} // namespace

std::uint64_t part_checksum(std::string_view bytes) {
  Fnv64 hash;
  hash.update(bytes);
  return hash.value();
}

PartWriter::PartWriter(std::string_view kind, std::uint32_t version) : bytes_(kMagic) {
  put(kind);
  put(version);
}

std::string PartWriter::finish() && {
  fixed(part_checksum(bytes_));
  return std::move(bytes_);
}

void PartWriter::varint(std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U)
    bytes_ += static_cast<char>((value & 0x7fU) | 0x80U);
  bytes_ += static_cast<char>(value);
}

void PartWriter::fixed(std::uint64_t value) {
  append_fixed(bytes_, value);
}

std::size_t PartWriter::begin_section(std::string_view name) {
  put(name);
  const std::size_t at = bytes_.size();
  fixed(0);
  return at;
}

void PartWriter::end_section(std::size_t at) {
  std::string length;
  append_fixed(length, bytes_.size() - at - kFixed);
  bytes_.replace(at, kFixed, length);
}

void PartWriter::put(const StringPool& pool) {
  varint(pool.size());
  for (StrId id = 0; id < pool.size(); ++id)
    put(pool.view(id));
}

Result<PartReader> PartReader::open(std::string_view bytes, std::string_view kind,
                                    std::uint32_t version) {
  if (bytes.substr(0, kMagic.size()) != kMagic)
    return damaged(0, fmt::format("it does not begin with {}", kMagic));
  if (bytes.size() < kMagic.size() + kFixed)
    return damaged(bytes.size(), "it ends in its head");
  const std::size_t end = bytes.size() - kFixed;
  if (fixed_at(bytes, end) != part_checksum(bytes.substr(0, end)))
    return damaged(end, "its checksum is wrong (truncated or damaged?)");
  PartReader reader;
  reader.bytes_ = bytes;
  reader.at_ = kMagic.size();
  reader.end_ = end;
  const std::string_view found = reader.text();
  std::uint32_t found_version = 0;
  reader.get(found_version);
  if (reader.error_)
    return *reader.error_;
  if (found != kind)
    return damaged(kMagic.size(), fmt::format("it contains '{}', expected '{}'", found, kind));
  if (found_version != version)
    return damaged(kMagic.size(),
                   fmt::format("'{}' of version {}, expected {}", kind, found_version, version));
  return reader;
}

void PartReader::fail(std::string_view why) {
  if (!error_)
    error_ = damaged(at_, why);
  at_ = end_;
}

Result<void> PartReader::finish() {
  if (!error_ && at_ != end_)
    fail(fmt::format("{} bytes too many", left()));
  if (error_)
    return *error_;
  return {};
}

std::uint64_t PartReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) {
      fail("it ends in a number");
      return 0;
    }
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift == 63 && byte > 1)
      break;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80U)
      return value;
  }
  fail("a number of more than 64 bits");
  return 0;
}

std::uint64_t PartReader::fixed() {
  if (left() < kFixed) {
    fail("it ends in a number");
    return 0;
  }
  at_ += kFixed;
  return fixed_at(bytes_, at_ - kFixed);
}

std::string_view PartReader::text() {
  const std::uint64_t length = varint();
  if (length > left()) {
    fail("it ends in a text");
    return {};
  }
  at_ += static_cast<std::size_t>(length);
  return bytes_.substr(at_ - static_cast<std::size_t>(length), static_cast<std::size_t>(length));
}

std::size_t PartReader::count() {
  const std::uint64_t items = varint();
  if (items > left()) {
    fail("it ends in a list");
    return 0;
  }
  return static_cast<std::size_t>(items);
}

std::size_t PartReader::begin_section(std::string_view name) {
  const std::size_t outer = end_;
  const std::string_view found = text();
  const std::uint64_t length = fixed();
  if (error_)
    return outer;
  if (found != name)
    fail(fmt::format("section '{}', expected '{}'", found, name));
  else if (length > left())
    fail(fmt::format("section '{}' ends beyond its container", name));
  else
    end_ = at_ + static_cast<std::size_t>(length);
  return outer;
}

void PartReader::end_section(std::size_t outer) {
  if (!error_ && at_ != end_)
    fail(fmt::format("{} bytes too many in a section", left()));
  end_ = outer;
  if (error_)
    at_ = end_;
}

void PartReader::get(bool& value) {
  if (left() == 0)
    return fail("it ends in a flag");
  const char byte = bytes_[at_++];
  if (byte != '\0' && byte != '\1')
    return fail("a flag that is neither 0 nor 1");
  value = byte == '\1';
}

void PartReader::get(StringPool& pool) {
  StringPool read;
  const std::size_t texts = count();
  for (std::size_t id = 0; id < texts && ok(); ++id)
    if (read.intern(text()) != id && ok())
      fail("a text of a pool is there twice");
  pool = std::move(read);
}

} // namespace rankscope
