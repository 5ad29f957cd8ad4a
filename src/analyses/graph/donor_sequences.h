// Sequences of kernels with known operators, to find the kernels of graphs in them: the eager steps
// of a trace, and graphs that got their operators from a capture.
#pragma once

#include "analyses/graph/graph_replays.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// The operator that was found for a kernel of a graph.
struct KnownOperator {
  std::string name;
  std::string frames; ///< modules, or the nearest frame, outermost first; "" = not recorded
  std::string dims;   ///< Input Dims of the call
  bool operator<(const KnownOperator& o) const {
    return std::tie(name, frames, dims) < std::tie(o.name, o.frames, o.dims);
  }
};

/// Operators by number.
class OperatorList {
public:
  std::uint32_t add(KnownOperator op);
  /// The operator above the call that launched `gpu`; kNoRow without one.
  std::uint32_t above(const LoadedTrace& t, EventId gpu);
  [[nodiscard]] const std::vector<KnownOperator>& all() const { return all_; }
  /// Equal for operators of one name.
  [[nodiscard]] std::uint32_t name_of(std::uint32_t op) const { return name_[op]; }

private:
  std::vector<KnownOperator> all_;
  std::vector<std::uint32_t> name_;
  std::map<KnownOperator, std::uint32_t> known_;
  std::map<std::string, std::uint32_t> names_;
};

struct DonorSequence {
  std::string label;                ///< "step execute_context_...", "graph 2"
  std::vector<KernelToken> kernels; ///< in one order: of the launches, or of start
  std::vector<std::uint32_t> ops;   ///< of OperatorList; kNoRow = no operator
};

/// Returns the eager steps of the trace (serving steps, else profiler steps, else all of it), each
/// in the order of its launches and, if that differs, of start. Steps with the same kernels occur
/// once; of more than 256 steps every n-th is used. A sequence is cut after 20,000 kernels. `label`
/// is the prefix of each name.
[[nodiscard]] std::vector<DonorSequence> eager_sequences(const LoadedTrace& t,
                                                         const std::string& label,
                                                         KernelSymbols& symbols, OperatorList& ops);

/// Returns the kernels named by the calls within each stream capture (kineto's "kernel" of a
/// runtime call, read with keep_launches), in the order of the calls: captured kernels do not run.
[[nodiscard]] std::vector<DonorSequence> captured_sequences(const LoadedTrace& t,
                                                            const std::string& label,
                                                            KernelSymbols& symbols,
                                                            OperatorList& ops);

} // namespace rankscope
