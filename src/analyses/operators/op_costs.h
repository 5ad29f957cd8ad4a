// Costs per distinct call, and backward work: shared by the family sheets and unified_perf_summary.
#pragma once

#include "analyses/operators/launchers.h"
#include "model/gpu_arch.h"
#include "model/ops/op_model.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// Costs of the operators of a trace, computed once per distinct (operator, arguments, hints).
class OpCosts {
public:
  /// `compat` follows the reference, and `inference` follows the reference's inference report. Of
  /// the reference's reports, only the inference report uses the steps around calls.
  explicit OpCosts(bool compat, bool inference = false)
      : compat_(compat), no_steps_(compat && !inference) {}

  /// Returns the cost of a call; nullptr if the arguments do not fit the model and compat is on.
  /// `kernels` are in start order.
  const PerfResult* call_cost(const LoadedTrace& t, EventId e, const OpInfo& op,
                              std::span<const EventId> kernels);

private:
  /// operator, arguments, annotation, top-k, window, transpose or kernel
  using Key = std::tuple<const OpInfo*, StrId, StrId, StrId, StrId, StrId, std::int64_t,
                         std::int64_t, std::string>;
  /// Returns gemm_transpose_repr() of a kernel's name. Each name is parsed once.
  const std::string& transpose_of(const Trace& trace, StrId kernel);

  bool compat_;
  bool no_steps_; ///< calls that need the annotation of a step have no cost
  std::unordered_map<StrId, std::string> transposes_;
  std::map<Key, std::unique_ptr<PerfResult>> costs_;
};

/// Parses the recorded arguments of an operator.
[[nodiscard]] ParsedArgs parsed_args(const Trace& trace, const OpArgs& args);

/// Returns whether the GPU events contain a copy between host and device. The link limits such a
/// copy, not the GPU's memory.
[[nodiscard]] bool copies_over_link(const Trace& trace, std::span<const EventId> kernels);

/// Returns the limit of a call as a cell: COMPUTE_BOUND, MEMORY_BOUND or blank.
[[nodiscard]] inline Value roofline_bound(const std::optional<Roofline>& limit) {
  if (!limit)
    return {};
  return limit->compute_bound ? "COMPUTE_BOUND" : "MEMORY_BOUND";
}

/// Key of a list by StrId: the modelled operator with that name, or nullptr.
struct ModelledNamesKey {
  using Value = std::vector<const OpInfo*>;
  bool compat = false; ///< only operators that the reference has a model for
  auto operator<=>(const ModelledNamesKey&) const = default;
};
[[nodiscard]] std::vector<const OpInfo*> compute(const LoadedTrace& trace,
                                                 const ModelledNamesKey& key);

/// Returns the GPU work of the autograd wrappers linked from the operator or from its callees.
inline std::vector<EventId> backward_kernels(const LoadedTrace& t, EventId op) {
  std::vector<EventId> out;
  std::vector<EventId> stack{op};
  while (!stack.empty()) {
    const EventId e = stack.back();
    stack.pop_back();
    for (const EventId wrapper : t.tree.backward_of(e))
      for (const EventId k : t.tree.gpu_events(wrapper))
        out.push_back(k);
    for (const EventId child : t.tree.children(e))
      if (!t.trace.gpu(child))
        stack.push_back(child);
  }
  sort_unique_by_start(t.trace, out);
  return out;
}

} // namespace rankscope
