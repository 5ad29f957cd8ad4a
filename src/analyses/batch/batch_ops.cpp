// Calls of modelled operators on one rank, grouped by name and parameters
// (docs/reference/batch-rules.md 3). Costs are those of `rankscope report`; old_cost() converts
// them to the costs of the older reference.
#include "analyses/batch/batch_part.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/op_costs.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>

namespace rankscope {
namespace {

using namespace std::string_view_literals;

constexpr auto kGemmOps = std::to_array<std::string_view>(
    {"aten::mm", "aten::_scaled_mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
     "trtllm::cublas_scaled_mm", "bitsandbytes::int8_linear_matmul", "_Linear_yfwd_mm",
     "_LayerNormLinear_yfwd_mm", "tex_ts::te_gemm_ts", "vllm::gemm_with_dynamic_quant"});
constexpr std::string_view kConvOps[] = {"aten::convolution"};
constexpr auto kAttentionOps = std::to_array<std::string_view>(
    {"aten::_scaled_dot_product_cudnn_attention", "aten::_scaled_dot_product_efficient_attention",
     "aten::_scaled_dot_product_flash_attention", "flash_attn::_flash_attn_forward",
     "flash_attn::_flash_attn_varlen_forward", "flash_attn_3::fwd", "aiter::_flash_attn_forward",
     "aiter::wrapper_fmha_v3_fwd"});
constexpr std::string_view kUnaryOps[] = {"aten::copy",       "aten::copy_",     "aten::clamp_min",
                                          "aten::clamp_min_", "aten::clamp_max", "aten::clamp_max_",
                                          "aten::sigmoid"};
constexpr auto kBinaryOps = std::to_array<std::string_view>(
    {"aten::div", "aten::div_", "aten::mul", "aten::mul_", "aten::add", "aten::add_",
     "aten::sigmoid_backward", "aten::threshold_backward"});

constexpr int kNoGroup = -1;

/// Returns, by StrId, the group of the operators with that name.
std::vector<int> groups_by_name(const StringPool& strings) {
  std::vector<int> out(strings.size(), kNoGroup);
  for (const BatchGroup group : kBatchGroups)
    for (const std::string_view name : batch_operators(group))
      if (const StrId id = strings.find(name); id != StringPool::kNotFound)
        out[id] = static_cast<int>(group);
  return out;
}

/// Returns whether the older reference does not know the size of a type that the later reference
/// knows.
bool unknown_then(const std::string& type) {
  return type == "int" || type == "Int" || type == "c10::Float8_e8m0fnu" ||
         type == "c10::Float4_e2m1fn_x2";
}

void set_param(PerfResult& r, std::string_view name, std::string value) {
  for (auto& [n, text] : r.params)
    if (n == name) {
      text = std::move(value);
      return;
    }
}

/// Reduces the costs to one batch item, because the older reference ignores the batch size.
/// Example: aten::bmm 8 x 128 x 64 x 256 is 2*128*64*256 = 4194304 flops in the older reference.
void lose_batch(PerfResult& r, std::int64_t batch) {
  if (batch > 0) {
    r.flops /= static_cast<double>(batch);
    r.bytes /= static_cast<double>(batch);
  }
  set_param(r, "B", "1");
}

/// Sets N to the second dimension of the weights, which is K, as the older reference does for
/// vllm::gemm_with_dynamic_quant.
void take_n_from_k(PerfResult& r, const ParsedArgs& args) {
  std::vector<std::size_t> two;
  for (std::size_t i = 0; i < args.count() && two.size() < 2; ++i)
    if (args.dims(i).size() == 2)
      two.push_back(i);
  if (two.size() < 2)
    return;
  const Shape x = args.dims(two[0]);
  const std::int64_t n = args.dims(two[1])[1];
  const auto m = static_cast<double>(x[0]);
  const auto k = static_cast<double>(x[1]);
  const double in = type_bytes(args.type(two[0]));
  r.flops = 2 * m * static_cast<double>(n) * k;
  r.bytes = m * k * in + k * static_cast<double>(n) * in +
            m * static_cast<double>(n) * (in == 1 ? 2 : in);
  set_param(r, "N", std::to_string(n));
}

/// Returns whether the older reference can model the flags: flash_attn:: operators need readable
/// values of dropout and causal.
bool readable_flags(std::string_view name, const ParsedArgs& args) {
  if (!name.starts_with("flash_attn::"))
    return true;
  const bool varlen = name.find("varlen") != std::string_view::npos;
  const std::string causal = args.concrete(varlen ? 9 : 5);
  return args.number(varlen ? 7 : 3).has_value() && (causal == "True" || causal == "False");
}

/// Converts the later reference's result of a call to that of the batch report's reference
/// (TraceLens of early 2025). Returns nullopt if the model of the older reference fails.
std::optional<PerfResult> old_cost(PerfResult r, const OpInfo& op, const ParsedArgs& args) {
  if (!readable_flags(op.name, args))
    return std::nullopt;
  if (op.name == "aten::bmm")
    lose_batch(r, args.dims(0).empty() ? 1 : args.dims(0)[0]);
  else if (op.name == "aten::baddbmm")
    lose_batch(r, args.dims(1).empty() ? 1 : args.dims(1)[0]);
  else if (op.name == "vllm::gemm_with_dynamic_quant")
    take_n_from_k(r, args);
  if (op.family != "SDPA") // the older reference uses two bytes per element for SDPA, whatever the
                           // type
    for (std::size_t i = 0; i < std::min<std::size_t>(args.count(), 3); ++i)
      if (unknown_then(args.type(i)))
        r.bytes = kUnknown;
  return r;
}

/// Adds the documented columns of an attention operator: strides for flash_attn:: operators. For
/// other operators, the reference omits the type, so its rows combine calls of different types.
void attention_params(PerfResult& r, std::string_view name, const ParsedArgs& args, bool compat) {
  const auto type = std::find_if(r.params.begin(), r.params.end(),
                                 [](const auto& p) { return p.first == "dtype_A_B"; });
  if (type == r.params.end())
    return;
  if (name.starts_with("flash_attn::"))
    r.params.insert(type, {{"q_stride", args.strides(0)},
                           {"k_stride", args.strides(1)},
                           {"v_stride", args.strides(2)}});
  else if (compat)
    r.params.erase(type);
}

bool moves_data(std::string_view kernel) {
  return kernel.find("at::native::direct_copy_kernel_cuda") != std::string_view::npos ||
         kernel.find("transpose_") != std::string_view::npos;
}

/// Collects the GPU events below an operator, depth first, siblings in order.
void kernels_below(const LoadedTrace& t, EventId op, std::vector<EventId>& out) {
  out.clear();
  const std::span<const EventId> all = t.tree.gpu_events(op);
  if (all.size() < 2) {
    out.assign(all.begin(), all.end());
    return;
  }
  std::vector<EventId> stack{op};
  while (!stack.empty()) {
    const EventId at = stack.back();
    stack.pop_back();
    if (t.trace.gpu(at)) {
      out.push_back(at);
      continue;
    }
    const std::span<const EventId> children = t.tree.children(at);
    for (auto it = children.rbegin(); it != children.rend(); ++it)
      stack.push_back(*it);
  }
}

class GroupBuilder {
public:
  GroupBuilder(const LoadedTrace& t, const BatchOptions& options)
      : t_(t), compat_(options.compat), costs_(options.compat) {
    moves_.reserve(t.trace.strings.size());
    for (StrId id = 0; id < t.trace.strings.size(); ++id)
      moves_.push_back(moves_data(t.trace.strings.view(id)));
  }

  void add(EventId e, BatchGroup group, const OpInfo& op) {
    BatchGroupCalls& to = out_[static_cast<std::size_t>(group)];
    ++to.events;
    kernels_below(t_, e, kernels_);
    if (kernels_.empty() && group == BatchGroup::kGemm) {
      ++to.without_kernel;
      return;
    }
    const PerfResult* perf = cost(e, op);
    if (perf == nullptr) {
      ++to.unfit;
      return;
    }
    add_call(e, *perf, calls_of(e, *perf, to));
  }

  [[nodiscard]] std::array<BatchGroupCalls, kBatchGroups.size()> take() && {
    return std::move(out_);
  }

private:
  /// Returns the cost of a call; nullptr if the arguments do not fit the model.
  const PerfResult* cost(EventId e, const OpInfo& op) {
    in_time_ = kernels_;
    sort_unique_by_start(t_.trace, in_time_);
    const PerfResult* perf = costs_.call_cost(t_, e, op, in_time_);
    if (perf == nullptr || perf->params.empty())
      return nullptr;
    const bool attention = op.family == "SDPA";
    if (!compat_ && !attention)
      return perf;
    const auto [it, fresh] = adapted_.try_emplace(perf);
    if (fresh) {
      const ParsedArgs args = parsed_args(t_.trace, *t_.trace.op(e));
      std::optional<PerfResult> made = *perf;
      if (compat_)
        made = old_cost(std::move(*made), op, args);
      if (made && attention)
        attention_params(*made, op.name, args, compat_);
      if (made)
        it->second = std::make_unique<PerfResult>(std::move(*made));
    }
    return it->second.get();
  }

  /// Returns the row of a call. Adds the row if the call is the first with its parameters.
  BatchCalls& calls_of(EventId e, const PerfResult& perf, BatchGroupCalls& to) {
    const auto [known, fresh] = rows_.try_emplace({&perf, t_.trace.events.name[e]});
    if (fresh) {
      std::string key(t_.trace.name(e));
      for (const auto& [name, text] : perf.params)
        key += '\x1f' + name + '\x1f' + text;
      known->second = by_params_.try_emplace(std::move(key), to.rows.size()).first->second;
      if (known->second == to.rows.size()) {
        BatchCalls& row = to.rows.emplace_back();
        row.name = t_.trace.name(e);
        row.params = perf.params;
        row.first_uid = t_.trace.events.uid[e];
      }
    }
    return to.rows[known->second];
  }

  void add_call(EventId e, const PerfResult& perf, BatchCalls& row) {
    const Trace& trace = t_.trace;
    const OpArgs& args = *trace.op(e);
    const auto keep = [&](std::string& text, StrId id) {
      if (text.empty())
        text = trace.strings.view(id);
    };
    keep(row.input_dims, args.input_dims);
    keep(row.input_types, args.input_types);
    keep(row.input_strides, args.input_strides);
    keep(row.concrete_inputs, args.concrete_inputs);
    if (row.kernels.empty())
      for (const EventId k : kernels_)
        row.kernels.emplace_back(trace.name(k), trace.events.stream[k]);
    BatchCall call;
    call.flops = perf.flops;
    call.bytes = perf.bytes;
    call.kernels = static_cast<std::uint32_t>(kernels_.size());
    call.time_ns = call.compute_ns = busy_ns(trace, in_time_, compat_);
    const auto moved = std::remove_if(in_time_.begin(), in_time_.end(),
                                      [&](EventId k) { return moves_[trace.events.name[k]]; });
    if (moved != in_time_.end()) {
      in_time_.erase(moved, in_time_.end());
      call.compute_ns = busy_ns(trace, in_time_, compat_);
    }
    row.calls.push_back(call);
    for (const EventId k : kernels_)
      row.kernel_ns.push_back(trace.events.dur_ns[k]);
  }

  const LoadedTrace& t_;
  const bool compat_;
  OpCosts costs_;
  std::vector<bool> moves_; ///< by StrId: whether the kernel moves data
  std::unordered_map<const PerfResult*, std::unique_ptr<PerfResult>> adapted_;
  std::map<std::pair<const PerfResult*, StrId>, std::size_t> rows_;
  std::unordered_map<std::string, std::size_t> by_params_;
  std::vector<EventId> kernels_, in_time_; ///< kernels of the current call
  std::array<BatchGroupCalls, kBatchGroups.size()> out_;
};

} // namespace

std::string_view batch_group_name(BatchGroup group) {
  constexpr std::string_view kNames[] = {"gemm", "conv", "attn", "un_elemwise", "bin_elemwise"};
  return kNames[static_cast<std::size_t>(group)];
}

std::span<const std::string_view> batch_operators(BatchGroup group) {
  switch (group) {
  case BatchGroup::kGemm:
    return kGemmOps;
  case BatchGroup::kConv:
    return kConvOps;
  case BatchGroup::kAttention:
    return kAttentionOps;
  case BatchGroup::kUnary:
    return kUnaryOps;
  case BatchGroup::kBinary:
    break;
  }
  return kBinaryOps;
}

std::array<BatchGroupCalls, kBatchGroups.size()> batch_calls(const LoadedTrace& t,
                                                             const BatchOptions& options) {
  const Trace& trace = t.trace;
  const std::vector<int> groups = groups_by_name(trace.strings);
  const std::vector<const OpInfo*>& ops = t.shared(ModelledNamesKey{options.compat});
  GroupBuilder builder(t, options);
  for (EventId e = 0; e < trace.events.size(); ++e) {
    const StrId name = trace.events.name[e];
    if (groups[name] == kNoGroup || ops[name] == nullptr)
      continue;
    if (const OpArgs* args = trace.op(e); args != nullptr && args->input_dims != kEmptyStr)
      builder.add(e, static_cast<BatchGroup>(groups[name]), *ops[name]);
  }
  return std::move(builder).take();
}

} // namespace rankscope
