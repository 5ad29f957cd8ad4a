// The kinds of findings (rules.def).
#pragma once

#include "core/finding.h"

#include <span>

namespace rankscope {

namespace rules {
#define RANKSCOPE_RULE(name, id, kind, meaning)                                                    \
  inline constexpr FindingRule name{id, FindingKind::kind, meaning};
#include "findings/rules.def"
#undef RANKSCOPE_RULE
} // namespace rules

/// Returns all kinds of findings, in the order of rules.def.
[[nodiscard]] std::span<const FindingRule> finding_rules();

} // namespace rankscope
