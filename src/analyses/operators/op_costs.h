// What the family sheets and unified_perf_summary share: costs per distinct call, backward work.
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
  /// `compat`: as the reference has them; `inference`: as its inference report, which alone looks
  /// at the steps around calls.
  explicit OpCosts(bool compat, bool inference = false)
      : compat_(compat), no_steps_(compat && !inference) {}

  /// nullptr when the arguments do not fit the model and compat is on. `kernels`: in start order.
  const PerfResult* of(const LoadedTrace& t, EventId e, const OpInfo& op,
                       std::span<const EventId> kernels);

private:
  /// arguments, annotation, top-k, window, transpose or kernel
  using Key = std::tuple<const OpInfo*, StrId, StrId, StrId, StrId, StrId, std::int64_t,
                         std::int64_t, std::string>;
  /// gemm_transpose_repr() of a kernel's name, each name read once.
  const std::string& transpose_of(const Trace& trace, StrId kernel);

  bool compat_;
  bool no_steps_; ///< what needs the annotation of a step has no costs
  std::unordered_map<StrId, std::string> transposes_;
  std::map<Key, std::unique_ptr<PerfResult>> costs_;
};

/// An operator's recorded arguments, parsed.
[[nodiscard]] ParsedArgs parsed_args(const Trace& trace, const OpArgs& args);

/// A copy between host and device is among these GPU events: the link bounds it, not the GPU's
/// memory.
[[nodiscard]] bool copies_over_link(const Trace& trace, std::span<const EventId> kernels);

/// What bounds a call, as its cell: COMPUTE_BOUND, MEMORY_BOUND or blank.
[[nodiscard]] inline Value roofline_bound(const std::optional<Roofline>& limit) {
  if (!limit)
    return {};
  return limit->compute_bound ? "COMPUTE_BOUND" : "MEMORY_BOUND";
}

/// By StrId: the modelled operator of that name, or nullptr.
struct ModelledNamesKey {
  using Value = std::vector<const OpInfo*>;
  bool compat = false; ///< only those that the reference has a model for
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
  sort_by_start(t.trace, out);
  return out;
}

} // namespace rankscope
