// A tool that rankscope is itself: it runs in this process, beside the command.
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
  /// What the command's environment has to have for it.
  virtual void prepare([[maybe_unused]] std::vector<EnvChange>& env) {}
  /// Before any script. An error says that it cannot do its work.
  virtual Result<void> begin() { return {}; }
  virtual void phase([[maybe_unused]] RunPhase next) {}
  /// Bytes of the command's standard output (1) or error (2), in any pieces, from one thread at a
  /// time.
  virtual void on_output([[maybe_unused]] std::size_t stream,
                         [[maybe_unused]] std::string_view bytes, [[maybe_unused]] double t_s) {}
  /// Whether it takes lines out of what the command shows; shown() then says what is left.
  [[nodiscard]] virtual bool hides() const { return false; }
  /// What of a stream came since the last call and is to be shown; `last`: the stream has ended.
  [[nodiscard]] virtual std::string shown([[maybe_unused]] std::size_t stream,
                                          [[maybe_unused]] bool last) {
    return {};
  }
  /// After the last script. Facts to be reported go to `facts`, figures to `figures` (an object of
  /// the manifest). Errors: kOutput.
  virtual Result<void> end([[maybe_unused]] std::vector<ProfileFact>& facts,
                           [[maybe_unused]] Json& figures) {
    return {};
  }
  /// After end(): how many records one of its tools found, where a file does not tell.
  [[nodiscard]] virtual std::optional<std::uint64_t>
  records([[maybe_unused]] const std::string& tool) const {
    return std::nullopt;
  }
};

} // namespace rankscope
