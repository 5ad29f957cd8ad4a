// One way to hand text of unknown origin to simdjson.
#pragma once

#include <string_view>

#include <simdjson.h>

namespace rankscope {

/// Parses `text` with `parser`; the element refers to the parser until its next use. `text` needs
/// no padding: it is copied. Empty text, with or without an address, is simdjson::EMPTY. Throws
/// std::bad_alloc when memory is short, and leaves `parser` fit for use then.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element>
parse_json(simdjson::dom::parser& parser, std::string_view text);

} // namespace rankscope
