// A tool that is part of rankscope: it runs in this process while the command runs.
#pragma once

#include "base/noncopyable.h"
#include "collect/profile/plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class RunPhase { kPre, kRun, kPost };

class NativeTool : public Interface {
public:
  [[nodiscard]] virtual std::vector<std::string> names() const = 0; ///< names of the plan's tools
  /// Adds the tool's changes to the command's environment.
  virtual void prepare([[maybe_unused]] std::vector<EnvChange>& env) {}
  /// Called before any script. An error means that the tool cannot work.
  virtual Result<void> begin() { return {}; }
  virtual void phase([[maybe_unused]] RunPhase next) {}
  /// Receives bytes of the command's standard output (1) or error (2), in pieces of any size, from
  /// one thread at a time.
  virtual void on_output([[maybe_unused]] std::size_t stream,
                         [[maybe_unused]] std::string_view bytes, [[maybe_unused]] double t_s) {}
  /// Returns whether the tool removes lines from the command's output; shown() then returns the
  /// other lines.
  [[nodiscard]] virtual bool hides() const { return false; }
  /// Returns the text of a stream that is to be shown and was not returned before. `last`: the
  /// stream has ended.
  [[nodiscard]] virtual std::string shown([[maybe_unused]] std::size_t stream,
                                          [[maybe_unused]] bool last) {
    return {};
  }
  /// Called after the last script. Adds facts to `facts` and values to `metrics` (the object
  /// `figures` of the manifest). Errors: kOutput.
  virtual Result<void> end([[maybe_unused]] std::vector<ProfileFact>& facts,
                           [[maybe_unused]] Json& metrics) {
    return {};
  }
  /// Returns how many records `tool` found, if its files do not show the number. Valid after end().
  [[nodiscard]] virtual std::optional<std::uint64_t>
  records([[maybe_unused]] const std::string& tool) const {
    return std::nullopt;
  }
};

} // namespace rankscope
