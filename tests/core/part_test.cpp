// Tests the format of parts: round trips, every truncation, random damage, malicious counts.
#include "core/part.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace rankscope {
namespace {

enum class Colour { kRed, kGreen };

struct Inner {
  std::int32_t small = 0;
  std::string text;
  bool operator==(const Inner&) const = default;
};

struct Outer {
  std::int64_t number = 0;
  std::uint16_t port = 0;
  double ratio = 0;
  bool flag = false;
  Colour colour = Colour::kRed;
  std::optional<std::int64_t> maybe, never;
  std::vector<Inner> rows;
  std::map<std::string, double> by_name;
  std::vector<std::pair<double, double>> points;
  std::int64_t behind = 0;
  bool operator==(const Outer&) const = default;
};

template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, Inner>
void part_fields(Archive& archive, Row& row) {
  archive(row.small, row.text);
}

template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, Outer>
void part_fields(Archive& archive, Row& row) {
  archive(row.number, row.port, row.ratio, row.flag);
  archive.choice(row.colour, 2);
  archive(row.maybe, row.never);
  archive.section("rows", [&] {
    archive(row.rows);
    archive.section("names", [&] { archive(row.by_name); });
  });
  archive(row.points, row.behind);
}

Outer sample() {
  Outer o;
  o.number = std::numeric_limits<std::int64_t>::min();
  o.port = 65535;
  o.ratio = 0.1 + 0.2;
  o.flag = true;
  o.colour = Colour::kGreen;
  o.maybe = -1;
  o.rows = {{-5, "a\nb"}, {std::numeric_limits<std::int32_t>::max(), ""}};
  o.by_name = {{"x", -0.0}, {"y", std::numeric_limits<double>::infinity()}};
  o.points = {{1, 2}, {3, 4}};
  o.behind = std::numeric_limits<std::int64_t>::max();
  return o;
}

/// Returns `bytes` with a matching checksum, as an attacker could write it.
std::string sealed(std::string bytes) {
  const std::uint64_t sum = part_checksum(bytes);
  for (unsigned shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>((sum >> shift) & 0xffU);
  return bytes;
}

TEST(Part, ComesBackExactly) {
  const std::string bytes = encode_part("outer", 3, sample());
  const Result<Outer> back = decode_part<Outer>("outer", 3, bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, sample());
  EXPECT_TRUE(std::signbit(back->by_name.at("x")));
  EXPECT_EQ(encode_part("outer", 3, *back), bytes);
}

TEST(Part, SmallNumbersTakeAByte) {
  // magic 8, kind 1 + 1, version 1, list: count 1 and 100 numbers of one byte, checksum 8
  EXPECT_EQ(encode_part("k", 1, std::vector<std::int64_t>(100, -60)).size(),
            8U + 2 + 1 + 1 + 100 + 8);
}

TEST(Part, OfAnotherKindOrVersionIsNotRead) {
  const std::string bytes = encode_part("outer", 3, sample());
  const auto kind = decode_part<Outer>("inner", 3, bytes);
  ASSERT_FALSE(kind);
  EXPECT_NE(kind.error().what.find("'outer', expected 'inner'"), std::string::npos);
  const auto version = decode_part<Outer>("outer", 4, bytes);
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().what.find("version 3, expected 4"), std::string::npos);
  EXPECT_FALSE(decode_part<Outer>("outer", 3, "{\"json\": 1}"));
  EXPECT_FALSE(decode_part<Outer>("outer", 3, ""));
}

TEST(Part, CutAnywhereIsAnError) {
  const std::string bytes = encode_part("outer", 1, sample());
  const std::string_view content = std::string_view(bytes).substr(0, bytes.size() - 8);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(decode_part<Outer>("outer", 1, std::string_view(bytes).substr(0, n))) << n;
    if (n < content.size()) { // also with a matching checksum
      const auto cut = decode_part<Outer>("outer", 1, sealed(std::string(content.substr(0, n))));
      ASSERT_FALSE(cut) << n;
      EXPECT_EQ(cut.error().code, ErrorCode::kUnreadable);
      EXPECT_EQ(cut.error().where.rfind("byte ", 0), 0U);
    }
  }
  EXPECT_FALSE(decode_part<Outer>("outer", 1, sealed(std::string(content) + "x")));
}

TEST(Part, OneBitChangedIsFound) {
  const std::string bytes = encode_part("outer", 1, sample());
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string bad = bytes;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(decode_part<Outer>("outer", 1, bad)) << i;
  }
}

TEST(Part, RandomDamageUnderAGoodChecksumNeverBreaksTheReader) {
  std::mt19937 random(1);
  const std::string bytes = encode_part("outer", 1, sample());
  const std::string content = bytes.substr(0, bytes.size() - 8);
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = content;
    for (int change = 0; change < 1 + round % 3; ++change)
      bad[random() % bad.size()] = static_cast<char>(random());
    const auto back = decode_part<Outer>("outer", 1, sealed(bad));
    if (back) { // every decoded value is valid for its type
      EXPECT_LE(static_cast<int>(back->colour), 1);
    }
  }
}

TEST(Part, AHugeCountTakesNoMemory) {
  for (const std::uint64_t count : {std::uint64_t{1} << 20, std::uint64_t{1} << 62}) {
    PartWriter writer("list", 1);
    writer(count, std::string("abc"));
    std::string bytes = std::move(writer).finish();
    const auto back = decode_part<std::vector<Inner>>("list", 1, bytes);
    ASSERT_FALSE(back);
    EXPECT_NE(back.error().what.find("ends in a list"), std::string::npos);
  }
}

TEST(Part, NumbersBeyondTheirFieldAreErrors) {
  PartWriter wide("n", 1);
  wide(std::int64_t{1} << 40);
  const std::string bytes = std::move(wide).finish();
  Result<PartReader> reader = PartReader::open(bytes, "n", 1);
  ASSERT_TRUE(reader);
  std::int32_t v = 7;
  (*reader)(v);
  EXPECT_FALSE(reader->ok());
  EXPECT_FALSE(reader->finish());
  EXPECT_EQ(v, 7);
}

TEST(Part, SectionsHaveNamesAndEnds) {
  PartWriter writer("s", 1);
  writer.section("a", [&] { writer(std::int64_t{1}, std::int64_t{2}); });
  const std::string bytes = std::move(writer).finish();
  const auto read = [&](const char* name, int numbers) {
    Result<PartReader> reader = PartReader::open(bytes, "s", 1);
    reader->section(name, [&] {
      for (int i = 0; i < numbers; ++i) {
        std::int64_t n = 0;
        (*reader)(n);
      }
    });
    return reader->finish();
  };
  EXPECT_TRUE(read("a", 2));
  EXPECT_NE(read("a", 1).error().what.find("too many in a section"), std::string::npos);
  EXPECT_NE(read("a", 3).error().what.find("ends in a number"), std::string::npos);
  EXPECT_NE(read("b", 2).error().what.find("'a', expected 'b'"), std::string::npos);
}

} // namespace
} // namespace rankscope
