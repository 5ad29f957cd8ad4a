// A session for a part of the work of a command. Its notes, warnings and diagnostics are not shown
// and do not change the exit code of the command. The command reports them in another way, or once
// at its end.
#pragma once

#include "engine/session.h"

namespace rankscope {

class QuietSession final : public Session {
public:
  explicit QuietSession(unsigned with_threads = 1) { threads = with_threads; }
};

} // namespace rankscope
