#include "analyses/operators/python_cell.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace rankscope {
namespace {

enum class ReprKind { kNone, kInteger, kFloat, kOther };

ReprKind kind_of(const std::string& repr) {
  if (repr.empty() || repr == "None")
    return ReprKind::kNone;
  std::int64_t i = 0;
  const char* const end = repr.data() + repr.size();
  if (const auto r = std::from_chars(repr.data(), end, i); r.ec == std::errc() && r.ptr == end)
    return ReprKind::kInteger;
  char* stop = nullptr;
  std::strtod(repr.c_str(), &stop);
  return *stop == '\0' ? ReprKind::kFloat : ReprKind::kOther;
}

} // namespace

Value python_cell(const std::string& repr) {
  switch (kind_of(repr)) {
  case ReprKind::kNone:
    return {};
  case ReprKind::kInteger: {
    std::int64_t i = 0;
    std::from_chars(repr.data(), repr.data() + repr.size(), i);
    return Value(i);
  }
  case ReprKind::kFloat:
    return Value(std::strtod(repr.c_str(), nullptr));
  case ReprKind::kOther:
    break;
  }
  if (repr == "True" || repr == "False")
    return Value(repr == "True");
  const std::string_view text = repr;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return Value(text.substr(1, text.size() - 2));
  return Value(text);
}

Value reference_cell(const std::string& repr) {
  return repr == "None" || repr == "nan" ? Value(std::string_view(repr)) : python_cell(repr);
}

void ReferenceTexts::add(const std::string* repr) {
  const ReprKind kind = repr == nullptr ? ReprKind::kNone : kind_of(*repr);
  integers_ |= kind == ReprKind::kInteger;
  floats_ |= kind == ReprKind::kFloat;
  others_ |= kind == ReprKind::kOther;
  gaps_ |= kind == ReprKind::kNone;
  known_ |= repr != nullptr;
}

std::string ReferenceTexts::text(const std::string* repr) const {
  if (!known_)
    return "";
  const bool numbers = !others_ && (integers_ || floats_);
  if (repr == nullptr || (numbers && kind_of(*repr) == ReprKind::kNone))
    return "nan";
  const bool to_float = numbers && (floats_ || gaps_) && kind_of(*repr) == ReprKind::kInteger;
  return to_float ? *repr + ".0" : *repr;
}

} // namespace rankscope
