#include "analyses/operators/pseudo_ops.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/op_costs.h"
#include "base/ascii.h"
#include "core/steps.h"
#include "core/trace_builder.h"
#include "model/kernels.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace rankscope {
namespace {

/// Position of a pseudo operator in the call tree.
enum class Place {
  kLaunch, ///< between a runtime call and its parent
  kEvent,  ///< between an operator or a frame and its parent
  kInside, ///< around all calls of a frame
};

struct Wrap {
  EventId event;
  Place place;
  std::string name;
  EventId donor;                     ///< operator that provides the arguments
  std::string dims = {}, types = {}; ///< JSON that replaces the donor's; "" = use the donor's
};

/// List of wraps in the order in which they are found, with at most one wrap per event.
class Wraps {
public:
  void add(const Wrap& wrap) {
    if (wrapped_.insert(wrap.event).second)
      list_.push_back(wrap);
  }
  [[nodiscard]] const std::vector<Wrap>& list() const { return list_; }

private:
  std::vector<Wrap> list_;
  std::set<EventId> wrapped_;
};

/// Returns the launches of the GPU events of `root` that `wanted` accepts by kernel name, in kernel
/// order. Leaves out launches of several kernels (graphs).
template <class Wanted>
std::vector<EventId> launches(const LoadedTrace& t, EventId root, Wanted&& wanted) {
  std::vector<EventId> kernels;
  for (const EventId k : t.tree.gpu_events(root))
    if (wanted(t.trace.name(k)) && t.tree.gpu_events(t.tree.parent(k)).size() == 1)
      kernels.push_back(k);
  sort_unique_by_start(t.trace, kernels);
  std::vector<EventId> out;
  for (const EventId k : kernels)
    out.push_back(t.tree.parent(k));
  return out;
}

void up_and_down(const std::vector<EventId>& calls, const char* up, const char* down, EventId donor,
                 Wraps& wraps) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    wraps.add({calls[i], Place::kLaunch, i == 0 ? up : down, donor});
}

void moe_forward(const LoadedTrace& t, EventId op, Wraps& wraps) {
  EventId aiter = kNoEvent;
  visit_below(t, op, [&](EventId e) {
    if (aiter == kNoEvent && t.trace.name(e) == "vllm::rocm_aiter_fused_moe")
      aiter = e;
  });
  if (aiter != kNoEvent) {
    const auto calls = launches(t, aiter, [](std::string_view name) {
      return contains(name, "aiter::") && contains(name, "fmoe") && !contains(name, "MoeSorting") &&
             !contains(name, "quant");
    });
    if (calls.size() == 1)
      wraps.add({calls[0], Place::kLaunch, "pseudo_op::moe_aiter_fused_1stage", aiter});
    return;
  }
  const auto products =
      launches(t, op, [](std::string_view name) { return contains(name, "matmul_ogs"); });
  if (products.empty())
    return;
  up_and_down(products, "pseudo_op::moe_triton_unfused_up", "pseudo_op::moe_triton_unfused_down",
              op, wraps);
  const auto scatter =
      launches(t, op, [](std::string_view name) { return contains(name, "matmul_scatter"); });
  if (scatter.size() == 1)
    wraps.add(
        {scatter[0], Place::kLaunch, "pseudo_op::moe_triton_unfused_finalize_matmul_scatter", op});
}

/// Wraps operators whose names end in "flydsl_moe_stage1" or "_stage2", else the frames of these
/// functions.
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
      wraps.add({e, Place::kEvent, stage.second, op});
  }
}

/// Wraps a frame of aiter's latent attention that calls the operator `inner`.
void latent_attention(const LoadedTrace& t, EventId frame, std::string_view inner,
                      const char* pseudo, Wraps& wraps) {
  if (t.tree.gpu_events(frame).empty())
    return;
  EventId donor = kNoEvent;
  visit_below(t, frame, [&](EventId e) {
    if (donor == kNoEvent && t.trace.events.category[e] == Category::kCpuOp &&
        t.trace.name(e) == inner)
      donor = e;
  });
  if (donor != kNoEvent)
    wraps.add({frame, Place::kInside, pseudo, donor});
}

/// Wraps a frame of a V4 model's paged decode below the operator of the attention layer. The other
/// kernels of the layer decide which of three kinds the frame is.
void v4_decode(const LoadedTrace& t, EventId frame, Wraps& wraps) {
  EventId layer = t.tree.parent(frame);
  while (layer != kNoEvent && t.trace.name(layer) != "aiter::v4_attention_with_output")
    layer = t.tree.parent(layer);
  if (layer == kNoEvent || t.tree.gpu_events(frame).empty())
    return;
  bool all_groups = false;
  bool picked_groups = false;
  for (const EventId k : t.tree.gpu_events(layer)) {
    const std::string_view name = t.trace.name(k);
    all_groups = all_groups || name.starts_with("hca_");
    picked_groups = picked_groups || contains(name, "fused_compress_attn") ||
                    contains(name, "_update_compressor_states_kernel");
  }
  wraps.add({frame, Place::kInside,
             all_groups      ? "pseudo_v4_paged_decode_hca"
             : picked_groups ? "pseudo_v4_paged_decode_csa"
                             : "pseudo_v4_paged_decode_swa",
             layer});
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
            launches(t, i,
                     [](std::string_view k) { return contains(k, "fused_moe_kernel_gptq_awq"); }),
            "pseudo_op::moe_gptq_awq_up", "pseudo_op::moe_gptq_awq_down", i, wraps);
      else if (name == "aiter::fused_moe_")
        flydsl(t, i, wraps);
    } else if (contains(name, "aiter/mla.py(") && name.ends_with(": mla_decode_fwd")) {
      latent_attention(t, i, "aiter::mla_decode_stage1_asm_fwd", "pseudo_mla_decode_fwd", wraps);
    } else if (name.ends_with(": mla_fp8_prefill_attn")) {
      latent_attention(t, i, "aiter::mla_prefill_ps_asm_fwd", "pseudo_mla_prefill_fwd", wraps);
    } else if (contains(name, "paged_decode.py(") &&
               name.ends_with(": sparse_attn_v4_paged_decode")) {
      v4_decode(t, i, wraps);
    }
  }
  return wraps;
}

/// Removes the "_<digits>" that SGLang's profiler appends to number the calls.
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (!name.starts_with("sglang_profiler::") || last == std::string_view::npos ||
      last + 1 == name.size() || name[last] != '_')
    return name;
  return name.substr(0, last);
}

/// Edits of the call tree. Later edits see the results of earlier edits.
class Edits {
public:
  explicit Edits(const CallTree& tree) : tree_(tree) {}

  [[nodiscard]] EventId parent(EventId e) const {
    const auto at = parents_.find(e);
    return at != parents_.end() ? at->second : tree_.parent(e);
  }
  void set_parent(EventId e, EventId new_parent) { parents_[e] = new_parent; }
  std::vector<EventId>& children(EventId e, bool is_new) {
    const auto [at, fresh] = children_.try_emplace(e);
    if (fresh && !is_new) {
      const auto list = tree_.children(e);
      at->second.assign(list.begin(), list.end());
    }
    return at->second;
  }
  [[nodiscard]] TreeChanges changes() const {
    TreeChanges out;
    for (const auto& [event, list] : children_)
      out.children(event, list);
    for (const auto& [event, new_parent] : parents_)
      out.parent(event, new_parent);
    return out;
  }

private:
  const CallTree& tree_;
  std::map<EventId, std::vector<EventId>> children_;
  std::map<EventId, EventId> parents_;
};

/// Inserts the pseudo operator into the tree. `pseudo` must already be an event.
void hang(const Wrap& wrap, EventId pseudo, bool compat, Edits& edits) {
  if (wrap.place == Place::kInside) {
    std::vector<EventId> below;
    below.swap(edits.children(wrap.event, false));
    for (const EventId child : below)
      edits.set_parent(child, pseudo);
    edits.children(wrap.event, false) = {pseudo};
    edits.children(pseudo, true) = std::move(below);
    edits.set_parent(pseudo, wrap.event);
    return;
  }
  const EventId above = edits.parent(wrap.event);
  if (above != kNoEvent)
    std::ranges::replace(edits.children(above, false), wrap.event, pseudo);
  edits.children(pseudo, true) = {wrap.event};
  edits.set_parent(pseudo, above);
  // in the reference, a launch still has its operator as parent
  if (!compat || wrap.place != Place::kLaunch)
    edits.set_parent(wrap.event, pseudo);
}

/// Returns the operator event for `wrap`.
EventRow row_of(const Trace& trace, const Wrap& wrap, bool compat, TraceBuilder& out) {
  const Events& e = trace.events;
  EventRow row;
  row.ts_ns = e.ts_ns[wrap.event];
  row.dur_ns = compat && wrap.place == Place::kLaunch ? 0 : e.dur_ns[wrap.event];
  row.track = e.track[wrap.event];
  row.category = Category::kCpuOp;
  if (!wrap.dims.empty()) {
    OpArgs args;
    args.input_dims = out.arg_text(wrap.dims);
    args.input_types = out.arg_text(wrap.types);
    row.args = out.op_args(args);
  } else if (const OpArgs* donor = trace.op(wrap.donor)) {
    OpArgs args = *donor;
    args.sequence_number = kNoId; // only the donor counts as a forward operator
    row.args = out.op_args(args);
  }
  row.name = out.text(wrap.name);
  return row;
}

/// Removes the numbers that SGLang's profiler appended to operator names.
void rename_operators(TraceBuilder& builder) {
  const Events& e = builder.so_far().events;
  std::vector<StrId> renamed(builder.text_count(), kNoRow);
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kCpuOp)
      continue;
    const StrId name = e.name[i];
    if (renamed[name] == kNoRow)
      renamed[name] = builder.text(std::string(without_number(builder.view(name))));
    if (renamed[name] != name)
      builder.rename(i, renamed[name]);
  }
}

std::vector<EventId> gemm_launches(const LoadedTrace& t, EventId root) {
  return launches(t, root, [](std::string_view name) { return is_gemm_kernel(name); });
}

/// Wraps the three matrix products of a TransformerEngine 2 layer, if its forward pass ran one GEMM
/// kernel and its backward pass two. Example: _Linear of W (N, K) and X (..., K), M rows in all:
/// _Linear_yfwd_mm (M, K) x (K, N).
void transformer_engine_layer(const LoadedTrace& t, EventId op, std::size_t x_at, std::size_t w_at,
                              std::size_t fp8_at, Wraps& wraps) {
  const std::vector<EventId> forward = gemm_launches(t, op);
  std::vector<EventId> backward;
  for (const EventId wrapper : t.tree.backward_of(op))
    for (const EventId call : gemm_launches(t, wrapper))
      backward.push_back(call);
  const OpArgs* recorded = t.trace.op(op);
  if (forward.size() != 1 || backward.size() != 2 || recorded == nullptr)
    return;
  const ParsedArgs args = parsed_args(t.trace, *recorded);
  Shape x = args.dims(x_at);
  const Shape w = args.dims(w_at);
  if (x.empty() || w.size() != 2 || args.absurd())
    return;
  const std::int64_t k = x.back();
  x.pop_back();
  const double rows = elements(x);
  constexpr double kMostRows = 1e15;
  if (rows > kMostRows)
    return;
  const auto m = static_cast<std::int64_t>(rows);
  const std::int64_t n = w[0];
  const bool fp8 = args.flag(fp8_at);
  const std::string types =
      fmt::format(R"(["{}", "{}"])", fp8 ? "fp8" : args.type(x_at), fp8 ? "fp8" : args.type(w_at));
  const std::string name(t.trace.name(op));
  const auto add = [&](EventId call, const char* tail, const Shape& a, const Shape& b) {
    const std::string dims = fmt::format("[[{}, {}], [{}, {}]]", a[0], a[1], b[0], b[1]);
    wraps.add({call, Place::kLaunch, name + tail, op, dims, types});
  };
  add(forward[0], "_yfwd_mm", {m, k}, {w[1], w[0]});
  add(backward[0], "Backward_xgrad_mm", {m, n}, {n, k});
  add(backward[1], "Backward_wgrad_mm", {n, m}, {m, k});
}

/// Adds `wraps` to the trace, in place.
void put_in(LoadedTrace& t, const Wraps& wraps, bool compat, bool rename) {
  const std::string path = t.trace.path;
  const Clock clock = t.trace.clock();
  TraceBuilder builder = TraceBuilder::extend(std::move(t.trace));
  const std::uint16_t made_here = builder.add_source({path, "", clock});
  std::uint64_t uid = builder.so_far().events_in_file;
  Edits edits(t.tree);
  for (const Wrap& wrap : wraps.list()) {
    EventRow row = row_of(builder.so_far(), wrap, compat, builder);
    row.uid = static_cast<std::uint32_t>(uid++);
    row.source = made_here;
    hang(wrap, builder.add(row), compat, edits);
  }
  if (rename)
    rename_operators(builder);
  // rows that reports create use the uids after these
  builder.set_input(builder.so_far().input_bytes, uid);
  t.trace = std::move(builder).finish().value(); // cannot fail, because the input is complete
  t.tree.change(t.trace, edits.changes());
  t.facts = {};
  t.pseudo_ops = wraps.list().size();
}

LoadedTrace copy_of(const LoadedTrace& t) {
  std::vector<EventId> all(t.trace.events.size());
  std::iota(all.begin(), all.end(), EventId{0});
  LoadedTrace out;
  out.rank = t.rank;
  out.label = t.label;
  out.trace = select_events(t.trace, all);
  out.tree = t.tree;
  out.graph_launches = t.graph_launches;
  out.attention = t.attention;
  return out;
}

} // namespace

void add_pseudo_ops(LoadedTrace& t, bool compat) {
  put_in(t, find_wraps(t), compat, true);
}

LoadedTrace with_pseudo_ops(const LoadedTrace& t, bool compat) {
  LoadedTrace out = copy_of(t);
  add_pseudo_ops(out, compat);
  return out;
}

std::optional<LoadedTrace> with_transformer_engine_ops(const LoadedTrace& t) {
  const StrId linear = t.trace.strings.find("_Linear");
  const StrId norm_linear = t.trace.strings.find("_LayerNormLinear");
  if ((linear == StringPool::kNotFound && norm_linear == StringPool::kNotFound) ||
      t.trace.strings.find("tex_ts::te_gemm_ts") != StringPool::kNotFound)
    return std::nullopt;
  Wraps wraps;
  const Events& e = t.trace.events;
  for (EventId i = 0; i < e.size(); ++i)
    if (e.category[i] == Category::kCpuOp) {
      if (e.name[i] == linear)
        transformer_engine_layer(t, i, 1, 0, 4, wraps);
      else if (e.name[i] == norm_linear)
        transformer_engine_layer(t, i, 0, 3, 7, wraps);
    }
  if (wraps.list().empty())
    return std::nullopt;
  LoadedTrace out = copy_of(t);
  put_in(out, wraps, false, false);
  return out;
}

} // namespace rankscope
