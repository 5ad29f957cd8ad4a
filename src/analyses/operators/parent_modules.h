// The nn.Module around each launching operator, from the profiler's module frames.
#pragma once

#include "analyses/operators/launchers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Removes every "_<digits>" from `text`: "Linear_35" -> "Linear".
[[nodiscard]] std::string without_numbers(std::string_view text);

struct ParentModules {
  /// Distinct names; the first is "NA", for launchers outside of modules.
  std::vector<std::string> names;
  std::vector<std::uint32_t> name_index; ///< by launcher: index into names
};

/// Key of the parent modules: the class of the innermost module frame above each launcher
/// ("nn.Module: Linear"). With `path`: the classes of all frames, outermost first ("nn.Module:
/// Attention / Linear"). Backward work runs on a separate thread and gets the module of its forward
/// operator (compat: no module).
struct ParentModulesKey {
  using Value = ParentModules;
  LaunchersKey launchers;
  bool path = false;
  auto operator<=>(const ParentModulesKey&) const = default;
};
[[nodiscard]] ParentModules compute(const LoadedTrace& trace, const ParentModulesKey& key);

/// Returns the module key of operator rows; nullopt unless the options group by module.
[[nodiscard]] inline std::optional<ParentModulesKey> modules_key(const ReportOptions& o) {
  if (!o.group_by_parent_module)
    return {};
  return ParentModulesKey{o, o.module_path};
}

/// Returns the launcher's name and the module frames above it, innermost first, as a Python list.
/// Names longer than 256 letters are cut.
[[nodiscard]] std::string module_stack(const LoadedTrace& trace, EventId launcher, bool compat);

} // namespace rankscope
