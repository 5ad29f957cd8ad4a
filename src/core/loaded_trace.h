// LoadedTrace: a trace with its call tree, the unit that analyses take. Parsed and linked once.
#pragma once

#include "core/call_tree.h"

#include <memory>
#include <string>

namespace rankscope {

/// What analyses of one trace share (launchers, per-family event lists); made at first use.
struct AnalysisCache {
  virtual ~AnalysisCache() = default;
};

struct LoadedTrace {
  Trace trace;
  CallTree tree;
  std::int64_t rank = 0; ///< the rank the run assigned (discovery), header rank, or 0
  std::string label;     ///< short name for messages and columns
  /// Not synchronised: one thread analyses a trace. One set of ReportOptions a trace.
  mutable std::shared_ptr<AnalysisCache> cache;
};

} // namespace rankscope
