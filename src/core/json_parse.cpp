#include "core/json_parse.h"

#include <new>

namespace rankscope {

simdjson::simdjson_result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser,
                                                             std::string_view text) {
  if (text.empty()) // simdjson would copy from it, and a column without a value has no address
    return simdjson::EMPTY;
  auto result = parser.parse(text.data(), text.size(), true);
  if (result.error() ==
      simdjson::MEMALLOC) { // an incomplete parser would look complete the next time
    parser = simdjson::dom::parser();
    throw std::bad_alloc();
  }
  return result;
}

} // namespace rankscope
