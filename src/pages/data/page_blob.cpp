#include "pages/data/page_blob.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rankscope {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written in the byte order of memory");

void pad(std::string& bytes) {
  bytes.append((8 - bytes.size() % 8) % 8, '\0');
}

template <class T> std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const char* kind_of(const Column& column, bool textual) {
  if (textual)
    return "text";
  return column.type == CellKind::kInt ? "int" : column.type == CellKind::kBool ? "bool" : "real";
}

} // namespace

void PageBlob::place(std::string_view key, const char* type, std::size_t count,
                     std::string_view bytes) {
  pad(arrays_);
  json.begin_object(key);
  json.text("t", type);
  json.integer("o", static_cast<std::int64_t>(arrays_.size()));
  json.integer("n", static_cast<std::int64_t>(count));
  json.end_object();
  arrays_.append(bytes);
}

template <class T>
void PageBlob::integers_as(std::string_view key, const char* type,
                           std::span<const std::uint32_t> values) {
  std::vector<T> narrow;
  narrow.reserve(values.size());
  for (const std::uint32_t v : values)
    narrow.push_back(static_cast<T>(v));
  place(key, type, narrow.size(), bytes_of(narrow));
}

void PageBlob::integers(std::string_view key, std::span<const std::uint32_t> values) {
  const std::uint32_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (most <= 0xffU)
    integers_as<std::uint8_t>(key, "u8", values);
  else if (most <= 0xffffU)
    integers_as<std::uint16_t>(key, "u16", values);
  else
    integers_as<std::uint32_t>(key, "u32", values);
}

void PageBlob::reals(std::string_view key, std::span<const double> values) {
  place(key, "f64", values.size(),
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

void PageBlob::times(std::string_view key, std::span<const std::int64_t> ns) {
  std::vector<std::uint32_t> low, high;
  low.reserve(ns.size());
  bool any = false;
  for (const std::int64_t v : ns) {
    const auto u = static_cast<std::uint64_t>(std::max<std::int64_t>(v, 0));
    low.push_back(static_cast<std::uint32_t>(u & 0xffffffffU));
    high.push_back(static_cast<std::uint32_t>(u >> 32U));
    any = any || high.back() != 0;
  }
  json.begin_object(key);
  integers("lo", low);
  if (any)
    integers("hi", high);
  json.end_object();
}

void PageBlob::table(std::string_view key, const Table& table) {
  json.begin_object(key);
  json.text("name", table.name());
  json.integer("rows", static_cast<std::int64_t>(table.rows()));
  json.texts("notes", table.notes);
  json.begin_list("columns");
  std::vector<std::uint32_t> texts(table.rows());
  std::vector<double> numbers(table.rows());
  for (std::size_t c = 0; c < table.cols(); ++c) {
    const Column& column = table.columns()[c];
    bool textual = column.type == CellKind::kText;
    for (std::size_t r = 0; r < table.rows(); ++r)
      textual = textual || table.at(r, c).kind == CellKind::kText;
    json.begin_object();
    json.text("id", column.id.empty() ? column.name : column.id);
    json.text("label", column.name);
    json.text("unit", unit_name(column.unit));
    json.text("kind", kind_of(column, textual));
    json.text("help", column.help);
    json.boolean("delta", column.delta);
    json.boolean("status", column.status);
    for (std::size_t r = 0; r < table.rows(); ++r) {
      const Value cell = table.at(r, c);
      if (textual)
        texts[r] = text(cell.kind == CellKind::kText ? cell.text : std::string_view());
      else
        numbers[r] = cell.number();
    }
    if (textual)
      integers("data", texts);
    else
      reals("data", numbers);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

std::string PageBlob::take() {
  std::vector<std::string> all;
  all.reserve(strings_.size());
  for (StrId id = 0; id < strings_.size(); ++id)
    all.emplace_back(strings_.view(id));
  json.texts("strings", all);
  json.end_object();
  const std::string text = json.take();
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string out;
  out.reserve(text.size() + arrays_.size() + 16);
  for (unsigned shift = 0; shift < 32; shift += 8)
    out += static_cast<char>(length >> shift & 0xffU);
  out += text;
  pad(out);
  return out + std::exchange(arrays_, {});
}

} // namespace rankscope
