#include "analyses/operators/op_costs.h"

#include "analyses/timeline/inference_steps.h"
#include "base/to_number.h"
#include "model/kernels.h"

#include <algorithm>
#include <optional>

namespace rankscope {
namespace {

/// Returns the number of experts per token: the k of the TopK call below the vllm::moe_forward that
/// contains the operator (or below the parent three levels up). Returns 4 without such a call, as
/// in the reference.
std::int64_t topk_of(const LoadedTrace& t, EventId e) {
  constexpr std::int64_t kDefault = 4;
  constexpr int kLevels = 3; // vllm::moe_forward is at most this many levels above the operator
  EventId root = e;
  for (int i = 0; i < kLevels && t.trace.name(root) != "vllm::moe_forward"; ++i) {
    const EventId above = t.tree.parent(root);
    if (above == kNoEvent)
      break;
    root = above;
  }
  std::optional<std::int64_t> found;
  const auto examine = [&](EventId at) {
    if (found || t.trace.name(at).find("TopK") == std::string_view::npos)
      return;
    if (const OpArgs* a = t.trace.op(at); a != nullptr) {
      const std::string k = parsed_args(t.trace, *a).concrete(1);
      if (const auto value = to_number(k); value && *value > 0)
        found = value;
    }
  };
  examine(root);
  visit_below(t, root, examine);
  return found.value_or(kDefault);
}

/// Key of the arguments of fused forward convolutions, by sequence number.
struct FusedConvolutionsKey {
  using Value = std::map<std::int64_t, const OpArgs*>;
  auto operator<=>(const FusedConvolutionsKey&) const = default;
};

FusedConvolutionsKey::Value compute(const LoadedTrace& t, const FusedConvolutionsKey& /*key*/) {
  FusedConvolutionsKey::Value out;
  for (const char* name : {"ConvBias_", "ConvBiasReLU_"}) {
    const StrId id = t.trace.strings.find(name);
    if (id == StringPool::kNotFound)
      continue;
    for (EventId i = 0; i < t.trace.events.size(); ++i)
      if (t.trace.events.name[i] == id)
        if (const OpArgs* a = t.trace.op(i); a != nullptr && a->sequence_number != kNoId)
          out.emplace(a->sequence_number, a);
  }
  return out;
}

/// Returns the arguments of the fused forward convolution with the same sequence number; returns
/// `args` if there is no such convolution.
const OpArgs* forward_args(const LoadedTrace& t, const OpArgs& args) {
  const auto& index = t.shared(FusedConvolutionsKey{});
  const auto it = args.sequence_number == kNoId ? index.end() : index.find(args.sequence_number);
  return it == index.end() ? &args : it->second;
}

/// Returns the name of the kernel that shows the number of heads of the V4 attention layer around
/// the call; "" without such a kernel.
std::string_view layer_kernel(const LoadedTrace& t, EventId e) {
  EventId layer = e;
  while (layer != kNoEvent && t.trace.name(layer) != "aiter::v4_attention_with_output")
    layer = t.tree.parent(layer);
  if (layer == kNoEvent)
    return {};
  for (const EventId k : t.tree.gpu_events(layer))
    if (t.trace.name(k).find("qk_norm_rope_H") != std::string_view::npos)
      return t.trace.name(k);
  return {};
}

/// Key of the attention window of each call, by event. In a step, the k-th call with the same name
/// is in the k-th layer and has the window of that layer.
struct LayerWindowsKey {
  using Value = std::unordered_map<EventId, std::int64_t>;
  auto operator<=>(const LayerWindowsKey&) const = default;
};

LayerWindowsKey::Value compute(const LoadedTrace& t, const LayerWindowsKey& /*key*/) {
  const std::vector<std::int64_t>& pattern = t.attention.layer_windows;
  const std::vector<const OpInfo*>& known = t.shared(ModelledNamesKey{});
  const std::vector<AnnotatedStep> steps = annotated_steps(t.trace);
  const Events& e = t.trace.events;
  std::vector<EventId> calls;
  for (EventId i = 0; i < e.size(); ++i)
    if (const OpInfo* op = known[e.name[i]]; op != nullptr && e.category[i] == Category::kCpuOp &&
                                             (model_needs(*op) & kNeedsAnnotation) != 0)
      calls.push_back(i);
  sort_by_start(e, calls);
  std::map<std::pair<std::ptrdiff_t, StrId>, std::size_t> seen;
  LayerWindowsKey::Value out;
  for (const EventId i : calls) {
    const auto after = std::ranges::partition_point(
        steps, [&](const AnnotatedStep& s) { return s.start_ns <= e.ts_ns[i]; });
    const std::size_t layer = seen[{after - steps.begin(), e.name[i]}]++;
    out[i] = pattern[layer % pattern.size()];
  }
  return out;
}

std::int64_t window_of(const LoadedTrace& t, EventId e) {
  if (t.attention.layer_windows.empty())
    return 0;
  const auto& all = t.shared(LayerWindowsKey{});
  const auto at = all.find(e);
  return at == all.end() ? 0 : at->second;
}

} // namespace

const PerfResult* OpCosts::call_cost(const LoadedTrace& t, EventId e, const OpInfo& op,
                                     std::span<const EventId> kernels) {
  static const OpArgs kNone;
  const Trace& trace = t.trace;
  const OpArgs* args = trace.op(e);
  if (args == nullptr)
    args = &kNone;
  ModelHints hints;
  std::string kernel_key;
  StrId annotation = kEmptyStr;
  const unsigned needs = model_needs(op);
  if (no_steps_ && (needs & kNeedsAnnotation) != 0)
    return nullptr;
  if ((needs & kNeedsTranspose) != 0)
    for (const EventId k : kernels)
      if (kernel_key = transpose_of(trace, trace.events.name[k]); !kernel_key.empty()) {
        hints.kernel = trace.name(k);
        break;
      }
  if ((needs & kNeedsKernel) != 0 && !kernels.empty()) {
    hints.kernel = trace.name(kernels.front());
    kernel_key = std::string(hints.kernel);
  }
  if ((needs & kNeedsAnnotation) != 0) {
    annotation = t.shared(InferenceStepsKey{}).at(trace, e);
    hints.annotation = trace.strings.view(annotation);
    hints.window = compat_ ? 0 : window_of(t, e);
  }
  if ((needs & kNeedsLayer) != 0) {
    hints.kernel = layer_kernel(t, e);
    kernel_key = std::string(hints.kernel);
    hints.topk = t.attention.sparse_topk;
  }
  if ((needs & kNeedsTopK) != 0)
    hints.topk = topk_of(t, e);
  if ((needs & kNeedsForward) != 0)
    args = forward_args(t, *args);
  Key key{
      &op,        args->input_dims, args->input_types, args->input_strides,  args->concrete_inputs,
      annotation, hints.topk,       hints.window,      std::move(kernel_key)};
  const auto [it, fresh] = costs_.try_emplace(std::move(key));
  if (fresh) {
    if (auto result = evaluate(op, parsed_args(trace, *args), hints, compat_))
      it->second = std::make_unique<PerfResult>(std::move(*result));
    else if (!compat_) // the row keeps its times, but flops and bytes are blank
      it->second = std::make_unique<PerfResult>();
  }
  return it->second.get();
}

const std::string& OpCosts::transpose_of(const Trace& trace, StrId kernel) {
  const auto [it, fresh] = transposes_.try_emplace(kernel);
  if (fresh)
    it->second = gemm_transpose_repr(trace.strings.view(kernel));
  return it->second;
}

ParsedArgs parsed_args(const Trace& trace, const OpArgs& args) {
  return {trace.arg(args.input_dims), trace.arg(args.input_types), trace.arg(args.input_strides),
          trace.arg(args.concrete_inputs)};
}

bool copies_over_link(const Trace& trace, std::span<const EventId> kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [&trace](EventId k) {
    const std::string_view name = trace.name(k);
    for (const char* part :
         {"HtoD", "DtoH", "HostToDevice", "DeviceToHost", "HOST_TO_DEVICE", "DEVICE_TO_HOST"})
      if (trace.events.category[k] == Category::kGpuMemcpy &&
          name.find(part) != std::string_view::npos)
        return true;
    return false;
  });
}

std::vector<const OpInfo*> compute(const LoadedTrace& trace, const ModelledNamesKey& key) {
  std::vector<const OpInfo*> out(trace.trace.strings.size(), nullptr);
  for (StrId id = 0; id < out.size(); ++id)
    if (const OpInfo* op = find_op(trace.trace.strings.view(id));
        op != nullptr && !(key.compat && op->beyond))
      out[id] = op;
  return out;
}

} // namespace rankscope
