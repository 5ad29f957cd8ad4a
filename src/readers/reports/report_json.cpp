// Reports as JSON read back. Grammar: what writers/json.cpp writes; unknown keys are skipped.
#include "readers/reports/report_tables.h"

#include <simdjson.h>

namespace rankscope {
namespace {

using simdjson::dom::element;

Result<Table> table_from(const std::string& path, std::string_view name, element json) {
  const auto bad = [&](const char* what) {
    return Error{ErrorCode::kUnreadable, path, "table " + std::string(name) + ": " + what,
                 "expected what --json writes"};
  };
  simdjson::dom::array names;
  if (json["columns"].get(names) != simdjson::SUCCESS)
    return bad("no columns");
  std::vector<Column> columns;
  for (const element entry : names) {
    std::string_view text;
    if (entry.get(text) != simdjson::SUCCESS)
      return bad("a column's name is no text");
    columns.push_back({std::string(text)});
  }
  simdjson::dom::array units;
  if (json["units"].get(units) == simdjson::SUCCESS) {
    std::size_t c = 0;
    for (const element entry : units) {
      std::string_view text;
      if (c < columns.size() && entry.get(text) == simdjson::SUCCESS)
        columns[c].unit = unit_named(text);
      ++c;
    }
  }
  Table out(std::string(name), std::move(columns));
  simdjson::dom::array rows;
  if (json["rows"].get(rows) != simdjson::SUCCESS)
    return bad("no rows");
  for (const element row : rows) {
    simdjson::dom::array cells;
    if (row.get(cells) != simdjson::SUCCESS || cells.size() > out.cols())
      return bad("a row that does not fit the columns");
    std::vector<Value> values;
    for (const element cell : cells) {
      switch (cell.type()) {
      case simdjson::dom::element_type::INT64:
        values.emplace_back(cell.get_int64().value_unsafe());
        break;
      case simdjson::dom::element_type::DOUBLE:
        values.emplace_back(cell.get_double().value_unsafe());
        break;
      case simdjson::dom::element_type::BOOL:
        values.emplace_back(cell.get_bool().value_unsafe());
        break;
      case simdjson::dom::element_type::STRING:
        values.emplace_back(cell.get_string().value_unsafe());
        break;
      case simdjson::dom::element_type::NULL_VALUE:
        values.emplace_back();
        break;
      default:
        return bad("a cell that is no number, text, truth value or null");
      }
    }
    out.add_row(values);
  }
  simdjson::dom::array notes;
  if (json["notes"].get(notes) == simdjson::SUCCESS)
    for (const element note : notes) {
      std::string_view text;
      if (note.get(text) == simdjson::SUCCESS)
        out.notes.emplace_back(text);
    }
  return out;
}

} // namespace

Result<Report> read_report_json(const std::string& path) {
  simdjson::dom::parser parser;
  element root;
  simdjson::dom::object tables;
  if (const auto error = parser.load(path).get(root); error != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, path, simdjson::error_message(error), ""};
  if (root["tables"].get(tables) != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, path, "no object \"tables\"",
                 "expected what --json writes"};
  Report out;
  std::string_view title;
  if (root["title"].get(title) == simdjson::SUCCESS)
    out.title = title;
  for (const auto field : tables) {
    RS_TRY(Table table, table_from(path, field.key, field.value));
    out.tables.push_back(std::move(table));
  }
  return out;
}

} // namespace rankscope
