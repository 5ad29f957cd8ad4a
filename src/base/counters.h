// The counters of Diagnostics: each is declared once in counters.def, with its sentence.
#pragma once

#include "base/diagnostics.h"

#include <fmt/core.h>

namespace rankscope {

/// Makes a Problem from the sentence's parameters; a parameter of the wrong type does not compile.
template <class Parameters> struct Counter;

template <class... Parameters> struct Counter<void(Parameters...)> {
  const char* key;
  Severity severity;
  bool by_place;
  fmt::format_string<const Parameters&...> sentence;

  [[nodiscard]] Problem operator()(const Parameters&... parameters) const {
    return {key, severity, 0, "", fmt::format(sentence, parameters...), by_place};
  }
};

namespace counters {

using Text = std::string_view;
using Number = std::int64_t;
using Count = std::uint64_t;
inline constexpr bool kOnce = false, kEach = true;

#define RS_COUNTER_AS(name, key, severity, place, parameters, sentence)                            \
  inline constexpr Counter<void parameters> name{#key, Severity::severity, place, sentence};
#define RS_COUNTER(name, severity, place, parameters, sentence)                                    \
  RS_COUNTER_AS(name, name, severity, place, parameters, sentence)
#include "base/counters.def"
#undef RS_COUNTER
#undef RS_COUNTER_AS

} // namespace counters
} // namespace rankscope
