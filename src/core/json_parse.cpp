#include "core/json_parse.h"

#include <new>

namespace rankscope {

simdjson::simdjson_result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser,
                                                             std::string_view text) {
  if (text.empty()) // simdjson would copy from the address of the text, which can be null if it is
                    // empty
    return simdjson::EMPTY;
  auto result = parser.parse(text.data(), text.size(), true);
  if (result.error() ==
      simdjson::MEMALLOC) { // otherwise the next call would use a parser with incomplete buffers
    parser = simdjson::dom::parser();
    throw std::bad_alloc();
  }
  return result;
}

} // namespace rankscope
