// A session of work within a command whose remarks and findings are not the command's: they are
// told another way, or once at its end, and do not change its exit code.
#pragma once

#include "engine/session.h"

namespace rankscope {

class QuietSession final : public Session {
public:
  explicit QuietSession(unsigned with_threads = 1) { threads = with_threads; }
};

} // namespace rankscope
