// What the family sheets and unified_perf_summary share: costs per distinct call, backward work.
#pragma once

#include "core/loaded_trace.h"
#include "model/kernel_name.h"
#include "model/op_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope {

/// Costs, computed once per distinct (operator, arguments, transposes of its GEMM kernel).
class OpCosts {
public:
  OpCosts(const Trace& trace, bool compat) : trace_(trace), compat_(compat) {}

  const PerfResult* of(EventId e, const OpInfo& op, const std::vector<EventId>& kernels) {
    static const OpArgs kNone;
    const OpArgs* args = trace_.op(e);
    if (args == nullptr)
      args = &kNone;
    std::string transpose;
    std::vector<std::string_view> names;
    if (op.family == "GEMM")
      for (const EventId k : kernels)
        if (transpose = gemm_transpose_repr(trace_.name(k)); !transpose.empty()) {
          names.push_back(trace_.name(k));
          break;
        }
    const Key key{
        &op,      args->input_dims, args->input_types, args->input_strides, args->concrete_inputs,
        transpose};
    const auto [it, fresh] = costs_.try_emplace(key);
    if (fresh) {
      const ParsedArgs parsed(text(args->input_dims), text(args->input_types),
                              text(args->input_strides), text(args->concrete_inputs));
      if (auto result = evaluate(op, parsed, names, compat_))
        it->second = std::make_unique<PerfResult>(std::move(*result));
      else if (!compat_) // the row keeps its times, flops and bytes stay blank
        it->second = std::make_unique<PerfResult>();
    }
    return it->second.get();
  }

private:
  using Key = std::tuple<const OpInfo*, StrId, StrId, StrId, StrId, std::string>;
  [[nodiscard]] std::string_view text(StrId id) const {
    return id == kEmptyStr ? std::string_view() : trace_.strings.view(id);
  }
  const Trace& trace_;
  bool compat_;
  std::map<Key, std::unique_ptr<PerfResult>> costs_;
};

inline void sort_by_start(const Trace& trace, std::vector<EventId>& kernels) {
  std::stable_sort(kernels.begin(), kernels.end(), [&](EventId a, EventId b) {
    return trace.events.ts_ns[a] < trace.events.ts_ns[b];
  });
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
}

/// GPU work of the autograd wrappers linked from the operator or from what it called.
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
