// Tests the conversion of cells of each kind to columns of each type.
#include "sql/column_cell.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ColumnCell, IntegersTakeNumbersThatFit) {
  EXPECT_EQ(integer_cell(Value(std::int64_t{INT64_MIN})), INT64_MIN);
  EXPECT_EQ(integer_cell(Value(-2.9)), -2);
  EXPECT_EQ(integer_cell(Value(true)), 1);
  for (const Value& none : {Value(), Value("7"), Value(std::nan("")), Value(1e19), Value(-1e300)})
    EXPECT_EQ(integer_cell(none), std::nullopt);
}

TEST(ColumnCell, NumbersAndFlags) {
  EXPECT_EQ(number_cell(Value(3)), 3.0);
  EXPECT_EQ(number_cell(Value(INFINITY)), INFINITY);
  EXPECT_EQ(number_cell(Value("3")), std::nullopt);
  EXPECT_EQ(bool_cell(Value(0.5)), true);
  EXPECT_EQ(bool_cell(Value(0)), false);
  EXPECT_EQ(bool_cell(Value(std::nan(""))), std::nullopt);
}

TEST(ColumnCell, TextsAreUtf8) {
  std::string storage;
  EXPECT_EQ(text_cell(Value("\xff"
                            "a"),
                      storage),
            "\xef\xbf\xbd"
            "a");
  EXPECT_EQ(text_cell(Value(""), storage), "");
  EXPECT_EQ(text_cell(Value(std::string_view()), storage), "");
  EXPECT_EQ(text_cell(Value(0.5), storage), "0.5");
  EXPECT_EQ(text_cell(Value(true), storage), "true");
  EXPECT_EQ(text_cell(Value(), storage), std::nullopt);
  EXPECT_EQ(typed_cell(Value(2), CellKind::kText, storage).text, "2");
  EXPECT_TRUE(typed_cell(Value("2"), CellKind::kInt, storage).is_null());
  EXPECT_TRUE(typed_cell(Value(2), CellKind::kNull, storage).is_null());
}

} // namespace
} // namespace rankscope
