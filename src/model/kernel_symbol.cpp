#include "model/kernel_symbol.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace rankscope {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

bool symbol_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the position after the closing bracket of the bracket at `at`; if there is no closing
/// bracket, the end of the text. Inside round brackets, < and > are operators:
/// "enable_if<((8)>(0))>".
std::size_t after_bracket(std::string_view text, std::size_t at) {
  const bool angle = text[at] == '<';
  int round = 0;
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    round += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (angle && round == 0)
      depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (angle ? (round == 0 && depth == 0) : round == 0)
      return at + 1;
  }
  return text.size();
}

/// Splits a text at each `separator` that is not inside brackets, and calls `part(begin, end)` for
/// each part.
template <class Part>
void split_outside(std::string_view text, std::string_view separator, const Part& part) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '<' || text[at] == '(') {
      at = after_bracket(text, at);
    } else if (text.substr(at, separator.size()) == separator) {
      part(text.substr(begin, at - begin));
      at += separator.size();
      begin = at;
    } else {
      ++at;
    }
  }
  part(text.substr(begin));
}

std::string erased(std::string_view text, std::string_view what) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(what, at);
    out += text.substr(at, next == std::string_view::npos ? next : next - at);
    if (next == std::string_view::npos)
      return out;
    at = next + what.size();
  }
}

void add_once(std::vector<std::string>& to, std::string text) {
  if (!text.empty() && std::find(to.begin(), to.end(), text) == to.end())
    to.push_back(std::move(text));
}

/// Returns the digits of a number such as "4", "4ul" or "-2"; empty for any other text.
std::string_view whole_number(std::string_view text) {
  std::string_view digits = text;
  while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'l'))
    digits.remove_suffix(1);
  const std::string_view rest = digits.substr(digits.starts_with('-') ? 1 : 0);
  return !rest.empty() && std::ranges::all_of(rest, symbol_digit) ? digits : std::string_view();
}

void read_arguments(KernelSymbol& out) {
  split_outside(out.arguments, ",", [&](std::string_view part) {
    part = trimmed(part, " ");
    if (std::string type = short_type(part); !type.empty())
      add_once(out.types, std::move(type));
    else if (const std::string_view number = whole_number(part); !number.empty())
      out.sizes.emplace_back(number);
    else if (out.first_class.empty() && part != "true" && part != "false" && !part.empty() &&
             part.front() != '(')
      out.first_class = std::string(part);
  });
}

std::optional<KernelSymbol> demangled(std::string_view text) {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool parts = false;
  while (end < text.size()) {
    const char c = text[end];
    if (c == '(' && end > begin && !text.substr(begin, end - begin).ends_with("operator"))
      break;
    parts |= c == '<' || c == '(' || text.substr(end, 2) == "::";
    if (c == '<' || c == '(') {
      end = after_bracket(text, end);
      continue;
    }
    ++end;
    if (c == ' ')
      begin = end; // the text before the blank is the type of the result
  }
  if (begin >= end || (!parts && end == text.size()))
    return std::nullopt;
  KernelSymbol out;
  split_outside(text.substr(begin, end - begin), "::", [&](std::string_view part) {
    const std::size_t open = part.find('<');
    out.scopes.emplace_back(part.substr(0, open));
    out.arguments = open == std::string_view::npos
                        ? std::string()
                        : std::string(part.substr(open + 1, part.size() - open - 2));
  });
  out.base = std::move(out.scopes.back());
  out.scopes.pop_back();
  if (out.base.empty())
    return std::nullopt;
  read_arguments(out);
  return out;
}

/// Reads a mangled name from its beginning.
class Mangled {
public:
  explicit Mangled(std::string_view rest) : rest_(rest) {}

  std::optional<KernelSymbol> read() {
    const bool nested = take('N');
    while (nested && (take('K') || take('V')))
      ;
    KernelSymbol out;
    std::vector<std::string> path;
    for (;;) {
      if (const auto name = identifier(); name) {
        if (!name->starts_with("_GLOBAL__N"))
          path.emplace_back(*name);
      } else if (take('I')) {
        out.types.clear();
        out.sizes.clear();
        out.first_class.clear();
        arguments(out);
      } else if (nested && !rest_.empty() && rest_.front() == 'S') {
        substitution();
      } else {
        break;
      }
      if (!nested && (rest_.empty() || rest_.front() != 'I'))
        break;
    }
    if (path.empty())
      return std::nullopt;
    out.base = std::move(path.back());
    path.pop_back();
    out.scopes = std::move(path);
    return out;
  }

private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c)
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Reads an identifier such as "6kernel".
  std::optional<std::string_view> identifier() {
    std::size_t length = 0;
    const auto r = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
    const auto digits = static_cast<std::size_t>(r.ptr - rest_.data());
    if (r.ec != std::errc() || digits == 0 || length == 0 || length > rest_.size() - digits)
      return std::nullopt;
    const std::string_view out = rest_.substr(digits, length);
    rest_.remove_prefix(digits + length);
    return out;
  }

  /// Reads a substitution such as "S_", "S1A_" or "St".
  void substitution() {
    rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() >= 'a' && rest_.front() <= 'z')
      rest_.remove_prefix(1);
    else
      through_underscore();
  }

  void through_underscore() {
    const std::size_t at = rest_.find('_');
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + 1);
  }

  std::string plain_type() {
    static constexpr std::array<Names, 15> kTypes = {{{"DF16b", "bf16"},
                                                      {"DF16_", "f16"},
                                                      {"Dh", "f16"},
                                                      {"f", "f32"},
                                                      {"d", "f64"},
                                                      {"i", "i32"},
                                                      {"j", "u32"},
                                                      {"l", "i64"},
                                                      {"x", "i64"},
                                                      {"m", "u64"},
                                                      {"s", "i16"},
                                                      {"t", "u16"},
                                                      {"a", "i8"},
                                                      {"c", "i8"},
                                                      {"h", "u8"}}};
    for (const auto& [code, name] : kTypes)
      if (rest_.starts_with(code)) {
        rest_.remove_prefix(code.size());
        return std::string(name);
      }
    return "";
  }

  void through_end() {
    const std::size_t at = rest_.find('E');
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + 1);
  }

  /// Reads the rest of a literal such as "Li256E" or "Lb1E" after the 'L'. Returns false if its
  /// type is a named type, or if it is a function.
  bool plain_literal(KernelSymbol& out, bool outermost) {
    const std::size_t end = rest_.find('E');
    if (end == std::string_view::npos || end < 2 ||
        std::string_view("ijlmstxyahcbn").find(rest_.front()) == std::string_view::npos)
      return false;
    if (const std::string_view number = rest_.substr(1, end - 1);
        outermost && rest_.front() != 'b' && !whole_number(number).empty())
      out.sizes.emplace_back(number);
    rest_.remove_prefix(end + 1);
    return true;
  }

  /// Reads template arguments: the text after 'I' to the 'E' that ends them.
  void arguments(KernelSymbol& out) {
    std::string open = "I";   // the open groups, innermost last: I J N X F, L, and Z for a function
                              // in L
    std::string nested_class; // name of the class, if the argument begins with 'N'
    const auto add_class = [&out](std::string_view name) {
      if (std::string type = short_type(name); !type.empty())
        add_once(out.types, std::move(type));
      else if (out.first_class.empty())
        out.first_class = std::string(name);
    };
    const auto close = [&] {
      const bool is_nested = open.back() == 'N';
      open.pop_back();
      if (open.size() == 1 && is_nested)
        add_class(nested_class);
      if (is_nested && !open.empty() && open.back() == 'L') { // the value of an enumeration
        through_end();
        open.pop_back();
      }
    };
    while (!open.empty() && !rest_.empty()) {
      if (const auto name = identifier(); name) {
        if (open.size() == 1)
          add_class(*name);
        else if (open.size() == 2)
          nested_class = std::string(*name);
        if (open.back() == 'L') {
          through_end();
          open.pop_back();
        }
        continue;
      }
      const char c = rest_.front();
      if (c == 'S') {
        substitution();
        continue;
      }
      if (std::string type = plain_type(); !type.empty()) {
        if (open.size() == 1)
          add_once(out.types, std::move(type));
        continue;
      }
      rest_.remove_prefix(1);
      if (c == 'L') {
        if (!plain_literal(out, open.size() == 1))
          open += rest_.starts_with("_Z") ? 'Z' : 'L';
      } else if (c == 'T') { // "T_" and "T0_" are parameters; "Tn" declares one
        if (!take('n'))
          through_underscore();
      } else if (c == 'N' || c == 'I' || c == 'J' || c == 'X' || c == 'F') {
        open += c;
      } else if (c == 'E') {
        close();
      }
    }
  }

  std::string_view rest_;
};

} // namespace

std::vector<std::string> types_in(std::string_view list) {
  std::vector<std::string> out;
  split_outside(list, ",", [&](std::string_view part) { add_once(out, short_type(part)); });
  return out;
}

std::string_view bracketed(std::string_view text, std::size_t at) {
  const std::string_view brackets = text.substr(at, after_bracket(text, at) - at);
  return brackets.substr(1, brackets.size() - std::min<std::size_t>(brackets.size(), 2));
}

std::string short_type(std::string_view type) {
  static constexpr std::array<Names, 34> kTypes = {
      {{"float", "f32"},         {"double", "f64"},
       {"BFloat16", "bf16"},     {"__nv_bfloat16", "bf16"},
       {"nv_bfloat16", "bf16"},  {"__hip_bfloat16", "bf16"},
       {"hip_bfloat16", "bf16"}, {"bfloat16_t", "bf16"},
       {"Half", "f16"},          {"__half", "f16"},
       {"half", "f16"},          {"half_t", "f16"},
       {"Float8_e4m3fn", "f8"},  {"Float8_e4m3fnuz", "f8"},
       {"Float8_e5m2", "bf8"},   {"Float8_e5m2fnuz", "bf8"},
       {"float_e4m3_t", "f8"},   {"float_e5m2_t", "bf8"},
       {"tfloat32_t", "tf32"},   {"long", "i64"},
       {"long long", "i64"},     {"int64_t", "i64"},
       {"unsigned long", "u64"}, {"int", "i32"},
       {"int32_t", "i32"},       {"unsigned int", "u32"},
       {"short", "i16"},         {"signed char", "i8"},
       {"int8_t", "i8"},         {"char", "i8"},
       {"unsigned char", "u8"},  {"uint8_t", "u8"},
       {"uint16_t", "u16"},      {"bool", "bool"}}};
  type = trimmed(type, " ");
  while (!type.empty() && (type.back() == '*' || type.back() == '&' || type.back() == ' '))
    type.remove_suffix(1);
  if (type.ends_with(" const"))
    type.remove_suffix(6);
  if (const std::size_t open = type.find('<'); open != std::string_view::npos) {
    if (type.ends_with("complex<float>"))
      return "c64";
    if (type.ends_with("complex<double>"))
      return "c128";
    const std::string_view head = type.substr(0, open);
    if (!head.ends_with("OpaqueType"))
      return "";
    const std::string_view bytes = whole_number(type.substr(open + 1, type.size() - open - 2));
    return bytes.empty() ? "" : std::string(bytes) + "B"; // any type with this number of bytes
  }
  if (const std::size_t scope = type.rfind("::"); scope != std::string_view::npos)
    type.remove_prefix(scope + 2);
  for (const auto& [name, brief] : kTypes)
    if (type == name)
      return std::string(brief);
  return "";
}

std::optional<KernelSymbol> parse_kernel_symbol(std::string_view name) {
  if (name.starts_with("_Z") && name.size() > 3)
    return Mangled(name.substr(2)).read();
  return demangled(erased(erased(name, "(anonymous namespace)::"), "(anonymous namespace)"));
}

} // namespace rankscope
