#include "core/json_parse.h"

#include <new>

namespace rankscope {

simdjson::simdjson_result<simdjson::dom::element> parse_json(simdjson::dom::parser& parser,
                                                             std::string_view text) {
  if (text.empty()) // simdjson would copy from its address, which is null for a column without a
                    // value
    return simdjson::EMPTY;
  auto result = parser.parse(text.data(), text.size(), true);
  if (result.error() ==
      simdjson::MEMALLOC) { // a half-built parser would look complete the next time
    parser = simdjson::dom::parser();
    throw std::bad_alloc();
  }
  return result;
}

} // namespace rankscope
