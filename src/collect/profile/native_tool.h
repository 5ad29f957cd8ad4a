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
  [[nodiscard]] virtual std::vector<std::string> names() const = 0; ///< of the tools that it is
  /// Adds the changes that it needs to the command's environment.
  virtual void prepare([[maybe_unused]] std::vector<EnvChange>& env) {}
  /// Before any script. An error says that it cannot do its work.
  virtual Result<void> begin() { return {}; }
  virtual void phase([[maybe_unused]] RunPhase next) {}
  /// Bytes of the command's standard output (1) or error (2), in any pieces, from one thread at a
  /// time.
  virtual void on_output([[maybe_unused]] std::size_t stream,
                         [[maybe_unused]] std::string_view bytes, [[maybe_unused]] double t_s) {}
  /// Returns whether it removes lines from the command's output; shown() then returns the rest.
  [[nodiscard]] virtual bool hides() const { return false; }
  /// Returns the text of a stream to be shown since the last call; `last`: the stream has ended.
  [[nodiscard]] virtual std::string shown([[maybe_unused]] std::size_t stream,
                                          [[maybe_unused]] bool last) {
    return {};
  }
  /// After the last script. Facts to be reported go to `facts`, values to `figures` (an object of
  /// the manifest). Errors: kOutput.
  virtual Result<void> end([[maybe_unused]] std::vector<ProfileFact>& facts,
                           [[maybe_unused]] Json& figures) {
    return {};
  }
  /// After end(): how many records one of its tools found, where its files do not show it.
  [[nodiscard]] virtual std::optional<std::uint64_t>
  records([[maybe_unused]] const std::string& tool) const {
    return std::nullopt;
  }
};

} // namespace rankscope
