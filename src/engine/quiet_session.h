// A session for work within a command. Its notes, warnings and diagnostics are not those of the
// command, which reports them differently or once at its end. They do not change its exit code.
#pragma once

#include "engine/session.h"

namespace rankscope {

class QuietSession final : public Session {
public:
  explicit QuietSession(unsigned with_threads = 1) { threads = with_threads; }
};

} // namespace rankscope
