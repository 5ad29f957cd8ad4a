// Kernel sequences with known operators, in which the kernels of graphs are searched: the eager
// steps of a trace, and graphs with operators from a capture.
#pragma once

#include "analyses/graph/graph_replays.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// The operator that was found for a kernel of a graph.
struct KnownOperator {
  std::string name;
  std::string frames; ///< modules, or the nearest frame, outermost first; "": not recorded
  std::string dims;   ///< Input Dims of the call
  bool operator<(const KnownOperator& o) const {
    return std::tie(name, frames, dims) < std::tie(o.name, o.frames, o.dims);
  }
};

/// A numbered list of operators.
class OperatorList {
public:
  std::uint32_t add(KnownOperator op);
  /// Returns the number of the operator above the call that launched `gpu`, or kNoRow if there is
  /// no operator.
  std::uint32_t above(const LoadedTrace& t, EventId gpu);
  [[nodiscard]] const std::vector<KnownOperator>& all() const { return all_; }
  /// Returns a number that is equal for operators with the same name.
  [[nodiscard]] std::uint32_t name_of(std::uint32_t op) const { return name_[op]; }

private:
  std::vector<KnownOperator> all_;
  std::vector<std::uint32_t> name_;
  std::map<KnownOperator, std::uint32_t> known_;
  std::map<std::string, std::uint32_t> names_;
};

struct DonorSequence {
  std::string label;                ///< "step execute_context_...", "graph 2"
  std::vector<KernelToken> kernels; ///< in the order of launches or of starts
  std::vector<std::uint32_t> ops;   ///< numbers in OperatorList; kNoRow: no operator
};

/// Returns the eager steps of the trace: serving steps, else profiler steps, else the entire trace.
/// Each step is in the order of its launches and, if that differs, also in the order of starts.
/// Steps with equal kernels are returned once. If there are more than 256 steps, every n-th step is
/// used. A sequence is cut after 20,000 kernels. `label`: the prefix of each name.
[[nodiscard]] std::vector<DonorSequence> eager_sequences(const LoadedTrace& t,
                                                         const std::string& label,
                                                         KernelSymbols& symbols, OperatorList& ops);

/// Returns the kernels of each stream capture in the order of the calls within the capture, because
/// captured kernels do not run and have no events. Their names are the "kernel" arguments that
/// kineto writes for runtime calls; the trace must have been read with keep_launches.
[[nodiscard]] std::vector<DonorSequence> captured_sequences(const LoadedTrace& t,
                                                            const std::string& label,
                                                            KernelSymbols& symbols,
                                                            OperatorList& ops);

} // namespace rankscope
