// Converts lists in cells to JSON. Such a text is JSON ("[[2, 3], []]") or Python's output ("((2,
// 3), ())", "[{'name': 'k', 'mean': 1.5}]"). Columns with `nested` (core/table.h) contain such
// texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Converts the text to JSON: tuples become lists; True, False, None become true, false, null;
/// quoted texts become JSON strings; nan and inf become null. The text None becomes null. Returns
/// nullopt if the text is not a list, tuple or dict of such values, if it has more than 64 levels,
/// or if other text follows it. Example: "((2, 3), 'a', None)" is "[[2,3],\"a\",null]".
[[nodiscard]] std::optional<std::string> nested_json(std::string_view text);

} // namespace rankscope
