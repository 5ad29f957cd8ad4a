// Lists in cells: what is taken for one is JSON, and stays the same when it is read again (the
// first time bytes that are no UTF-8 become a character).
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
