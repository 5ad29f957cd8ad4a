// A session for work within a command. Its notes, warnings and diagnostics do not appear in the
// command's session and do not change its exit code. The command reports them differently, or once
// at its end.
#pragma once

#include "engine/session.h"

namespace rankscope {

class QuietSession final : public Session {
public:
  explicit QuietSession(unsigned with_threads = 1) { threads = with_threads; }
};

} // namespace rankscope
