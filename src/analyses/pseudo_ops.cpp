#include "analyses/pseudo_ops.h"

#include "core/steps.h"

#include <algorithm>
#include <map>
#include <string>

namespace rankscope {
namespace {

struct Wrap {
  const char* name;
  EventId donor; ///< operator whose arguments are taken
};
using Wraps = std::map<EventId, Wrap>; ///< by the event that gets a new parent

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Events below `root` other than GPU work, in order.
template <class Visit> void below(const LoadedTrace& t, EventId root, Visit&& visit) {
  std::vector<EventId> stack{root};
  while (!stack.empty()) {
    const EventId at = stack.back();
    stack.pop_back();
    if (at != root)
      visit(at);
    const auto children = t.tree.children(at);
    for (auto it = children.rbegin(); it != children.rend(); ++it)
      if (!t.trace.gpu(*it))
        stack.push_back(*it);
  }
}

/// Launches of the GPU events of `root` that `wanted` accepts by kernel name, in kernel order. A
/// launch of several kernels (a graph) is left alone.
template <class Wanted>
std::vector<EventId> launches(const LoadedTrace& t, EventId root, Wanted&& wanted) {
  std::vector<EventId> kernels;
  for (const EventId k : t.tree.gpu_events(root))
    if (wanted(t.trace.name(k)) && t.tree.gpu_events(t.tree.parent(k)).size() == 1)
      kernels.push_back(k);
  std::stable_sort(kernels.begin(), kernels.end(), [&](EventId a, EventId b) {
    return t.trace.events.ts_ns[a] < t.trace.events.ts_ns[b];
  });
  std::vector<EventId> out;
  for (const EventId k : kernels)
    out.push_back(t.tree.parent(k));
  return out;
}

void up_and_down(const std::vector<EventId>& calls, const char* up, const char* down, EventId donor,
                 Wraps& wraps) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    wraps.try_emplace(calls[i], Wrap{i == 0 ? up : down, donor});
}

void moe_forward(const LoadedTrace& t, EventId op, Wraps& wraps) {
  EventId aiter = kNoEvent;
  below(t, op, [&](EventId e) {
    if (aiter == kNoEvent && t.trace.name(e) == "vllm::rocm_aiter_fused_moe")
      aiter = e;
  });
  if (aiter != kNoEvent) {
    const auto calls = launches(t, aiter, [](std::string_view name) {
      return has(name, "aiter::") && has(name, "fmoe") && !has(name, "MoeSorting") &&
             !has(name, "quant");
    });
    if (calls.size() == 1)
      wraps.try_emplace(calls[0], Wrap{"pseudo_op::moe_aiter_fused_1stage", aiter});
    return;
  }
  up_and_down(launches(t, op, [](std::string_view name) { return has(name, "matmul_ogs"); }),
              "pseudo_op::moe_triton_unfused_up", "pseudo_op::moe_triton_unfused_down", op, wraps);
}

/// "flydsl_moe_stage1" in an operator's name, else the frame of that function.
void flydsl(const LoadedTrace& t, EventId op, Wraps& wraps) {
  constexpr std::pair<std::string_view, const char*> kStages[] = {
      {"flydsl_moe_stage1", "pseudo_op::moe_flydsl_stage1"},
      {"flydsl_moe_stage2", "pseudo_op::moe_flydsl_stage2"}};
  for (const auto& stage : kStages) {
    std::vector<EventId> ops;
    std::vector<EventId> frames;
    below(t, op, [&](EventId e) {
      const std::string_view name = t.trace.name(e);
      const Category category = t.trace.events.category[e];
      if (!name.ends_with(stage.first))
        return;
      if (category == Category::kCpuOp && name.starts_with("sglang_profiler::"))
        ops.push_back(e);
      else if (category == Category::kPythonFunction &&
               name.substr(0, name.size() - stage.first.size()).ends_with(": "))
        frames.push_back(e);
    });
    for (const EventId e : ops.empty() ? frames : ops)
      wraps.try_emplace(e, Wrap{stage.second, op});
  }
}

/// A frame of aiter's latent attention that calls the operator `inner`.
void latent_attention(const LoadedTrace& t, EventId frame, std::string_view inner,
                      const char* pseudo, Wraps& wraps) {
  for (const EventId child : t.tree.children(frame))
    if (t.trace.events.category[child] == Category::kCpuOp && t.trace.name(child) == inner) {
      wraps.try_emplace(frame, Wrap{pseudo, child});
      return;
    }
}

Wraps find_wraps(const LoadedTrace& t) {
  Wraps wraps;
  const Events& e = t.trace.events;
  for (EventId i = 0; i < e.size(); ++i) {
    const Category category = e.category[i];
    if (category != Category::kCpuOp && category != Category::kPythonFunction)
      continue;
    const std::string_view name = t.trace.name(i);
    if (category == Category::kCpuOp) {
      if (name == "vllm::moe_forward")
        moe_forward(t, i, wraps);
      else if (name == "vllm::outplace_fused_experts")
        up_and_down(
            launches(t, i, [](std::string_view k) { return has(k, "fused_moe_kernel_gptq_awq"); }),
            "pseudo_op::moe_gptq_awq_up", "pseudo_op::moe_gptq_awq_down", i, wraps);
      else if (name == "aiter::fused_moe_")
        flydsl(t, i, wraps);
    } else if (has(name, "aiter/mla.py(") && name.ends_with(": mla_decode_fwd")) {
      latent_attention(t, i, "aiter::mla_decode_stage1_asm_fwd", "pseudo_mla_decode_fwd", wraps);
    } else if (name.ends_with(": mla_fp8_prefill_attn")) {
      latent_attention(t, i, "aiter::mla_prefill_ps_asm_fwd", "pseudo_mla_prefill_fwd", wraps);
    }
  }
  return wraps;
}

template <class T>
void spread(std::vector<T>& column, const std::vector<EventId>& place, std::size_t size) {
  std::vector<T> out(size);
  for (std::size_t i = 0; i < column.size(); ++i)
    out[place[i]] = column[i];
  column = std::move(out);
}

/// Name without the "_<digits>" that SGLang's profiler appends to tell calls apart.
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (!name.starts_with("sglang_profiler::") || last == std::string_view::npos ||
      last + 1 == name.size() || name[last] != '_')
    return name;
  return name.substr(0, last);
}

} // namespace

LoadedTrace with_pseudo_ops(const LoadedTrace& t, bool include_python, std::size_t& added) {
  LoadedTrace out;
  out.rank = t.rank;
  out.label = t.label;
  Trace& trace = out.trace;
  const std::size_t old_size = t.trace.events.size();
  trace = filter_events(t.trace, std::vector<bool>(old_size, true));
  Events& e = trace.events;

  std::vector<StrId> renamed(trace.strings.size(), kNoRow);
  for (EventId i = 0; i < old_size; ++i)
    if (e.category[i] == Category::kCpuOp) {
      const StrId id = e.name[i];
      if (renamed[id] == kNoRow) {
        const std::string name(without_number(trace.strings.view(id)));
        renamed[id] = trace.strings.intern(name);
      }
      e.name[i] = renamed[id];
    }

  const Wraps wraps = find_wraps(t);
  added = wraps.size();
  std::vector<EventId> place(old_size); // of each old event; a new one stands just before its own
  {
    auto next = wraps.begin();
    EventId shift = 0;
    for (EventId i = 0; i < old_size; ++i) {
      if (next != wraps.end() && next->first == i) {
        ++shift;
        ++next;
      }
      place[i] = i + shift;
    }
  }
  const std::size_t size = old_size + wraps.size();
  spread(e.ts_ns, place, size);
  spread(e.dur_ns, place, size);
  spread(e.correlation, place, size);
  spread(e.external_id, place, size);
  spread(e.name, place, size);
  spread(e.uid, place, size);
  spread(e.track, place, size);
  spread(e.args, place, size);
  spread(e.stream, place, size);
  spread(e.device, place, size);
  spread(e.category, place, size);
  for (auto& entry : trace.collectives)
    entry.first = place[entry.first];
  auto uid = static_cast<std::uint32_t>(trace.events_in_file);
  for (const auto& [wrapped, wrap] : wraps) {
    const EventId below_it = place[wrapped];
    const EventId at = below_it - 1;
    e.ts_ns[at] = e.ts_ns[below_it];
    e.dur_ns[at] = std::max<std::int64_t>(e.dur_ns[below_it], 1); // an empty parent holds nothing
    e.correlation[at] = kNoId;
    e.external_id[at] = kNoId;
    e.name[at] = trace.strings.intern(wrap.name);
    e.uid[at] = uid++;
    e.track[at] = e.track[below_it];
    e.args[at] = kNoRow;
    if (const OpArgs* donor = t.trace.op(wrap.donor)) {
      OpArgs args = *donor;
      args.sequence_number = kNoId; // it is no forward operator of its own
      e.args[at] = static_cast<std::uint32_t>(trace.op_args.size());
      trace.op_args.push_back(args);
    }
    e.stream[at] = -1;
    e.device[at] = -1;
    e.category[at] = Category::kCpuOp;
  }
  trace.events_in_file = uid; // rows that reports make up count on from here
  out.tree = CallTree::build(trace, {include_python});
  return out;
}

} // namespace rankscope
