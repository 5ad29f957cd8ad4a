#include "collect/profile/json_value.h"

#include "base/json_text.h"
#include "os/whole_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;
constexpr std::size_t kDeepest = 200; ///< nesting levels; a configuration has few

Json value_of(const dom::element& e) {
  Json out;
  switch (e.type()) {
  case dom::element_type::ARRAY:
    out = Json::list();
    for (const dom::element item : dom::array(e))
      out.items.push_back(value_of(item));
    break;
  case dom::element_type::OBJECT:
    out = Json::object();
    for (const auto field : dom::object(e))
      out.at(field.key) = value_of(field.value);
    break;
  case dom::element_type::STRING:
    return Json(std::string_view(e));
  case dom::element_type::INT64:
    return Json(std::int64_t(e));
  case dom::element_type::UINT64:
    return Json(std::uint64_t(e));
  case dom::element_type::DOUBLE:
    return Json(double(e));
  case dom::element_type::BOOL:
    return Json(bool(e));
  case dom::element_type::NULL_VALUE:
    break;
  }
  return out;
}

/// Rewrites relaxed JSON as strict JSON.
class Relaxed {
public:
  explicit Relaxed(const std::string& text) : in_(text) {}

  std::string run() {
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '"' || c == '\'')
        quoted(c);
      else if (c == '#' || in_.compare(at_, 2, "//") == 0)
        skip_to("\n", false);
      else if (in_.compare(at_, 2, "/*") == 0)
        skip_to("*/", true);
      else if (is_letter(c))
        word();
      else
        sign(c);
    }
    return std::move(out_);
  }
  [[nodiscard]] bool python() const { return python_; }
  [[nodiscard]] bool comments() const { return comments_; }
  [[nodiscard]] bool commas() const { return commas_; }

private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  void skip_to(std::string_view end, bool take_end) {
    comments_ = true;
    const std::size_t found = in_.find(end, at_ + 1);
    at_ = found == std::string::npos ? in_.size() : found + (take_end ? end.size() : 0);
  }

  void quoted(char quote) {
    comma_ = std::string::npos;
    python_ = python_ || quote == '\'';
    out_ += '"';
    for (++at_; at_ < in_.size() && in_[at_] != quote; ++at_) {
      const char c = in_[at_];
      if (c == '\\' && at_ + 1 < in_.size()) {
        const char next = in_[++at_];
        out_ += next == '\'' ? "'" : std::string{'\\', next};
      } else {
        out_ += c == '"' ? "\\\"" : std::string(1, c);
      }
    }
    if (at_ < in_.size()) // without a closing quote, parsing fails later
      out_ += '"';
    ++at_;
  }

  void word() {
    comma_ = std::string::npos;
    const std::size_t begin = at_;
    while (at_ < in_.size() && is_letter(in_[at_]))
      ++at_;
    const std::string_view w = std::string_view(in_).substr(begin, at_ - begin);
    const std::array<std::pair<std::string_view, std::string_view>, 3> words = {
        {{"True", "true"}, {"False", "false"}, {"None", "null"}}};
    const auto* const found =
        std::find_if(words.begin(), words.end(), [&](const auto& p) { return p.first == w; });
    python_ = python_ || found != words.end();
    out_ += found == words.end() ? w : found->second;
  }

  void sign(char c) {
    ++at_;
    python_ = python_ || c == '(';
    c = c == '(' ? '[' : c == ')' ? ']' : c;
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if ((c == ']' || c == '}') && comma_ != std::string::npos) {
      out_.erase(comma_, 1);
      commas_ = true;
    }
    if (!blank)
      comma_ = c == ',' ? out_.size() : std::string::npos;
    out_ += c;
  }

  const std::string& in_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t comma_ = std::string::npos; ///< a comma in out_ followed only by blanks
  bool python_ = false, comments_ = false, commas_ = false;
};

bool parse_strict(const std::string& text, Json& out, std::string& why) {
  dom::parser parser;
  dom::element root;
  if (const auto status = parser.allocate(text.size(), kDeepest); status != simdjson::SUCCESS) {
    why = simdjson::error_message(status);
    return false;
  }
  if (const auto status = parser.parse(text).get(root); status != simdjson::SUCCESS) {
    why = simdjson::error_message(status);
    return false;
  }
  out = value_of(root);
  return true;
}

void put(const Json& value, std::size_t depth, std::string& out) {
  const std::string inner(2 * (depth + 1), ' ');
  const std::string outer(2 * depth, ' ');
  switch (value.kind) {
  case Json::Kind::kNull:
    out += "null";
    break;
  case Json::Kind::kBool:
    out += value.flag ? "true" : "false";
    break;
  case Json::Kind::kNumber:
    out += value.text;
    break;
  case Json::Kind::kText:
    out += '"' + json_escaped(value.text) + '"';
    break;
  case Json::Kind::kList:
    out += value.items.empty() ? "[" : "[\n";
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      out += inner;
      put(value.items[i], depth + 1, out);
      out += i + 1 < value.items.size() ? ",\n" : "\n" + outer;
    }
    out += ']';
    break;
  case Json::Kind::kObject:
    out += value.members.empty() ? "{" : "{\n";
    for (std::size_t i = 0; i < value.members.size(); ++i) {
      out += inner + '"' + json_escaped(value.members[i].key) + "\": ";
      put(value.members[i].value, depth + 1, out);
      out += i + 1 < value.members.size() ? ",\n" : "\n" + outer;
    }
    out += '}';
    break;
  }
}

} // namespace

Json::Json(double value) {
  if (!std::isfinite(value))
    return;
  kind = Kind::kNumber;
  text = fmt::format("{}", value);
}

Json::Json(std::string_view value) : kind(Kind::kText), text(value) {}

Json::Json(const std::vector<std::string>& texts) : kind(Kind::kList) {
  items.assign(texts.begin(), texts.end());
}

Json Json::list() {
  Json out;
  out.kind = Kind::kList;
  return out;
}

Json Json::object() {
  Json out;
  out.kind = Kind::kObject;
  return out;
}

Json Json::object(std::initializer_list<JsonMember> members) {
  Json out = object();
  out.members = members;
  return out;
}

const Json* Json::find(std::string_view key) const {
  const auto it = std::ranges::find_if(members, [&](const JsonMember& m) { return m.key == key; });
  return it == members.end() ? nullptr : &it->value;
}

Json& Json::at(std::string_view key) {
  kind = Kind::kObject;
  const auto it = std::ranges::find_if(members, [&](const JsonMember& m) { return m.key == key; });
  if (it != members.end())
    return it->value;
  members.push_back({std::string(key), Json()});
  return members.back().value;
}

std::optional<std::string> Json::scalar() const {
  switch (kind) {
  case Kind::kText:
  case Kind::kNumber:
    return text;
  case Kind::kBool:
    return flag ? "true" : "false";
  default:
    return std::nullopt;
  }
}

std::optional<double> Json::number() const {
  double out = 0;
  const char* const end = text.data() + text.size();
  if (kind != Kind::kNumber && kind != Kind::kText)
    return std::nullopt;
  const auto [at, ec] = std::from_chars(text.data(), end, out);
  if (ec != std::errc() || at != end || text.empty() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

std::string Json::dump() const {
  std::string out;
  put(*this, 0, out);
  return out;
}

const char* kind_name(Json::Kind kind) {
  switch (kind) {
  case Json::Kind::kNull:
    return "null";
  case Json::Kind::kBool:
    return "true or false";
  case Json::Kind::kNumber:
    return "a number";
  case Json::Kind::kText:
    return "a text";
  case Json::Kind::kList:
    return "a list";
  case Json::Kind::kObject:
    return "an object";
  }
  return "";
}

Result<Json> parse_json(const std::string& text, const std::string& where,
                        std::vector<std::string>* notes) {
  Json out;
  std::string why;
  if (parse_strict(text, out, why))
    return out;
  Relaxed relaxed(text);
  std::string again;
  if (!parse_strict(relaxed.run(), out, again))
    return Error{ErrorCode::kUsage, where,
                 fmt::format("neither JSON nor a Python literal: {}", why),
                 "check quotes, commas and brackets"};
  if (notes != nullptr)
    notes->push_back(fmt::format("{}: {} accepted, although this is not JSON", where,
                                 relaxed.python()     ? "a Python literal is"
                                 : relaxed.comments() ? "comments are"
                                 : relaxed.commas()   ? "a comma before a closing bracket is"
                                                      : "this text is"));
  return out;
}

Result<Json> parse_json_file(const std::string& path, std::vector<std::string>* notes) {
  RS_TRY(const std::string text, read_input_file(path));
  return parse_json(text, path, notes);
}

void merge_json(Json& base, const Json& over) {
  if (over.is(Json::Kind::kObject) && base.is(Json::Kind::kNull))
    base = Json::object();
  if (!base.is(Json::Kind::kObject) || !over.is(Json::Kind::kObject)) {
    base = over;
    return;
  }
  for (const JsonMember& member : over.members) {
    if (member.key.size() > 1 && member.key.back() == '+' && member.value.is(Json::Kind::kList)) {
      Json& list = base.at(std::string_view(member.key).substr(0, member.key.size() - 1));
      if (!list.is(Json::Kind::kList))
        list = Json::list();
      list.items.insert(list.items.end(), member.value.items.begin(), member.value.items.end());
    } else {
      merge_json(base.at(member.key), member.value);
    }
  }
}

} // namespace rankscope
