#include "sql/query_result.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

using namespace duckdb;

template <class T> T at(const void* data, std::size_t row) {
  return static_cast<const T*>(data)[row];
}

Value integer_value(std::uint64_t v) {
  return v <= INT64_MAX ? Value(static_cast<std::int64_t>(v)) : Value(static_cast<double>(v));
}

Value huge(const HugeInt& v) {
  if ((v.upper == 0 && v.lower <= INT64_MAX) || (v.upper == -1 && v.lower > INT64_MAX))
    return static_cast<std::int64_t>(v.lower);
  return static_cast<double>(v.upper) * 0x1p64 + static_cast<double>(v.lower);
}

std::string_view text_at(const void* data, std::size_t row) {
  const Text& text = static_cast<const Text*>(data)[row];
  if (text.length <= text.bytes.size())
    return {text.bytes.data(), text.length};
  const char* outside = nullptr;
  std::memcpy(&outside, text.bytes.data() + 4, sizeof outside);
  return {outside, text.length};
}

Value cell(int type, const void* data, std::size_t row) {
  switch (type) {
  case kBoolean:
    return at<bool>(data, row);
  case kTinyInt:
    return std::int64_t{at<std::int8_t>(data, row)};
  case kSmallInt:
    return std::int64_t{at<std::int16_t>(data, row)};
  case kInteger:
    return std::int64_t{at<std::int32_t>(data, row)};
  case kBigInt:
    return at<std::int64_t>(data, row);
  case kUTinyInt:
    return std::int64_t{at<std::uint8_t>(data, row)};
  case kUSmallInt:
    return std::int64_t{at<std::uint16_t>(data, row)};
  case kUInteger:
    return std::int64_t{at<std::uint32_t>(data, row)};
  case kUBigInt:
    return integer_value(at<std::uint64_t>(data, row));
  case kHugeInt:
    return huge(at<HugeInt>(data, row));
  case kFloat:
    return static_cast<double>(at<float>(data, row));
  case kDouble:
    return at<double>(data, row);
  case kVarchar:
    return text_at(data, row);
  default:
    return {};
  }
}

CellKind kind_of(int type) {
  switch (type) {
  case kBoolean:
    return CellKind::kBool;
  case kFloat:
  case kDouble:
    return CellKind::kDouble;
  case kUBigInt:
  case kHugeInt:
    return CellKind::kNull; // cells are integers, or doubles if the value does not fit
  case kVarchar:
    return CellKind::kText;
  default:
    return readable_as(type) == Readable::kAsIs ? CellKind::kInt : CellKind::kNull;
  }
}

bool is_json(const DuckDbLibrary& calls, ResultBlock& result, std::uint64_t column) {
  LogicalType type = calls.column_logical_type(&result, column);
  char* const alias = calls.logical_type_get_alias(type);
  const bool out = alias != nullptr && std::string_view(alias) == "JSON";
  calls.free(alias);
  calls.destroy_logical_type(&type);
  return out;
}

/// One column of a block of rows.
struct BlockColumn {
  int type = 0;
  const void* data = nullptr;
  const std::uint64_t* validity = nullptr;

  [[nodiscard]] Value at(std::size_t row) const {
    if (validity != nullptr && (validity[row / 64] >> (row % 64) & 1U) == 0)
      return {};
    return cell(type, data, row);
  }
};

} // namespace

Readable readable_as(int type) {
  switch (type) {
  case kBoolean:
  case kTinyInt:
  case kSmallInt:
  case kInteger:
  case kBigInt:
  case kUTinyInt:
  case kUSmallInt:
  case kUInteger:
  case kUBigInt:
  case kFloat:
  case kDouble:
  case kHugeInt:
  case kVarchar:
    return Readable::kAsIs;
  case kDecimal:
    return Readable::kAsDouble;
  case kList:
  case kStruct:
  case kMap:
  case kUnion:
  case kArray:
    return Readable::kAsJson;
  default:
    return Readable::kAsText;
  }
}

Table query_table(const DuckDbLibrary& calls, ResultBlock& result, std::string name) {
  std::vector<Column> columns;
  std::vector<BlockColumn> block(calls.column_count(&result));
  for (std::uint64_t c = 0; c < block.size(); ++c) {
    block[c].type = calls.column_type(&result, c);
    const std::string label = calls.column_name(&result, c);
    ColumnStyle style;
    style.nested = is_json(calls, result, c);
    columns.emplace_back(label, label, Unit::kNone, kind_of(block[c].type), "", style);
  }
  Table out(std::move(name), std::move(columns));
  std::vector<Value> values(block.size());
  while (DataChunk chunk = calls.fetch_chunk(result)) {
    for (std::uint64_t c = 0; c < block.size(); ++c) {
      const Vector vector = calls.data_chunk_get_vector(chunk, c);
      block[c].data = calls.vector_get_data(vector);
      block[c].validity = calls.vector_get_validity(vector);
    }
    const std::size_t rows = calls.data_chunk_get_size(chunk);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t c = 0; c < block.size(); ++c)
        values[c] = block[c].at(row);
      out.add_row(values);
    }
    calls.destroy_data_chunk(&chunk);
  }
  return out;
}

} // namespace rankscope
