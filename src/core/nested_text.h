// Lists in cells: in JSON ("[[2, 3], []]") or as Python prints them ("((2, 3), ())", "[{'name':
// 'k', 'mean': 1.5}]"). Columns with `nested` (core/table.h) contain such texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Converts the text to JSON: tuples become lists; True, False, None become true, false, null;
/// quoted texts become JSON texts; nan and inf become null. A lone None is null. nullopt if the
/// text is not a list, tuple or dict of such values, has more than 64 levels, or has trailing text.
/// Example: "((2, 3), 'a', None)" is "[[2,3],\"a\",null]".
[[nodiscard]] std::optional<std::string> nested_json(std::string_view text);

} // namespace rankscope
