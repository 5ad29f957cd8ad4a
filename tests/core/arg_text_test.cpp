// Tests texts of operator arguments: their normal form, and that their values are parsed once.
#include "core/arg_text.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ArgText, NormalFormIsThatOfKineto) {
  for (const char* text : {"[[2,3],[]]", "[[2, 3], []]", " [ [2 ,3 ] ,\n\t[ ] ]\r\n"})
    EXPECT_EQ(normal_arg_text(text), "[[2, 3], []]") << text;
  EXPECT_EQ(normal_arg_text(R"({"a":1,"b" : [ ]})"), R"({"a": 1, "b": []})");
  EXPECT_EQ(normal_arg_text(""), "");
  // text in quotes is unchanged: white space, commas, escaped quotes
  const char* const strings = R"(["a , b", "c\" ,d", "\\", ""])";
  EXPECT_EQ(normal_arg_text(strings), strings);
  EXPECT_EQ(normal_arg_text("[\"not closed ,"), "[\"not closed ,");
}

TEST(ArgText, NormalFormChangesNoValue) {
  for (const char* text : {"[[2,3],[]]", R"(["a , b",1.5e3 ,true,null])", "3", R"("x y")"})
    EXPECT_EQ(python_repr(normal_arg_text(text), true), python_repr(text, true)) << text;
}

TEST(ArgValues, OneValuePerText) {
  StringPool strings;
  const StrId id = strings.intern("[[2, 3], [4]]");
  const ArgValues values;
  const auto first = values.value(id, strings);
  EXPECT_EQ(first.get(), values.value(id, strings).get());
  EXPECT_EQ(python_repr(*first, true), "((2, 3), (4,))");
  EXPECT_EQ(values.value(kEmptyStr, strings)->kind, ArgValue::Kind::kNull);
  EXPECT_EQ(values.value(strings.intern("[1, "), strings)->kind, ArgValue::Kind::kNull);
}

} // namespace
} // namespace rankscope
