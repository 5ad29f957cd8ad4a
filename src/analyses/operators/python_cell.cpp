#include "analyses/operators/python_cell.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace rankscope {

Value python_cell(const std::string& repr) {
  if (repr.empty() || repr == "None")
    return {};
  if (repr == "True" || repr == "False")
    return Value(repr == "True");
  std::int64_t i = 0;
  const char* const end = repr.data() + repr.size();
  if (const auto r = std::from_chars(repr.data(), end, i); r.ec == std::errc() && r.ptr == end)
    return Value(i);
  char* stop = nullptr;
  if (const double d = std::strtod(repr.c_str(), &stop); *stop == '\0')
    return Value(d);
  const std::string_view text = repr;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return Value(text.substr(1, text.size() - 2));
  return Value(text);
}

} // namespace rankscope
