// Combines the parts of the ranks (docs/reference/batch-rules.md 3 to 7).
#include "analyses/batch/batch_facts.h"

#include "base/invariant.h"
#include "base/number_text.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"
#include "core/arg_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace rankscope {
namespace {

/// The calls of all ranks with the same name and parameters.
struct Rows {
  std::vector<const BatchCalls*> by_rank; ///< ascending by rank
};

/// Returns "[{'name': ..., 'count': ...}, ...]": the kernels of the first call that has kernels.
/// The duration statistics are over all calls with the same number of kernels.
std::string kernel_details(const Rows& rows) {
  const BatchCalls* model = nullptr;
  for (const BatchCalls* calls : rows.by_rank)
    if (model == nullptr && !calls->kernels.empty())
      model = calls;
  if (model == nullptr)
    return "[]";
  const std::size_t n = model->kernels.size();
  std::vector<std::vector<std::int64_t>> durations(n);
  for (const BatchCalls* calls : rows.by_rank) {
    std::size_t at = 0;
    for (const BatchCall& call : calls->calls) {
      if (call.kernels == n)
        for (std::size_t k = 0; k < n; ++k)
          durations[k].push_back(calls->kernel_ns[at + k]);
      at += call.kernels;
    }
  }
  std::string out = "[";
  for (std::size_t k = 0; k < n; ++k) {
    const Stats us = stats_of_ns(std::move(durations[k]));
    out += fmt::format("{}{{'name': {}, 'stream': {}, 'count': {}, 'total_duration_us': {}, "
                       "'mean_duration_us': {}, 'std_dev_duration_us': {}}}",
                       k > 0 ? ", " : "", python_quote(model->kernels[k].first),
                       model->kernels[k].second, us.count, python_float(us.sum),
                       python_float(us.mean), python_float(us.std_population));
  }
  return out + "]";
}

std::string param(const BatchCalls& calls, const std::string& name) {
  for (const auto& [n, text] : calls.params)
    if (n == name)
      return text;
  return "";
}

/// Sets the statistics of times and rates over the calls.
void add_rates(const Rows& rows, BatchOpRow& out) {
  std::vector<double> times;
  std::vector<double> tbps;
  std::vector<double> tflops;
  std::vector<double> compute_tflops;
  double compute_ns = 0;
  out.flops = out.bytes = kNaN;
  for (const BatchCalls* calls : rows.by_rank)
    for (const BatchCall& call : calls->calls) {
      if (std::isnan(out.flops))
        out.flops = call.flops;
      if (std::isnan(out.bytes))
        out.bytes = call.bytes;
      const double us = ns_to_us(call.time_ns);
      const double compute_us = ns_to_us(call.compute_ns);
      const double gflops = call.flops / 1e9;
      times.push_back(call.time_ns);
      tbps.push_back(us > 0 ? (call.bytes / 1e12) / (us / 1e6) : kNaN);
      tflops.push_back(us > 0 ? (gflops / 1e3) / (us / 1e6) : kNaN);
      compute_tflops.push_back(compute_us > 0 ? (gflops / 1e3) / (compute_us / 1e6) : kNaN);
      compute_ns += call.compute_ns;
    }
  out.count = times.size();
  out.kernel_us = stats_of_ns(std::move(times));
  out.tbps = stats_of(std::move(tbps));
  out.tflops = stats_of(std::move(tflops));
  out.compute_tflops = stats_of(std::move(compute_tflops));
  out.compute_us = ns_to_us(compute_ns);
}

BatchOpRow op_row(const Rows& rows, const std::vector<std::string>& params) {
  const BatchCalls& first = *rows.by_rank.front();
  BatchOpRow out;
  out.name = first.name;
  for (const std::string& p : params)
    out.params.push_back(param(first, p));
  out.first_uid = first.first_uid;
  for (const BatchCalls* calls : rows.by_rank) {
    const auto keep = [](std::string& text, const std::string& other) {
      if (text.empty())
        text = other;
    };
    keep(out.input_dims, calls->input_dims);
    keep(out.input_types, calls->input_types);
    keep(out.input_strides, calls->input_strides);
    keep(out.concrete_inputs, calls->concrete_inputs);
  }
  add_rates(rows, out);
  out.kernel_details = kernel_details(rows);
  return out;
}

std::string key_of(const BatchCalls& calls) {
  std::string key = calls.name;
  for (const auto& [name, text] : calls.params)
    if (text != "None") // blank, as if the parameter were missing
      key += '\x1f' + name + '\x1f' + text;
  return key;
}

/// Returns the rows in order of first appearance over the ranks.
std::vector<Rows> rows_of(const std::vector<BatchPart>& parts, std::size_t group) {
  std::vector<Rows> out;
  std::unordered_map<std::string, std::size_t> at;
  for (const BatchPart& part : parts)
    for (const BatchCalls& calls : part.groups[group].rows) {
      const auto [known, fresh] = at.try_emplace(key_of(calls), out.size());
      if (fresh)
        out.emplace_back();
      out[known->second].by_rank.push_back(&calls);
    }
  return out;
}

BatchFamily family_of(const std::vector<BatchPart>& parts, BatchGroup group) {
  const auto g = static_cast<std::size_t>(group);
  BatchFamily out;
  out.group = group;
  for (const BatchPart& part : parts) {
    out.without_kernel += part.groups[g].without_kernel;
    out.unfit += part.groups[g].unfit;
    for (const BatchCalls& calls : part.groups[g].rows)
      for (const auto& [name, text] : calls.params)
        if (std::find(out.params.begin(), out.params.end(), name) == out.params.end())
          out.params.push_back(name);
  }
  for (const Rows& rows : rows_of(parts, g))
    out.rows.push_back(op_row(rows, out.params));
  sort_stably(out.rows, [](const BatchOpRow& a, const BatchOpRow& b) {
    return a.kernel_us.sum != b.kernel_us.sum ? a.kernel_us.sum > b.kernel_us.sum
                                              : a.first_uid < b.first_uid;
  });
  double total = 0;
  for (const BatchOpRow& row : out.rows)
    total += row.kernel_us.sum;
  double running = 0;
  for (BatchOpRow& row : out.rows) {
    running += row.kernel_us.sum;
    row.cumulative = total > 0 ? running / total : kNaN;
  }
  return out;
}

std::vector<BatchLauncherRow> launchers_of(const std::vector<BatchPart>& parts) {
  std::map<std::string_view, BatchLauncherRow> by_name;
  for (const BatchPart& part : parts)
    for (const BatchLaunchers& l : part.launchers) {
      BatchLauncherRow& row = by_name[l.name];
      row.count += l.count;
      row.time_ns += l.time_ns;
      row.without_copy_ns += l.without_copy_ns;
    }
  std::vector<BatchLauncherRow> out;
  for (auto& [name, row] : by_name) {
    row.name = name;
    out.push_back(std::move(row));
  }
  sort_stably(out, std::ranges::greater(), &BatchLauncherRow::time_ns);
  fill_shares(out, &BatchLauncherRow::time_ns);
  return out;
}

std::vector<BatchTimelineRow> timeline_of(const std::vector<BatchPart>& parts) {
  std::vector<BatchTimelineRow> out;
  for (std::size_t k = 0; k < parts.front().timeline.size(); ++k) {
    BatchTimelineRow row;
    row.type = time_kind_name(parts.front().timeline[k].kind);
    for (const BatchPart& part : parts) {
      row.time_ms.push_back(ns_to_ms(part.timeline[k].time_ns));
      row.percent.push_back(part.timeline[k].percent);
    }
    const Stats s = stats_of(row.time_ms);
    row.mean_ms = s.mean;
    row.std_ms = s.std_population;
    out.push_back(std::move(row));
  }
  return out;
}

/// Returns the durations of the unlinked events by name and category, most events first.
std::vector<BatchDurations> unlinked_of(const std::vector<BatchPart>& parts) {
  std::map<std::pair<std::string_view, std::string_view>, BatchDurations> rows;
  for (const BatchPart& part : parts)
    for (const BatchDurations& d : part.unlinked) {
      BatchDurations& row = rows[{d.name, d.category}];
      const bool fresh = row.count == 0;
      row.name = d.name;
      row.category = d.category;
      row.min_ns = fresh ? d.min_ns : std::min(row.min_ns, d.min_ns);
      row.max_ns = fresh ? d.max_ns : std::max(row.max_ns, d.max_ns);
      row.sum_ns += d.sum_ns;
      row.count += d.count;
    }
  std::vector<BatchDurations> out;
  for (auto& [key, row] : rows)
    out.push_back(std::move(row));
  sort_stably(out, std::ranges::greater(), &BatchDurations::count);
  return out;
}

std::vector<std::pair<std::string, std::size_t>> short_ops_of(const std::vector<BatchPart>& parts) {
  std::vector<std::pair<std::string, std::size_t>> out;
  std::unordered_map<std::string_view, std::size_t> at;
  for (const BatchPart& part : parts)
    for (const auto& [name, count] : part.short_ops) {
      const auto [known, fresh] = at.try_emplace(name, out.size());
      if (fresh)
        out.emplace_back(name, 0);
      out[known->second].second += count;
    }
  sort_stably(out, [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::vector<BatchRuntimeRow> runtime_of(const std::vector<BatchPart>& parts) {
  std::map<std::pair<std::string_view, std::string_view>, BatchRuntimeRow> rows;
  for (std::size_t r = 0; r < parts.size(); ++r)
    for (const BatchDurations& d : parts[r].runtime) {
      BatchRuntimeRow& row = rows[{d.name, d.category}];
      row.ranks.resize(parts.size(), nullptr);
      row.ranks[r] = &d;
    }
  std::vector<BatchRuntimeRow> out;
  for (auto& [key, row] : rows) {
    row.name = key.first;
    row.category = key.second;
    out.push_back(std::move(row));
  }
  return out;
}

constexpr auto kAttentionLaunchers = std::to_array<std::string_view>(
    {"aten::_cudnn_attention_forward", "aten::_efficient_attention_forward",
     "flash_attn::_flash_attn_forward", "flash_attn::_flash_attn_varlen_forward",
     "xFuserRingFlashAttnFunc", "FlashAttnFunc", "FlashAttnVarlenFunc", "flash_attn_3::fwd",
     "aiter::wrapper_mha_varlen_fwd", "aiter::wrapper_fmha_v3_varlen_fwd",
     "aiter::wrapper_fmha_v3_fwd", "_vllm_fa3_C::fwd", "vllm::unified_attention_with_output",
     "vllm::flash_attn_varlen_func", "aiter::paged_attention_v1"});
constexpr std::string_view kConvLaunchers[] = {"aten::miopen_convolution",
                                               "aten::cudnn_convolution"};
/// Operators that the reference omits. aten::convolution_backward launches its kernels itself.
constexpr std::string_view kOmittedConvLaunchers[] = {"aten::convolution", "aten::_convolution",
                                                      "aten::convolution_overrideable"};
constexpr std::string_view kNormLaunchers[] = {"aten::native_group_norm", "aten::native_layer_norm",
                                               "_C::rms_norm", "_C::fused_add_rms_norm"};
constexpr std::string_view kUpsampleLaunchers[] = {
    "aten::upsample_nearest3d",        "aten::upsample_nearest2d", "aten::upsample_bicubic2d",
    "aten::_upsample_nearest_exact2d", "upsample_nearest2d",       "upsample_bicubic2d",
    "_upsample_nearest_exact2d"};

constexpr std::string_view kBreakdown[] = {"Attention", "GEMM",     "Conv",   "Norm", "UpSample",
                                           "Pad",       "Elemwise", "Concat", "MoE",  "Triton",
                                           "Comms",     "Memcpy",   "Other"};
constexpr std::size_t kComms = 10;
constexpr std::size_t kMemcpy = 11;
constexpr std::size_t kOther = 12;

bool in(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Returns the row of kBreakdown that a launcher belongs to. The reference counts operators of the
/// backward pass as Other; they belong to the row of their forward pass.
std::size_t breakdown_of(std::string_view name, bool compat) {
  // the launching operator of torch's flash attention, which the reference omits
  if (in(kAttentionLaunchers, name) || (!compat && name == "aten::_flash_attention_forward"))
    return 0;
  if (in(batch_operators(BatchGroup::kGemm), name))
    return 1;
  if (in(kConvLaunchers, name) || (!compat && in(kOmittedConvLaunchers, name)))
    return 2;
  if (in(kNormLaunchers, name))
    return 3;
  if (in(kUpsampleLaunchers, name))
    return 4;
  if (name == "aten::replication_pad3d")
    return 5;
  if (in(batch_operators(BatchGroup::kUnary), name) ||
      in(batch_operators(BatchGroup::kBinary), name))
    return 6;
  if (name == "aten::cat")
    return 7;
  if (name == "vllm::moe_forward")
    return 8;
  if (name.starts_with("triton_"))
    return 9;
  constexpr std::string_view kBackward = "_backward";
  if (compat || !name.ends_with(kBackward))
    return kOther;
  name.remove_suffix(kBackward.size());
  const std::size_t forward = breakdown_of(std::string(name) + "_forward", false);
  return forward != kOther ? forward : breakdown_of(name, false);
}

/// Adds the breakdown in seconds, averaged over the ranks. The reference counts copies in Memcpy
/// and in the group of the operator that launched them. Here, copies are in Memcpy alone.
void breakdown(BatchFacts& facts, bool compat) {
  std::array<double, std::size(kBreakdown)> ns{};
  for (const BatchLauncherRow& l : facts.launchers) {
    const std::size_t row = breakdown_of(l.name, compat);
    ns[row] += compat ? l.time_ns : l.without_copy_ns;
    if (row == kOther && (compat || l.without_copy_ns > 0))
      facts.other.push_back(l.name);
  }
  const auto ranks = static_cast<double>(facts.parts.size());
  double total = 0;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    double seconds = ns[i] / 1e9 / ranks;
    for (const BatchTimelineRow& row : facts.timeline)
      if ((i == kComms && row.type == time_kind_name(TimeKind::kTotalComm)) ||
          (i == kMemcpy && row.type == time_kind_name(TimeKind::kTotalMemcpy)))
        seconds = row.mean_ms / 1e3;
    facts.breakdown.push_back({kBreakdown[i], seconds});
    total += seconds;
  }
  facts.breakdown.push_back({"Total", total});
}

} // namespace

std::unique_ptr<const BatchFacts> batch_facts(std::vector<BatchPart> parts,
                                              const BatchOptions& options) {
  RS_ASSERT(!parts.empty());
  auto out = std::make_unique<BatchFacts>();
  out->parts = std::move(parts);
  const std::vector<BatchPart>& all = out->parts;
  for (const BatchGroup group : kBatchGroups)
    if (BatchFamily family = family_of(all, group);
        !family.rows.empty() || family.without_kernel + family.unfit > 0)
      out->families.push_back(std::move(family));
  out->launchers = launchers_of(all);
  out->timeline = timeline_of(all);
  for (const BatchPart& part : all)
    out->links.push_back({part.rank, part.links});
  out->unlinked = unlinked_of(all);
  out->short_ops = short_ops_of(all);
  out->runtime = runtime_of(all);
  breakdown(*out, options.compat);
  if (all.size() > 1) {
    for (BatchPart& part : out->parts)
      out->ranks.push_back(std::move(part.collectives));
    out->collectives = combine_collectives(out->ranks, options.compat);
  }
  return out;
}

} // namespace rankscope
