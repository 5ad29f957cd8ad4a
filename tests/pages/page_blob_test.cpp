// Tests the data blob of a page by reading it, malicious texts, and the file around the blob.
#include "pages/data/page_blob.h"

#include "os/byte_source.h"
#include "os/gzip.h"
#include "pages/page_file.h"
#include "read_blob.h"
#include "temp_folder.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <simdjson.h>

namespace rankscope {
namespace {

using test::array;
using test::read;
using test::ReadBlob;

TEST(PageBlob, ReadsBackInTheSmallestTypes) {
  PageBlob page;
  page.integers("small", std::vector<std::uint32_t>{1, 255});
  page.integers("middle", std::vector<std::uint32_t>{256, 65535, 3});
  page.integers("large", std::vector<std::uint32_t>{65536});
  page.integers("none", std::vector<std::uint32_t>{});
  page.reals("reals", std::vector<double>{1.5, std::numeric_limits<double>::quiet_NaN(), -1e300});
  page.times("short", std::vector<std::int64_t>{0, 4294967295, -5});
  page.times("long", std::vector<std::int64_t>{4294967296, 9'000'000'000'000'000, 1});
  ReadBlob blob;
  read(page.take(), blob);
  const auto j = blob.json;
  EXPECT_EQ(array<std::uint8_t>(blob, j["small"], "u8"), (std::vector<std::uint8_t>{1, 255}));
  EXPECT_EQ(array<std::uint16_t>(blob, j["middle"], "u16"),
            (std::vector<std::uint16_t>{256, 65535, 3}));
  EXPECT_EQ(array<std::uint32_t>(blob, j["large"], "u32"), (std::vector<std::uint32_t>{65536}));
  EXPECT_TRUE(array<std::uint8_t>(blob, j["none"], "u8").empty());
  const auto reals = array<double>(blob, j["reals"], "f64");
  EXPECT_EQ(reals[0], 1.5);
  EXPECT_TRUE(std::isnan(reals[1]));
  EXPECT_EQ(reals[2], -1e300);
  EXPECT_EQ(array<std::uint32_t>(blob, j["short"]["lo"], "u32"),
            (std::vector<std::uint32_t>{0, 4294967295U, 0}));
  EXPECT_TRUE(j["short"]["hi"].error() != simdjson::SUCCESS);
  const auto low = array<std::uint32_t>(blob, j["long"]["lo"], "u32");
  const auto high = array<std::uint32_t>(blob, j["long"]["hi"], "u32");
  EXPECT_EQ((std::uint64_t{high[1]} << 32U) + low[1], 9'000'000'000'000'000U);
  EXPECT_EQ(high[0], 1U);
}

TEST(PageBlob, TablesKeepWhatSchemasSayAndAnyText) {
  const std::vector<std::string> nasty = {"</script><script>", "\"\\\n\t", "\xff\x01", "a,b", ""};
  Table t("t", {});
  t = Table("t", {Column("id_a", "A (ms)", Unit::kMs, CellKind::kDouble, "what it is", {}),
                  Column("id_b", "B", Unit::kNone, CellKind::kText, "", {})});
  for (const std::string& text : nasty)
    t.add_row({2.5, text});
  t.add_row({});
  PageBlob page;
  page.table("table", t);
  ReadBlob blob;
  read(page.take(), blob);
  const auto table = blob.json["table"];
  EXPECT_EQ(std::uint64_t(table["rows"]), nasty.size() + 1);
  const auto first = table["columns"].at(0);
  EXPECT_EQ(std::string_view(first["id"]), "id_a");
  EXPECT_EQ(std::string_view(first["unit"]), "ms");
  EXPECT_EQ(std::string_view(first["help"]), "what it is");
  EXPECT_EQ(std::string_view(first["kind"]), "real");
  const auto numbers = array<double>(blob, first["data"], "f64");
  EXPECT_EQ(numbers.front(), 2.5);
  EXPECT_TRUE(std::isnan(numbers.back()));
  const auto texts = array<std::uint8_t>(blob, table["columns"].at(1)["data"], "u8");
  EXPECT_EQ(std::string_view(blob.json["strings"].at(texts[0])), nasty[0]);
  EXPECT_EQ(std::string_view(blob.json["strings"].at(texts[1])), nasty[1]);
  EXPECT_EQ(std::string_view(blob.json["strings"].at(texts[4])), "");
  EXPECT_EQ(texts[5], texts[4]);
}

TEST(PageFile, HoldsTheDataAndNothingEndsEarly) {
  if (!can_make_pages())
    GTEST_SKIP() << "built without ECharts: scripts/web_parts.sh fetches it";
  const std::string blob(100'000, '<');
  const auto page = page_text("a</title><script>@DATA@", blob);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_NE(page->find("<title>a&lt;/title&gt;&lt;script&gt;@DATA@ - rankscope</title>"),
            std::string::npos);
  std::size_t scripts = 0;
  for (std::size_t at = page->find("</script"); at != std::string::npos;
       at = page->find("</script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 3U); // data, ECharts, script
  EXPECT_EQ(page->find("http-equiv"), std::string::npos);
  EXPECT_EQ(page->find(" src="), std::string::npos);
}

TEST(Gzip, ReadsBack) {
  const test::TempFolder folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{700'000}}) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i)
      bytes += static_cast<char>(i * i / 7);
    const std::string member = gzip_of(bytes);
    EXPECT_EQ(member, gzip_of(bytes));
    auto source = ByteSource::open(folder.write("x.gz", member));
    ASSERT_TRUE(source);
    std::string back(size + 10, '\0');
    back.resize((*source)->read(back.data(), back.size()));
    EXPECT_EQ(back, bytes);
    EXPECT_TRUE((*source)->problem().empty());
  }
}

} // namespace
} // namespace rankscope
