// Tests that texts of parameters are the same as in the tables of the reference.
#include "analyses/operators/python_cell.h"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

namespace rankscope {
namespace {

using Reprs = std::vector<std::optional<std::string>>; ///< nullopt: the call lacks the parameter

std::vector<std::string> texts(const Reprs& reprs) {
  ReferenceTexts column;
  for (const auto& repr : reprs)
    column.add(repr ? &*repr : nullptr);
  std::vector<std::string> out;
  for (const auto& repr : reprs)
    out.push_back(column.text(repr ? &*repr : nullptr));
  return out;
}

TEST(ReferenceTexts, FollowTheTypeOfTheColumn) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts({"4", "16"}), (Texts{"4", "16"}));
  EXPECT_EQ(texts({"4", "None", std::nullopt}), (Texts{"4.0", "nan", "nan"}));
  EXPECT_EQ(texts({"4", "0.5"}), (Texts{"4.0", "0.5"}));
  EXPECT_EQ(texts({"(1,)", "None", std::nullopt}), (Texts{"(1,)", "None", "nan"}));
  EXPECT_EQ(texts({"None", "None"}), (Texts{"None", "None"}));
  EXPECT_EQ(texts({"True", std::nullopt}), (Texts{"True", "nan"}));
  EXPECT_EQ(texts({std::nullopt}), (Texts{""})); // no call has the parameter
}

TEST(ReferenceCell, NoneAndNanAreTexts) {
  const std::string none = "None";
  const std::string nan = "nan";
  EXPECT_EQ(reference_cell(none).text, "None");
  EXPECT_EQ(reference_cell(nan).text, "nan");
  EXPECT_TRUE(python_cell(none).is_null());
  EXPECT_EQ(reference_cell("7").i, 7);
}

} // namespace
} // namespace rankscope
