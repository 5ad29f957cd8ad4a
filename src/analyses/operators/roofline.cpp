// One sheet per operator family: FLOPs, bytes, rates and rooflines of each operator call, grouped
// by name and parameters (perf-report.md 1.3). All families come from one pass over the events.
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_costs.h"
#include "analyses/operators/op_key.h"
#include "base/units.h"
#include "core/arg_text.h"
#include "model/gpu_arch.h"
#include "model/kernel_name.h"
#include "model/ops/op_model.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>

namespace rankscope {
namespace {

struct Call {
  EventId event = kNoEvent;
  const PerfResult* perf = nullptr;
  bool backward = false; ///< flops_bwd and bytes_bwd of perf
  std::vector<EventId> kernels;
};

struct Sheet {
  std::string name;
  std::vector<Call> calls; ///< file order
};

/// Families whose forward and backward operators share a sheet.
bool one_sheet(std::string_view family) {
  for (const char* f : {"GEMM", "UnaryElementwise", "BinaryElementwise", "Normalization"})
    if (family == f)
      return true;
  return false;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

/// Operators of a forward sheet that belong to the backward one. The reference moves four names;
/// otherwise every operator that the registry calls backward moves.
bool moves_to_backward(const OpInfo& op, bool compat) {
  if (!compat)
    return ends_with(op.category, "_bwd");
  for (const char* name : {"flash_attn::_flash_attn_varlen_backward", "aten::convolution_backward",
                           "ConvBias_Backward", "ConvBiasReLU_Backward"})
    if (op.name == name)
      return true;
  return false;
}

/// Forward operators whose backward rows the reference leaves out: their backward operator has
/// rows of its own.
bool no_backward_row(std::string_view name) {
  for (const char* n : {"aten::convolution", "aten::miopen_convolution", "aten::cudnn_convolution",
                        "ConvBias_", "ConvBiasReLU_", "vllm::unified_attention_with_output"})
    if (name == n)
      return true;
  return false;
}

/// Sheets in the order in which the registry names their families.
std::vector<Sheet> collect(const LoadedTrace& t, OpCosts& costs, bool compat) {
  const Trace& trace = t.trace;
  std::vector<Sheet> sheets;
  std::unordered_map<std::string_view, std::size_t> at; // family -> first sheet
  for (const OpInfo& op : modelled_ops())
    if (at.emplace(op.family, sheets.size()).second) {
      if (one_sheet(op.family)) {
        sheets.push_back({std::string(op.family), {}});
      } else {
        sheets.push_back({std::string(op.family) + "_fwd", {}});
        sheets.push_back({std::string(op.family) + "_bwd", {}});
      }
    }
  const std::vector<const OpInfo*>& op_of = modelled_names(t);
  for (EventId e = 0; e < trace.events.size(); ++e) {
    const OpInfo* op = op_of[trace.events.name[e]];
    if (op == nullptr || trace.gpu(e))
      continue;
    const std::size_t first = at.at(op->family);
    Call call;
    call.event = e;
    const auto gpu = t.tree.gpu_events(e);
    call.kernels.assign(gpu.begin(), gpu.end());
    sort_by_start(trace, call.kernels);
    call.perf = costs.of(t, e, *op, call.kernels);
    if (call.perf == nullptr)
      continue;
    const bool single = one_sheet(op->family);
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

/// A Python repr as a typed cell: numbers as numbers, None blank, texts without quotes.
Value cell(const std::string& repr) {
  if (repr.empty() || repr == "None")
    return {};
  if (repr == "True" || repr == "False")
    return Value(repr == "True");
  std::int64_t i = 0;
  const char* const end = repr.data() + repr.size();
  if (const auto r = std::from_chars(repr.data(), end, i); r.ec == std::errc() && r.ptr == end)
    return Value(i);
  char* stop = nullptr;
  if (const double d = std::strtod(repr.c_str(), &stop); *stop == '\0')
    return Value(d);
  const std::string_view text = repr;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return Value(text.substr(1, text.size() - 2));
  return Value(text);
}

struct Group {
  std::vector<const Call*> calls;
};

void add_stats(std::vector<Column>& columns, const std::string& of, Unit unit, bool sum = false) {
  for (const char* x : {"mean", "median", "std", "min", "max"})
    columns.push_back({of + "_" + x, unit});
  if (sum)
    columns.push_back({of + "_sum", unit});
}

void push_stats(std::vector<Value>& row, const Stats& s, bool sum = false) {
  for (const double v : {s.mean, s.median, s.std_sample, s.min, s.max})
    row.emplace_back(v);
  if (sum)
    row.emplace_back(s.sum);
}

class FamilyTables {
public:
  FamilyTables(const LoadedTrace& t, const ReportOptions& options, const LauncherIndex& index,
               const std::optional<GpuArch>& arch)
      : t_(t), options_(options), index_(index), arch_(arch), texts_(t.trace) {}

  Table table(const Sheet& sheet) {
    std::vector<std::string> params; // first appearance
    for (const Call& call : sheet.calls)
      for (const auto& [name, text] : call.perf->params)
        if (std::find(params.begin(), params.end(), name) == params.end())
          params.push_back(name);
    const bool legacy = options_.legacy_gemm_layout && sheet.name == "GEMM";
    if (legacy) // the letters X, AG, AH of that layout need these nine
      params = {"M", "N", "K", "bias", "stride_A", "stride_B", "dtype_A_B", "B", "transpose"};
    Table out(sheet.name, columns(params, legacy));

    using Key = std::vector<std::string>;
    std::map<Key, std::size_t> rows;
    std::vector<Group> groups;
    for (const Call& call : sheet.calls) {
      Key key{std::string(t_.trace.name(call.event))};
      for (const std::string& p : params)
        key.push_back(param(*call.perf, p));
      // without parameters nothing tells calls of different shapes apart but their arguments
      if (call.perf->params.empty() && !options_.compat_tracelens)
        if (const OpArgs* args = t_.trace.op(call.event))
          for (const StrId id : {args->input_dims, args->input_types, args->concrete_inputs})
            key.emplace_back(t_.trace.strings.view(id));
      if (options_.group_by_num_kernels)
        key.push_back(std::to_string(call.kernels.size()));
      if (options_.detect_recompute)
        key.push_back(recompute(call.event) ? "True" : "False");
      const auto [it, fresh] = rows.emplace(std::move(key), groups.size());
      if (fresh)
        groups.emplace_back();
      groups[it->second].calls.push_back(&call);
    }
    for (const Group& group : groups)
      add_row(out, group, params, legacy);
    sort_desc(out, *out.column("Kernel Time (\u00b5s)_sum"), *out.column("UID_first"));
    keep_top(out, options_.top_k_roofline_ops, "");
    if (arch_)
      out.notes.push_back("roofline of " + arch_->name + ": " + arch_->source);
    return out;
  }

private:
  static std::string param(const PerfResult& perf, const std::string& name) {
    for (const auto& [n, text] : perf.params)
      if (n == name)
        return text;
    return "";
  }
  [[nodiscard]] bool recompute(EventId e) const {
    return e < index_.recompute.size() && index_.recompute[e];
  }

  [[nodiscard]] std::vector<Column> columns(const std::vector<std::string>& params,
                                            bool legacy) const {
    std::vector<Column> c{{"name"}};
    for (const std::string& p : params)
      c.push_back({"param: " + p});
    if (options_.group_by_num_kernels && !legacy)
      c.push_back({"num_kernels", Unit::kCount});
    if (options_.detect_recompute && !legacy)
      c.push_back({"is_recompute"});
    c.push_back({"GFLOPS_first", Unit::kGflops});
    c.push_back({"Data Moved (MB)_first", Unit::kMiB});
    c.push_back({"FLOPS/Byte_first", Unit::kRatio});
    add_stats(c, "TB/s", Unit::kTBps);
    add_stats(c, "TFLOPS/s", Unit::kTflops);
    if (!legacy) {
      c.push_back({"process_name_first"});
      c.push_back({"process_label_first"});
      c.push_back({"thread_name_first"});
      c.push_back({"Compute Spec"});
      if (arch_) {
        c.push_back({"Roofline Time (\u00b5s)_first", Unit::kUs});
        c.push_back({"Roofline Bound_first"});
        add_stats(c, "Pct Roofline", Unit::kPercent);
      }
    }
    c.push_back({"kernel_details__summarize_kernel_stats"});
    c.push_back({"trunc_kernel_details"});
    for (const char* name : {"Input Dims", "Input type", "Input Strides", "Concrete Inputs"})
      c.push_back({std::string(name) + "_first"});
    add_stats(c, "Kernel Time (\u00b5s)", Unit::kUs, true);
    c.push_back({"name_count", Unit::kCount});
    c.push_back({"UID_first"});
    return c;
  }

  std::string list_text(StrId json) const {
    return json == kEmptyStr ? std::string() : python_repr(t_.trace.strings.view(json), false);
  }

  void add_row(Table& out, const Group& group, const std::vector<std::string>& params,
               bool legacy) {
    const Trace& trace = t_.trace;
    const Call& first = *group.calls.front();
    const PerfResult& perf = *first.perf;
    std::vector<double> times;
    std::vector<double> tbps;
    std::vector<double> tflops;
    std::vector<double> percent;
    std::vector<std::span<const EventId>> kernels;
    // the same parameters may stand for different cost only where bytes are unknown
    double flops_first = kUnknown;
    double bytes_first = kUnknown;
    std::optional<Roofline> limit;
    for (const Call* call : group.calls) {
      const double flops = call->backward ? call->perf->flops_bwd : call->perf->flops;
      const double bytes = call->backward ? call->perf->bytes_bwd : call->perf->bytes;
      if (std::isnan(flops_first))
        flops_first = flops;
      if (std::isnan(bytes_first))
        bytes_first = bytes;
      const double us = ns_to_us(busy_ns(trace, call->kernels));
      times.push_back(us);
      tbps.push_back(us > 0 ? bytes / 1e12 / (us / 1e6) : kUnknown);
      tflops.push_back(us > 0 ? flops / 1e12 / (us / 1e6) : kUnknown);
      kernels.emplace_back(call->kernels);
      if (arch_) {
        const auto r = roofline(*arch_, call->perf->compute_spec, flops, bytes);
        percent.push_back(r && us > 0 ? 100 * r->time_us / us : kUnknown);
        if (!limit)
          limit = r;
      }
    }
    std::vector<std::string> texts; // cells refer to them
    texts.reserve(params.size());
    for (const std::string& p : params)
      texts.push_back(param(perf, p));
    std::vector<Value> row{trace.name(first.event)};
    for (const std::string& text : texts)
      row.push_back(cell(text));
    if (options_.group_by_num_kernels && !legacy)
      row.emplace_back(first.kernels.size());
    if (options_.detect_recompute && !legacy)
      row.emplace_back(recompute(first.event));
    row.emplace_back(flops_first / 1e9);
    row.emplace_back(bytes_to_mib(bytes_first));
    row.emplace_back(bytes_first != 0 ? flops_first / bytes_first : kUnknown);
    push_stats(row, stats_of(std::move(tbps)));
    push_stats(row, stats_of(std::move(tflops)));
    if (!legacy) {
      const std::vector<Value> key = texts_.values(op_key(trace, first.event, ""));
      row.push_back(key[2]);
      row.push_back(key[3]);
      row.push_back(key[4]);
      row.emplace_back(perf.compute_spec);
      if (arch_) {
        row.push_back(limit ? Value(limit->time_us) : Value());
        row.push_back(limit ? Value(limit->compute_bound ? "COMPUTE_BOUND" : "MEMORY_BOUND")
                            : Value());
        push_stats(row, stats_of(std::move(percent)));
      }
    }
    const KernelDetails details = kernel_details(trace, kernels);
    row.emplace_back(details.summary.empty() ? "[]" : details.summary.c_str());
    row.emplace_back(details.truncated.empty() ? "[]" : details.truncated.c_str());
    std::string lists[4];
    if (const OpArgs* args = trace.op(first.event)) {
      lists[0] = list_text(args->input_dims);
      lists[1] = list_text(args->input_types);
      lists[2] = list_text(args->input_strides);
      lists[3] = list_text(args->concrete_inputs);
    }
    for (const std::string& list : lists)
      row.push_back(list.empty() ? Value() : Value(list));
    push_stats(row, stats_of(std::move(times)), true);
    row.emplace_back(group.calls.size());
    row.emplace_back(trace.events.uid[first.event]);
    out.add_row(row);
  }

  const LoadedTrace& t_;
  const ReportOptions& options_;
  const LauncherIndex& index_;
  const std::optional<GpuArch>& arch_;
  OpKeyTexts texts_;
};

/// GEMM kernels that no recorded matrix product launched: compiled code and GPU-only traces.
Table gemm_kernels(const LoadedTrace& t, const std::vector<Sheet>& sheets) {
  const Trace& trace = t.trace;
  std::vector<bool> covered(trace.events.size());
  for (const Sheet& sheet : sheets)
    for (const Call& call : sheet.calls)
      for (const EventId k : call.kernels)
        covered[k] = true;
  Table out("GEMM_kernels", {{"kernel"},
                             {"library"},
                             {"transpose"},
                             {"macro tile"},
                             {"types"},
                             {"count", Unit::kCount},
                             {"Kernel Time (\u00b5s)_mean", Unit::kUs},
                             {"Kernel Time (\u00b5s)_median", Unit::kUs},
                             {"Kernel Time (\u00b5s)_std", Unit::kUs},
                             {"Kernel Time (\u00b5s)_min", Unit::kUs},
                             {"Kernel Time (\u00b5s)_max", Unit::kUs},
                             {"Kernel Time (\u00b5s)_sum", Unit::kUs},
                             {"UID_first"}});
  std::map<StrId, std::pair<std::vector<double>, EventId>> groups;
  for (EventId e = 0; e < trace.events.size(); ++e)
    if (trace.events.category[e] == Category::kKernel && !covered[e]) {
      auto& group =
          groups.try_emplace(trace.events.name[e], std::vector<double>(), e).first->second;
      group.first.push_back(ns_to_us(trace.events.dur_ns[e]));
    }
  for (auto& [name, group] : groups) {
    const auto kernel = parse_gemm_kernel(trace.strings.view(name));
    if (!kernel)
      continue;
    const auto flag = [](const std::optional<bool>& v) { return v ? (*v ? "T" : "N") : "?"; };
    const std::string transpose =
        std::string(flag(kernel->transpose_a)) + flag(kernel->transpose_b);
    std::string tile;
    if (kernel->tile_m > 0)
      tile = std::to_string(kernel->tile_m) + "x" + std::to_string(kernel->tile_n) +
             (kernel->tile_k > 0 ? "x" + std::to_string(kernel->tile_k) : "");
    const std::size_t count = group.first.size();
    std::vector<Value> row{trace.strings.view(name),
                           gemm_library_name(kernel->library),
                           transpose == "??" ? Value() : Value(transpose),
                           tile.empty() ? Value() : Value(tile),
                           kernel->types.empty() ? Value() : Value(kernel->types),
                           Value(count)};
    push_stats(row, stats_of(std::move(group.first)), true);
    row.emplace_back(trace.events.uid[group.second]);
    out.add_row(row);
  }
  sort_desc(out, *out.column("Kernel Time (\u00b5s)_sum"), *out.column("UID_first"));
  out.notes.push_back("from kernel names: no modelled operator was recorded for these kernels, so "
                      "M, N, K and FLOPs are unknown");
  return out;
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  std::optional<GpuArch> arch;
  if (!options.gpu_arch.empty()) {
    RS_TRY(arch, load_gpu_arch(options.gpu_arch));
  }
  const LauncherIndex& index = launchers_of(t, options);
  OpCosts& costs = costs_of(t, options.compat_tracelens);
  const std::vector<Sheet> sheets = collect(t, costs, options.compat_tracelens);
  FamilyTables families(t, options, index, arch);
  std::vector<Table> out;
  for (const Sheet& sheet : sheets)
    if (!sheet.calls.empty())
      out.push_back(families.table(sheet));
  if (!options.compat_tracelens)
    if (Table kernels = gemm_kernels(t, sheets); kernels.rows() > 0)
      out.push_back(std::move(kernels));
  return out;
}

} // namespace

const Analysis roofline_analysis{"roofline", "cost and rates of each operator family", {}, run};

} // namespace rankscope
