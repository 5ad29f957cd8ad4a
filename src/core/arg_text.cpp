#include "core/arg_text.h"

#include "base/number_text.h"
#include "core/json_parse.h"

#include <algorithm>

namespace rankscope {
namespace {

ArgValue convert(simdjson::dom::element e) {
  ArgValue v;
  std::uint64_t big = 0;
  bool flag = false;
  std::string_view text;
  simdjson::dom::array array;
  if (e.get(v.i) == simdjson::SUCCESS) {
    v.kind = ArgValue::Kind::kInt;
  } else if (e.get(big) == simdjson::SUCCESS) {
    v.kind = ArgValue::Kind::kFloat;
    v.d = static_cast<double>(big);
  } else if (e.get(v.d) == simdjson::SUCCESS) {
    v.kind = ArgValue::Kind::kFloat;
  } else if (e.get(flag) == simdjson::SUCCESS) {
    v.kind = ArgValue::Kind::kBool;
    v.i = flag ? 1 : 0;
  } else if (e.get(text) == simdjson::SUCCESS) {
    v.kind = ArgValue::Kind::kText;
    v.text = std::string(text);
  } else if (e.get(array) == simdjson::SUCCESS) {
    v.kind = ArgValue::Kind::kList;
    for (const simdjson::dom::element item : array)
      v.list.push_back(convert(item));
  }
  return v;
}

} // namespace

bool ArgValue::is_int_list() const {
  return kind == Kind::kList &&
         std::ranges::all_of(list, [](const ArgValue& item) { return item.kind == Kind::kInt; });
}

std::vector<std::int64_t> ArgValue::ints() const {
  std::vector<std::int64_t> out;
  for (const ArgValue& item : list)
    if (item.kind == Kind::kInt)
      out.push_back(item.i);
  return out;
}

ArgValue parse_arg_text(std::string_view json) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parse_json(parser, json).get(root) != simdjson::SUCCESS)
    return {};
  return convert(root);
}

std::string normal_arg_text(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 4);
  bool inside = false; // true inside a JSON string
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inside) {
      out += c;
      if (c == '\\' && i + 1 < json.size())
        out += json[++i];
      inside = c != '"';
    } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      out += c;
      inside = c == '"';
      if (c == ',' || c == ':')
        out += ' ';
    }
  }
  return out;
}

std::shared_ptr<const ArgValue> ArgValues::value(StrId text, const StringPool& strings) const {
  static const auto kNone = std::make_shared<const ArgValue>();
  if (text == kEmptyStr)
    return kNone;
  const std::lock_guard lock(state_->mutex);
  std::shared_ptr<const ArgValue>& value = state_->values[text];
  if (value == nullptr)
    value = std::make_shared<const ArgValue>(parse_arg_text(strings.view(text)));
  return value;
}

std::string python_quote(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out + quote;
}

std::string python_repr(const ArgValue& v, bool tuples) {
  switch (v.kind) {
  case ArgValue::Kind::kNull:
    return "None";
  case ArgValue::Kind::kInt:
    return std::to_string(v.i);
  case ArgValue::Kind::kFloat:
    return python_float(v.d);
  case ArgValue::Kind::kBool:
    return v.i != 0 ? "True" : "False";
  case ArgValue::Kind::kText:
    return python_quote(v.text);
  case ArgValue::Kind::kList:
    break;
  }
  std::string out = tuples ? "(" : "[";
  for (std::size_t i = 0; i < v.list.size(); ++i)
    out += (i > 0 ? ", " : "") + python_repr(v.list[i], tuples);
  if (tuples && v.list.size() == 1)
    out += ",";
  return out + (tuples ? ")" : "]");
}

std::string python_repr(std::string_view json, bool tuples) {
  return json.empty() ? std::string() : python_repr(parse_arg_text(json), tuples);
}

} // namespace rankscope
