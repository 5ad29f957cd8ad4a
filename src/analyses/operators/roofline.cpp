// One sheet per operator family: FLOPs, bytes, rates and rooflines of each operator call, grouped
// by name and parameters (docs/reference/report-rules.md 10). All families come from one pass over
// the events.
#include "analyses/operators/roofline.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/op_costs.h"
#include "analyses/operators/op_key.h"
#include "analyses/operators/python_cell.h"
#include "base/sort.h"
#include "base/units.h"
#include "core/arg_text.h"
#include "model/kernels.h"
#include "model/ops/op_model.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace rankscope {
namespace {

struct RooflineCall {
  EventId event = kNoEvent;
  const PerfResult* perf = nullptr;
  bool backward = false; ///< use flops_bwd and bytes_bwd of perf
  std::vector<EventId> kernels;
};

struct Family {
  std::string name;
  std::vector<RooflineCall> calls; ///< in file order
};

/// Returns whether the forward and backward operators of a family share a sheet. `inference`: in
/// the reference's inference report.
bool has_one_sheet(std::string_view family, bool inference) {
  if (inference)
    return family == "GEMM" || family == "UnaryElementwise" || family == "BinaryElementwise";
  for (const char* f : {"GEMM", "UnaryElementwise", "BinaryElementwise", "Normalization", "Foreach",
                        "DataMovement"})
    if (family == f)
      return true;
  return false;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

/// Returns whether an operator of a forward sheet moves to the backward sheet. The reference moves
/// four names; otherwise every operator that the registry calls backward moves.
bool moves_to_backward(const OpInfo& op, bool compat) {
  if (!compat)
    return ends_with(op.category, "_bwd");
  for (const char* name : {"flash_attn::_flash_attn_varlen_backward", "aten::convolution_backward",
                           "ConvBias_Backward", "ConvBiasReLU_Backward"})
    if (op.name == name)
      return true;
  return false;
}

/// Returns whether the reference leaves out the backward rows of this forward operator, because its
/// backward operator has separate rows.
bool no_backward_row(std::string_view name) {
  for (const char* n : {"aten::convolution", "aten::miopen_convolution", "aten::cudnn_convolution",
                        "ConvBias_", "ConvBiasReLU_", "vllm::unified_attention_with_output"})
    if (name == n)
      return true;
  return false;
}

/// Returns the families without calls, in the order of the registry. Fills `at` with the index of a
/// family's first sheet.
std::vector<Family> empty_families(std::unordered_map<std::string_view, std::size_t>& at,
                                   bool inference = false) {
  std::vector<Family> out;
  for (const OpInfo& op : modelled_ops())
    if (at.emplace(op.family, out.size()).second) {
      if (has_one_sheet(op.family, inference)) {
        out.push_back({std::string(op.family), {}});
      } else {
        out.push_back({std::string(op.family) + "_fwd", {}});
        out.push_back({std::string(op.family) + "_bwd", {}});
      }
    }
  return out;
}

std::vector<Family> collect(const LoadedTrace& t, OpCosts& costs, const FamiliesKey& wanted) {
  const bool compat = wanted.launchers.compat;
  const bool inference = wanted.inference;
  const Trace& trace = t.trace;
  std::unordered_map<std::string_view, std::size_t> at;
  std::vector<Family> sheets = empty_families(at, inference);
  const std::vector<const OpInfo*>& op_of = t.shared(ModelledNamesKey{compat});
  for (EventId e = 0; e < trace.events.size(); ++e) {
    const OpInfo* op = op_of[trace.events.name[e]];
    if (op == nullptr || trace.gpu(e))
      continue;
    const std::size_t first = at.at(op->family);
    RooflineCall call;
    call.event = e;
    const auto gpu = t.tree.gpu_events(e);
    call.kernels.assign(gpu.begin(), gpu.end());
    sort_unique_by_start(trace, call.kernels);
    call.perf = costs.call_cost(t, e, *op, call.kernels);
    if (call.perf == nullptr)
      continue;
    const bool single = has_one_sheet(op->family, inference);
    const PerfResult* perf = call.perf;
    sheets[first + (!single && moves_to_backward(*op, compat) ? 1U : 0U)].calls.push_back(
        std::move(call));
    if (single || std::isnan(perf->flops_bwd) || no_backward_row(op->name) ||
        t.tree.backward_of(e).empty())
      continue;
    sheets[first + 1].calls.push_back({e, perf, true, backward_kernels(t, e)});
  }
  return sheets;
}

const std::string* find_param(const PerfResult& perf, const std::string& name) {
  for (const auto& [n, text] : perf.params)
    if (n == name)
      return &text;
  return nullptr;
}

/// The parameters of a sheet, and their texts for a call.
class SheetParams {
public:
  SheetParams(std::vector<std::string> names, bool as_reference)
      : names_(std::move(names)), texts_(as_reference ? names_.size() : 0) {}

  /// Adds a call of the sheet. All calls must be added before a text is requested.
  void add(const PerfResult& perf) {
    for (std::size_t i = 0; i < texts_.size(); ++i)
      texts_[i].add(find_param(perf, names_[i]));
  }

  [[nodiscard]] std::vector<std::string> texts_of(const PerfResult& perf) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string* const repr = find_param(perf, names_[i]);
      out.push_back(!texts_.empty() ? texts_[i].text(repr) : repr != nullptr ? *repr : "");
    }
    return out;
  }

private:
  std::vector<std::string> names_;
  std::vector<ReferenceTexts> texts_; ///< texts of each parameter; filled only in compat mode
};

class FamilyRows {
public:
  FamilyRows(const LoadedTrace& t, const FamiliesKey& key, const std::optional<GpuArch>& arch)
      : t_(t), key_(key), index_(t.shared(key.launchers)), arch_(arch) {}

  FamilySheet sheet(const Family& family) const {
    FamilySheet out;
    out.name = family.name;
    out.arch = arch_;
    out.legacy = key_.legacy && family.name == "GEMM";
    std::unordered_set<const PerfResult*> seen; // calls with the same arguments share a PerfResult
    for (const RooflineCall& call : family.calls)
      if (seen.insert(call.perf).second)
        for (const auto& [name, text] : call.perf->params)
          if (std::find(out.params.begin(), out.params.end(), name) == out.params.end())
            out.params.push_back(name);
    if (out.legacy) // the columns X, AG and AH of that layout are right only with these nine
                    // parameters
      out.params = {"M", "N", "K", "bias", "stride_A", "stride_B", "dtype_A_B", "B", "transpose"};

    SheetParams params(out.params, key_.launchers.compat && !key_.inference);
    for (const PerfResult* perf : seen)
      params.add(*perf);
    for (const std::vector<const RooflineCall*>& calls : groups_of(family, params))
      out.rows.push_back(row(calls, params));
    sort_stably(out.rows, [](const FamilyRow& a, const FamilyRow& b) {
      return a.kernel_us.sum != b.kernel_us.sum ? a.kernel_us.sum > b.kernel_us.sum
                                                : a.first_uid < b.first_uid;
    });
    return out;
  }

private:
  [[nodiscard]] bool recompute(EventId e) const {
    return e < index_.recompute.size() && index_.recompute[e];
  }

  /// Returns shapes, types and values; all are empty if the operator's arguments were not recorded.
  [[nodiscard]] std::array<StrId, 3> arguments_of(const RooflineCall& call) const {
    const OpArgs* args = t_.trace.op(call.event);
    if (args == nullptr)
      return {kEmptyStr, kEmptyStr, kEmptyStr};
    return {args->input_dims, args->input_types, args->concrete_inputs};
  }

  /// Returns the calls of each row, with rows ordered by their first call.
  [[nodiscard]] std::vector<std::vector<const RooflineCall*>>
  groups_of(const Family& family, const SheetParams& params) const {
    std::vector<std::vector<const RooflineCall*>> groups;
    std::map<std::vector<std::string>, std::size_t> rows;
    // The inputs of key_of() as ids, so that key_of() makes its texts once per distinct call.
    using Same = std::tuple<StrId, const PerfResult*, std::array<StrId, 3>, std::size_t, bool>;
    std::map<Same, std::size_t> known;
    for (const RooflineCall& call : family.calls) {
      const auto [same, fresh] =
          known.try_emplace(Same{t_.trace.events.name[call.event], call.perf, arguments_of(call),
                                 call.kernels.size(), recompute(call.event)});
      if (fresh)
        same->second = rows.emplace(key_of(call, params), rows.size()).first->second;
      if (same->second == groups.size())
        groups.emplace_back();
      groups[same->second].push_back(&call);
    }
    return groups;
  }

  [[nodiscard]] std::vector<std::string> key_of(const RooflineCall& call,
                                                const SheetParams& params) const {
    std::vector<std::string> key = params.texts_of(*call.perf);
    key.emplace_back(t_.trace.name(call.event));
    // without parameters, only the arguments distinguish calls with different shapes
    if (call.perf->params.empty() && !key_.launchers.compat)
      for (const StrId id : arguments_of(call))
        key.emplace_back(t_.trace.strings.view(id));
    if (key_.num_kernels)
      key.push_back(std::to_string(call.kernels.size()));
    if (key_.launchers.recompute)
      key.push_back(recompute(call.event) ? "True" : "False");
    return key;
  }

  std::string list_text(StrId json) const {
    return json == kEmptyStr ? std::string() : python_repr(*t_.trace.arg(json), false);
  }

  FamilyRow row(const std::vector<const RooflineCall*>& calls, const SheetParams& params) const {
    const Trace& trace = t_.trace;
    const RooflineCall& first = *calls.front();
    FamilyRow out;
    out.name = trace.name(first.event);
    out.params = params.texts_of(*first.perf);
    out.num_kernels = first.kernels.size();
    out.recompute = recompute(first.event);
    out.compute_spec = first.perf->compute_spec;
    add_costs(calls, out);
    const Track& track = trace.tracks[trace.events.track[first.event]];
    out.process_name = name_or_unknown(trace, track.process_name);
    out.process_label = name_or_unknown(trace, track.process_label);
    out.thread_name = name_or_unknown(trace, track.thread_name);
    std::vector<std::span<const EventId>> kernels;
    for (const RooflineCall* call : calls)
      kernels.emplace_back(call->kernels);
    out.details = kernel_details(trace, kernels, key_.launchers.compat);
    if (const OpArgs* args = trace.op(first.event)) {
      out.input_dims = list_text(args->input_dims);
      out.input_types = list_text(args->input_types);
      out.input_strides = list_text(args->input_strides);
      out.concrete_inputs = list_text(args->concrete_inputs);
    }
    out.count = calls.size();
    out.first_uid = trace.events.uid[first.event];
    out.first = first.event;
    return out;
  }

  /// Adds times, rates and roofline.
  void add_costs(const std::vector<const RooflineCall*>& calls, FamilyRow& out) const {
    std::vector<double> times;
    std::vector<double> tbps;
    std::vector<double> tflops;
    std::vector<double> percent;
    // calls with the same parameters have the same cost, but the bytes of some calls may be unknown
    out.flops = kUnknown;
    out.bytes = kUnknown;
    for (const RooflineCall* call : calls) {
      const double flops = call->backward ? call->perf->flops_bwd : call->perf->flops;
      const double bytes = call->backward ? call->perf->bytes_bwd : call->perf->bytes;
      if (std::isnan(out.flops))
        out.flops = flops;
      if (std::isnan(out.bytes))
        out.bytes = bytes;
      const double ns = busy_ns(t_.trace, call->kernels, key_.launchers.compat);
      const double us = ns_to_us(ns);
      times.push_back(ns);
      tbps.push_back(us > 0 ? bytes / 1e12 / (us / 1e6) : kUnknown);
      tflops.push_back(us > 0 ? flops / 1e12 / (us / 1e6) : kUnknown);
      if (arch_ && (key_.launchers.compat || !copies_over_link(t_.trace, call->kernels))) {
        const auto r = roofline(*arch_, call->perf->compute_spec, flops, bytes);
        percent.push_back(r && us > 0 ? 100 * r->time_us / us : kUnknown);
        if (!out.roofline)
          out.roofline = r;
      }
    }
    out.kernel_us = stats_of_ns(std::move(times));
    out.tbps = stats_of(std::move(tbps));
    out.tflops = stats_of(std::move(tflops));
    out.percent_of_roofline = stats_of(std::move(percent));
  }

  const LoadedTrace& t_;
  const FamiliesKey& key_;
  const LauncherIndex& index_;
  const std::optional<GpuArch>& arch_;
};

std::vector<GemmKernelRow> gemm_kernels(const LoadedTrace& t, const std::vector<Family>& families) {
  const Trace& trace = t.trace;
  std::vector<bool> covered(trace.events.size());
  for (const Family& family : families)
    for (const RooflineCall& call : family.calls)
      for (const EventId k : call.kernels)
        covered[k] = true;
  std::map<StrId, std::pair<std::vector<std::int64_t>, EventId>> groups;
  for (EventId e = 0; e < trace.events.size(); ++e)
    if (trace.events.category[e] == Category::kKernel && !covered[e]) {
      auto& group =
          groups.try_emplace(trace.events.name[e], std::vector<std::int64_t>(), e).first->second;
      group.first.push_back(trace.events.dur_ns[e]);
    }
  std::vector<GemmKernelRow> out;
  for (auto& [name, group] : groups) {
    const auto kernel = parse_gemm_kernel(trace.strings.view(name));
    if (!kernel)
      continue;
    GemmKernelRow row;
    row.kernel = trace.strings.view(name);
    row.library = gemm_library_name(kernel->library);
    const auto flag = [](const std::optional<bool>& v) { return v ? (*v ? "T" : "N") : "?"; };
    if (kernel->transpose_a || kernel->transpose_b)
      row.transpose = std::string(flag(kernel->transpose_a)) + flag(kernel->transpose_b);
    if (kernel->tile_m > 0)
      row.tile = std::to_string(kernel->tile_m) + "x" + std::to_string(kernel->tile_n) +
                 (kernel->tile_k > 0 ? "x" + std::to_string(kernel->tile_k) : "");
    row.types = kernel->types;
    row.count = group.first.size();
    row.kernel_us = stats_of_ns(std::move(group.first));
    row.first_uid = trace.events.uid[group.second];
    out.push_back(std::move(row));
  }
  sort_stably(out, [](const GemmKernelRow& a, const GemmKernelRow& b) {
    return a.kernel_us.sum != b.kernel_us.sum ? a.kernel_us.sum > b.kernel_us.sum
                                              : a.first_uid < b.first_uid;
  });
  return out;
}

} // namespace

Result<FamilyFacts> compute(const LoadedTrace& t, const FamiliesKey& key) {
  std::optional<GpuArch> arch;
  if (!key.gpu_arch.empty()) {
    RS_TRY(arch, load_gpu_arch(key.gpu_arch));
  }
  OpCosts costs(key.launchers.compat, key.inference);
  std::vector<Family> families = collect(t, costs, key);
  if (key.inference) // the reference never writes backward sheets
    std::erase_if(families, [](const Family& f) { return ends_with(f.name, "_bwd"); });
  const FamilyRows rows(t, key, arch);
  FamilyFacts out;
  for (const Family& family : families)
    if (!family.calls.empty())
      out.sheets.push_back(rows.sheet(family));
  if (!key.launchers.compat)
    out.gemm_kernels = gemm_kernels(t, families);
  return out;
}

namespace {

std::vector<SheetInfo> describe_roofline(const ReportOptions& options) {
  FamilySheet any; // all families have the same columns, except for the parameters
  std::unordered_map<std::string_view, std::size_t> at;
  for (const Family& family : empty_families(at))
    any.name += (any.name.empty() ? "" : ", ") + family.name;
  any.params = {"NAME"};
  if (!options.gpu_arch.empty())
    any.arch.emplace();
  return {family_schema(any, options).info(), gemm_kernel_schema().info()};
}

Result<std::vector<Table>> run_roofline(const LoadedTrace& t, const ReportOptions& options) {
  const Result<FamilyFacts>& facts = t.shared(FamiliesKey{options});
  if (!facts)
    return facts.error();
  std::vector<Table> out;
  for (const FamilySheet& sheet : facts->sheets)
    out.push_back(family_table(sheet, options));
  if (!facts->gemm_kernels.empty()) {
    out.push_back(gemm_kernel_schema().table(facts->gemm_kernels));
    out.back().notes.push_back("from kernel names: no modelled operator was recorded for these "
                               "kernels, so M, N, K and FLOPs are unknown");
  }
  return out;
}

} // namespace

const FamilySheet* find_family(const std::vector<FamilySheet>& sheets, std::string_view name) {
  for (const FamilySheet& sheet : sheets)
    if (sheet.name == name)
      return &sheet;
  return nullptr;
}

bool is_family_sheet(std::string_view name) {
  std::unordered_map<std::string_view, std::size_t> at;
  const std::vector<Family> families = empty_families(at);
  return std::any_of(families.begin(), families.end(),
                     [name](const Family& family) { return family.name == name; });
}

const Analysis roofline_analysis{
    "roofline", "cost and rates of each operator family", {}, run_roofline, describe_roofline};

} // namespace rankscope
