// Lists in cells: as JSON has them ("[[2, 3], []]") or as Python prints them ("((2, 3), ())",
// "[{'name': 'k', 'mean': 1.5}]"). Columns that say `nested` (core/table.h) hold such texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// The text as JSON: tuples are lists, True, False and None are true, false and null, texts in
/// either kind of quotes are JSON's, nan and inf null, and so is a None alone. nullopt for a text
/// that is no list, tuple or dict of such values, is nested more than 64 deep or has anything
/// behind it. Example:
/// "((2, 3), 'a', None)" is "[[2,3],\"a\",null]".
[[nodiscard]] std::optional<std::string> nested_json(std::string_view text);

} // namespace rankscope
