// Passes untrusted text to simdjson safely.
#pragma once

#include <string_view>

#include <simdjson.h>

namespace rankscope {

/// Parses `text` with `parser`; the element refers to the parser until its next use. `text` needs
/// no padding: it is copied. An empty or null `text` gives simdjson::EMPTY. Throws std::bad_alloc
/// when memory is short; `parser` can still be used then.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element>
parse_json(simdjson::dom::parser& parser, std::string_view text);

} // namespace rankscope
