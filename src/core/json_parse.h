// Parses untrusted text with simdjson.
#pragma once

#include <string_view>

#include <simdjson.h>

namespace rankscope {

/// Parses `text` with `parser`. The result refers to memory of the parser and is valid until the
/// parser is used again. `text` needs no padding, because it is copied. An empty or null `text`
/// gives simdjson::EMPTY. Throws std::bad_alloc if memory is not sufficient; `parser` can still be
/// used then.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element>
parse_json(simdjson::dom::parser& parser, std::string_view text);

} // namespace rankscope
