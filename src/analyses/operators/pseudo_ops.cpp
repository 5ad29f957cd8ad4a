#include "analyses/operators/pseudo_ops.h"

#include "analyses/operators/launchers.h"
#include "core/trace_builder.h"

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

/// Launches of the GPU events of `root` that `wanted` accepts by kernel name, in kernel order. A
/// launch of several kernels (a graph) is left alone.
template <class Wanted>
std::vector<EventId> launches(const LoadedTrace& t, EventId root, Wanted&& wanted) {
  std::vector<EventId> kernels;
  for (const EventId k : t.tree.gpu_events(root))
    if (wanted(t.trace.name(k)) && t.tree.gpu_events(t.tree.parent(k)).size() == 1)
      kernels.push_back(k);
  sort_by_start(t.trace, kernels);
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
  visit_below(t, op, [&](EventId e) {
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
    visit_below(t, op, [&](EventId e) {
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

/// Name without the "_<digits>" that SGLang's profiler appends to tell calls apart.
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (!name.starts_with("sglang_profiler::") || last == std::string_view::npos ||
      last + 1 == name.size() || name[last] != '_')
    return name;
  return name.substr(0, last);
}

/// The operator that becomes the parent of `wrapped`.
EventRow wrapper_of(const LoadedTrace& t, EventId wrapped, const Wrap& wrap, TraceBuilder& out) {
  const Events& e = t.trace.events;
  EventRow row;
  row.ts_ns = e.ts_ns[wrapped];
  row.dur_ns = std::max<std::int64_t>(e.dur_ns[wrapped], 1); // an empty parent holds nothing
  row.track = e.track[wrapped];
  row.name = out.text(wrap.name);
  row.category = Category::kCpuOp;
  if (const OpArgs* donor = t.trace.op(wrap.donor)) {
    OpArgs args = *donor;
    args.sequence_number = kNoId; // it is no forward operator of its own
    row.args = out.op_args(args);
  }
  return row;
}

} // namespace

LoadedTrace with_pseudo_ops(const LoadedTrace& t, bool include_python, std::size_t& added) {
  const Wraps wraps = find_wraps(t);
  added = wraps.size();
  const Events& e = t.trace.events;
  TraceBuilder builder = TraceBuilder::like(t.trace);
  const std::uint16_t made_here = builder.add_source({t.trace.path, "", t.trace.clock()});
  builder.reserve(e.size() + wraps.size());
  auto uid = static_cast<std::uint32_t>(t.trace.events_in_file);
  std::vector<StrId> renamed(t.trace.strings.size(), kNoRow);
  auto wrap = wraps.begin();
  auto collective = t.trace.collectives.begin();
  for (EventId i = 0; i < e.size(); ++i) {
    if (wrap != wraps.end() && wrap->first == i) { // a parent comes before what it wraps
      EventRow row = wrapper_of(t, i, wrap->second, builder);
      row.uid = uid++;
      row.source = made_here;
      (void)builder.add(row);
      ++wrap;
    }
    EventRow row = e.row(i);
    if (row.category == Category::kCpuOp) {
      StrId& name = renamed[row.name];
      if (name == kNoRow)
        name = builder.text(without_number(t.trace.name(i)));
      row.name = name;
    }
    const EventId id = builder.add(row);
    if (collective != t.trace.collectives.end() && collective->first == i)
      builder.collective(id, (collective++)->second);
  }
  builder.set_input(t.trace.input_bytes, uid); // rows that reports make up count on from here
  LoadedTrace out;
  out.rank = t.rank;
  out.label = t.label;
  out.trace = std::move(builder).finish().value(); // made of a whole trace: nothing can be missing
  out.tree = CallTree::build(out.trace, {include_python});
  return out;
}

} // namespace rankscope
