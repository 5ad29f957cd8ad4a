// LoadedTrace: a trace with its call tree, the unit that analyses take. Parsed and linked once.
#pragma once

#include "core/call_tree.h"

#include <memory>

namespace rankscope {

struct LoadedTrace {
  Trace trace;
  CallTree tree;
  std::int64_t rank = 0; ///< the rank the run assigned (discovery), header rank, or 0
  std::string label;     ///< short name for messages and columns
};

} // namespace rankscope
