// Input: lists in cells. An accepted list must be JSON and must not change when it is parsed again
// (except that the first time, bytes that are not UTF-8 become a replacement character).
#include "core/nested_text.h"
#include "fuzz/fuzz_target.h"

#include <cstdlib>

RS_FUZZ_TARGET(nested_text) {
  const auto json = rankscope::nested_json(bytes);
  if (!json || *json == "null")
    return;
  const auto again = rankscope::nested_json(*json);
  if (!again)
    std::abort();
  const auto twice = rankscope::nested_json(*again);
  if (!twice || *twice != *again)
    std::abort();
}
