// Reads cells of tables that a command prints with --json, by column id.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::test {

/// A table of `--json`.
class SaidTable {
public:
  explicit SaidTable(simdjson::dom::element table) {
    for (const std::string_view id : table["ids"].get_array())
      ids_.emplace_back(id);
    for (const simdjson::dom::element row : table["rows"].get_array())
      rows_.push_back(row.get_array());
  }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] std::optional<double> number(std::size_t row, const std::string& id) const {
    double value = 0;
    if (cell(row, id).get(value) != simdjson::SUCCESS)
      return std::nullopt;
    return value;
  }
  [[nodiscard]] std::string text(std::size_t row, const std::string& id) const {
    std::string_view value;
    return cell(row, id).get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
  }

  [[nodiscard]] simdjson::simdjson_result<simdjson::dom::element>
  cell(std::size_t row, const std::string& id) const {
    const auto at = std::find(ids_.begin(), ids_.end(), id);
    EXPECT_NE(at, ids_.end()) << id;
    return rows_[row].at(static_cast<std::size_t>(at - ids_.begin()));
  }

private:
  std::vector<std::string> ids_;
  std::vector<simdjson::dom::array> rows_;
};

} // namespace rankscope::test
