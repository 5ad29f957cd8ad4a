// Session: what every use case is given beside its request. Only src/cli prints; it overrides the
// remarks below.
#pragma once

#include "base/diagnostics.h"

#include <cstdint>
#include <string_view>

namespace rankscope {

class Session {
public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  unsigned threads = 1;    ///< -j, already resolved to at least 1
  bool partial = false;    ///< set by a use case: exit 4 at the end
  Diagnostics diagnostics; ///< printed as a summary at the end; data loss makes exit 4

  virtual void note([[maybe_unused]] std::string_view line) const {} ///< for people, may be hidden
  virtual void warn([[maybe_unused]] std::string_view line) const {}
  /// A long part begins: so many traces with so many bytes on disk.
  virtual void begin_progress([[maybe_unused]] std::size_t traces,
                              [[maybe_unused]] std::uint64_t bytes) {}
  /// One of them is done. Thread-safe.
  virtual void step_progress([[maybe_unused]] std::uint64_t bytes) {}
};

} // namespace rankscope
