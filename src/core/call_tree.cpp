#include "core/call_tree.h"

namespace rankscope {} // namespace rankscope
