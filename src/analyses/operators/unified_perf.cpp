// unified_perf_summary: every operator that accounts for GPU work, once, with its cost where a
// model knows it (perf-report.md 1.5).
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_costs.h"
#include "analyses/operators/op_key.h"
#include "base/units.h"
#include "core/arg_text.h"
#include "model/gpu_arch.h"

#include <cmath>
#include <unordered_map>

namespace rankscope {
namespace {

struct Collected {
  EventId event = kNoEvent;
  EventId forward = kNoEvent;   ///< modelled forward operator of a sole backward operator
  EventId synthetic = kNoEvent; ///< kernel that no collected operator covers
};

class Walk {
public:
  Walk(const LoadedTrace& t, const LauncherIndex& index)
      : t_(t), index_(index), ops_(modelled_names(t)) {
    const Trace& trace = t.trace;
    const std::size_t n = trace.events.size();
    triton_.assign(trace.strings.size(), false);
    for (StrId id = 0; id < triton_.size(); ++id) {
      const std::string_view name = trace.strings.view(id);
      for (const char* prefix : {"triton_poi_", "triton_red_", "triton_per_"})
        triton_[id] = triton_[id] || name.substr(0, 11) == prefix;
    }
    above_model_.assign(n, false);
    for (EventId e = 0; e < n; ++e)
      if (trace.events.category[e] == Category::kCpuOp && has_model(e) &&
          !t.tree.gpu_events(e).empty())
        for (EventId p = t.tree.parent(e); p != kNoEvent && !above_model_[p]; p = t.tree.parent(p))
          above_model_[p] = true;
  }

  [[nodiscard]] const OpInfo* op(EventId e) const { return ops_[t_.trace.events.name[e]]; }
  [[nodiscard]] bool triton(EventId e) const {
    const OpArgs* a = t_.trace.op(e);
    return triton_[t_.trace.events.name[e]] && a != nullptr && a->input_dims != kEmptyStr &&
           a->input_types != kEmptyStr && a->concrete_inputs != kEmptyStr;
  }
  [[nodiscard]] bool has_model(EventId e) const { return op(e) != nullptr || triton(e); }

  std::vector<Collected> run() {
    std::vector<Collected> out;
    std::vector<EventId> stack(t_.tree.cpu_roots().rbegin(), t_.tree.cpu_roots().rend());
    std::vector<bool> seen(t_.trace.events.size());
    while (!stack.empty()) {
      const EventId v = stack.back();
      stack.pop_back();
      if (seen[v])
        continue;
      seen[v] = true;
      if (t_.tree.gpu_events(v).empty())
        continue;
      bool enter = true;
      if (t_.trace.events.category[v] == Category::kCpuOp) {
        if (has_model(v)) {
          out.push_back({v, kNoEvent, kNoEvent});
          enter = false;
        } else if (!above_model_[v]) {
          if (const EventId forward = sole_backward_of(v); forward != kNoEvent) {
            out.push_back({v, forward, kNoEvent});
            enter = false;
          } else if (launches(v)) {
            if (!communicates(v))
              out.push_back({v, kNoEvent, kNoEvent});
            enter = false;
          }
        }
      }
      if (!enter)
        continue;
      const auto children = t_.tree.children(v);
      for (auto it = children.rbegin(); it != children.rend(); ++it) {
        const Category c = t_.trace.events.category[*it];
        if (c == Category::kCpuOp || c == Category::kPythonFunction)
          stack.push_back(*it);
      }
    }
    std::vector<bool> covered(t_.trace.events.size());
    for (const Collected& c : out)
      for (const EventId k : t_.tree.gpu_events(c.event))
        covered[k] = true;
    for (const EventId k : index_.gpu)
      if (t_.tree.linked(k) && !covered[k] && !index_.communication[t_.trace.events.name[k]]) {
        EventId parent = t_.tree.cpu_op_above(t_.trace, k);
        if (parent == kNoEvent)
          parent = t_.tree.parent(k);
        out.push_back({parent, kNoEvent, k});
      }
    return out;
  }

private:
  /// A runtime call (driver calls do not count) below v, python frames between allowed.
  [[nodiscard]] bool launches(EventId v) const {
    for (const EventId c : t_.tree.children(v)) {
      const Category category = t_.trace.events.category[c];
      if (category == Category::kRuntime && !t_.tree.gpu_events(c).empty())
        return true;
      if (category == Category::kPythonFunction && launches(c))
        return true;
    }
    return false;
  }
  [[nodiscard]] bool communicates(EventId v) const {
    for (const EventId k : t_.tree.gpu_events(v))
      if (index_.communication[t_.trace.events.name[k]])
        return true;
    return false;
  }
  /// The modelled forward operator when v is the one operator that does its backward work.
  [[nodiscard]] EventId sole_backward_of(EventId v) const {
    EventId wrapper = t_.tree.parent(v);
    for (int depth = 0; depth < 5 && wrapper != kNoEvent; ++depth) {
      const EventId forward = t_.tree.forward_of(wrapper);
      if (forward != kNoEvent) {
        const OpInfo* info = op(forward);
        if (info == nullptr || info->bwd_category.empty())
          return kNoEvent;
        const std::string_view name = t_.trace.name(wrapper);
        const std::size_t colon = name.find(": ");
        if (colon == std::string_view::npos || t_.trace.name(v) != name.substr(colon + 2))
          return kNoEvent;
        int same = 0;
        std::vector<EventId> stack{wrapper};
        while (!stack.empty()) {
          const EventId e = stack.back();
          stack.pop_back();
          for (const EventId c : t_.tree.children(e))
            if (!t_.trace.gpu(c)) {
              same += t_.trace.events.name[c] == t_.trace.events.name[v] &&
                              !t_.tree.gpu_events(c).empty()
                          ? 1
                          : 0;
              stack.push_back(c);
            }
        }
        return same == 1 ? forward : kNoEvent;
      }
      wrapper = t_.tree.parent(wrapper);
    }
    return kNoEvent;
  }

  const LoadedTrace& t_;
  const LauncherIndex& index_;
  const std::vector<const OpInfo*>& ops_;
  std::vector<bool> triton_;
  std::vector<bool> above_model_;
};

struct Row {
  EventId event = kNoEvent;
  double cpu_us = 0;
  double kernel_us = 0;
  double flops = kUnknown;
  double bytes = kUnknown;
  const PerfResult* perf = nullptr;
  bool has_model = false;
  std::uint32_t uid = 0;
  std::vector<EventId> kernels;
};

/// Name of the first kernel that the operator launched itself, else of the first below it.
std::string_view first_kernel(const LoadedTrace& t, EventId op,
                              const std::vector<EventId>& kernels) {
  EventId first = kNoEvent;
  for (const EventId call : t.tree.children(op))
    if (is_runtime(t.trace.events.category[call]))
      for (const EventId k : t.tree.gpu_events(call))
        if (first == kNoEvent || t.trace.events.ts_ns[k] < t.trace.events.ts_ns[first])
          first = k;
  if (first == kNoEvent && !kernels.empty())
    first = kernels.front();
  return first == kNoEvent ? std::string_view() : t.trace.name(first);
}

struct CallStack {
  std::string entry_point; ///< innermost frame outside PyTorch and Python's own modules
  std::string full;        ///< Python list of all frames, outermost first
};

bool library_frame(std::string_view frame) {
  for (const char* part : {"torch/", "<built-in", "<string>", "<frozen", "nn.Module: "})
    if (frame.find(part) != std::string_view::npos)
      return true;
  return false;
}

std::vector<std::string_view> frames_above(const LoadedTrace& t, EventId op) {
  std::vector<std::string_view> frames; // innermost first
  for (EventId at = t.tree.parent(op); at != kNoEvent; at = t.tree.parent(at))
    if (t.trace.events.category[at] == Category::kPythonFunction)
      frames.push_back(t.trace.name(at));
  return frames;
}

/// Backward work runs on a thread of its own: it has the frames of its forward operator.
CallStack call_stack(const LoadedTrace& t, EventId op) {
  std::vector<std::string_view> frames = frames_above(t, op);
  for (EventId at = op; frames.empty() && at != kNoEvent; at = t.tree.parent(at))
    if (const EventId forward = t.tree.forward_of(at); forward != kNoEvent)
      frames = frames_above(t, forward);
  CallStack out;
  if (frames.empty())
    return out;
  const auto own = std::find_if_not(frames.begin(), frames.end(), library_frame);
  out.entry_point = own == frames.end() ? frames.front() : *own;
  out.full = "[";
  for (auto it = frames.rbegin(); it != frames.rend(); ++it)
    out.full += (out.full.size() > 1 ? ", " : "") + python_quote(*it);
  out.full += "]";
  return out;
}

std::string params_dict(const PerfResult& perf) {
  std::string out = "{";
  for (const auto& [name, text] : perf.params)
    out += (out.size() > 1 ? ", " : "") + python_quote(name) + ": " + text;
  return out + "}";
}

std::vector<Column> columns(const ReportOptions& options, bool arch, bool overlaps) {
  std::vector<Column> c;
  for (const char* key : {"name", "op category", "process_name", "process_label", "thread_name",
                          "Input Dims", "Input type", "Input Strides", "Concrete Inputs"})
    c.push_back({key});
  if (options.group_by_num_kernels)
    c.push_back({"num_kernels", Unit::kCount});
  if (options.detect_recompute)
    c.push_back({"is_recompute"});
  c.push_back({"ex_UID"});
  c.push_back({"operation_count", Unit::kCount});
  for (const char* x : {"total_duration_us", "mean_duration_us", "std_duration_us"})
    c.push_back({x, Unit::kUs});
  c.push_back({"GFLOPS", Unit::kGflops});
  c.push_back({"Data Moved (MB)", Unit::kMiB});
  c.push_back({"FLOPS/Byte", Unit::kRatio});
  c.push_back({"Compute Spec"});
  if (arch)
    c.push_back({"Roofline Bound"});
  c.push_back({"TB/s_mean", Unit::kTBps});
  c.push_back({"TB/s_std", Unit::kTBps});
  c.push_back({"TFLOPS/s_mean", Unit::kTflops});
  c.push_back({"TFLOPS/s_std", Unit::kTflops});
  for (const char* x : {"mean", "std", "sum"})
    c.push_back({std::string("Kernel Time (\u00b5s)_") + x, Unit::kUs});
  for (const char* x : {"median", "min", "max"})
    c.push_back({std::string("duration_us_") + x, Unit::kUs});
  for (const char* x : {"median", "min", "max"})
    c.push_back({std::string("TB/s_") + x, Unit::kTBps});
  for (const char* x : {"median", "min", "max"})
    c.push_back({std::string("TFLOPS/s_") + x, Unit::kTflops});
  if (arch)
    c.push_back({"Roofline Time (\u00b5s)", Unit::kUs});
  for (const char* x : {"median", "min", "max"})
    c.push_back({std::string("Kernel Time (\u00b5s)_") + x, Unit::kUs});
  c.push_back({"kernel_details_summary"});
  c.push_back({"trunc_kernel_details"});
  if (overlaps)
    add_overlap_columns(c);
  c.push_back({"perf_params"});
  c.push_back({"has_perf_model"});
  if (options.include_call_stack) {
    c.push_back({"entry_point"});
    c.push_back({"call_stack_full"});
  }
  c.push_back({"Percentage (%)", Unit::kPercent});
  c.push_back({"Cumulative Percentage (%)", Unit::kPercent});
  return c;
}

/// Costs that calls refer to, beside those of OpCosts.
using TritonCosts = std::map<EventId, PerfResult>;

/// One call, with the key of its row.
struct Call {
  OpKey key;
  std::string name; ///< of synthetic rows
  Row row;
};

std::vector<Call> collect(const LoadedTrace& t, const ReportOptions& options, TritonCosts& triton) {
  const Trace& trace = t.trace;
  const LauncherIndex& index = launchers_of(t, options);
  Walk walk(t, index);
  OpCosts& costs = costs_of(t, options.compat_tracelens);
  std::vector<Call> out;
  auto next_uid = static_cast<std::uint32_t>(trace.events_in_file);
  for (const Collected& c : walk.run()) {
    Row row;
    std::string_view category;
    std::string name;
    row.event = c.event;
    row.uid = trace.events.uid[c.event];
    if (c.synthetic != kNoEvent) {
      row.kernels = {c.synthetic};
      row.uid = next_uid++;
      name = std::string(trace.name(c.event)) + "->" + std::string(trace.name(c.synthetic)) +
             " (Synthetic Op)";
      category = op_category(name, trace.name(c.synthetic));
      row.cpu_us = ns_to_us(trace.events.dur_ns[c.event]); // of the operator above it
    } else {
      const auto gpu = t.tree.gpu_events(c.event);
      row.kernels = c.forward != kNoEvent ? backward_kernels(t, c.forward)
                                          : std::vector<EventId>(gpu.begin(), gpu.end());
      sort_by_start(trace, row.kernels);
      row.cpu_us = ns_to_us(trace.events.dur_ns[c.event]);
      category = op_category(trace.name(c.event), first_kernel(t, c.event, row.kernels));
      if (c.forward != kNoEvent) {
        const OpInfo* info = walk.op(c.forward);
        category = info->bwd_category;
        row.perf = costs.of(t, c.forward, *info, {});
        row.has_model = true;
        if (row.perf != nullptr) {
          row.flops = row.perf->flops_bwd;
          row.bytes = row.perf->bytes_bwd;
        }
      } else if (const OpInfo* info = walk.op(c.event)) {
        row.perf = costs.of(t, c.event, *info, row.kernels);
        row.has_model = true;
      } else if (walk.triton(c.event)) {
        if (auto r = evaluate_triton(trace.name(c.event), parsed_args(trace, *trace.op(c.event)))) {
          row.perf = &triton.emplace(c.event, std::move(*r)).first->second;
          row.has_model = true;
        }
      }
      if (row.perf != nullptr && c.forward == kNoEvent) {
        row.flops = row.perf->flops;
        row.bytes = row.perf->bytes;
      }
    }
    row.kernel_us = ns_to_us(busy_ns(trace, row.kernels));
    OpKey key = op_key(trace, c.event, category);
    if (options.group_by_num_kernels)
      key.num_kernels = static_cast<std::uint32_t>(row.kernels.size());
    key.recompute = c.event < index.recompute.size() && index.recompute[c.event];
    out.push_back({key, std::move(name), std::move(row)});
  }
  return out;
}

/// unified_perf_summary; with `overlaps`, unified_perf_summary_kl_overlap: grouped also by what ran
/// beside.
Table table_of(const LoadedTrace& t, const ReportOptions& options, const GpuArch* arch,
               const std::vector<Call>& calls, const KernelOverlaps* overlaps) {
  const Trace& trace = t.trace;
  struct Group {
    OpKey key;
    std::string_view name;
    std::vector<const Row*> rows;
    std::vector<KernelOverlaps::Call> beside;
  };
  std::vector<Group> groups;
  std::unordered_map<OpKey, std::size_t, OpKeyHash> plain;
  std::map<std::pair<std::string_view, std::size_t>, std::size_t> synthetic; // name, key hash
  OverlapGroups sets;
  for (const Call& call : calls) {
    OpKey key = call.key;
    KernelOverlaps::Call beside;
    if (overlaps != nullptr) {
      beside = overlaps->of(trace, call.row.kernels);
      key.overlap_set = sets.id_of(trace, beside);
    }
    std::size_t at = groups.size();
    if (call.name.empty())
      at = plain.try_emplace(key, at).first->second;
    else
      at = synthetic.try_emplace({call.name, OpKeyHash{}(key)}, at).first->second;
    if (at == groups.size())
      groups.push_back({key, call.name, {}, {}});
    groups[at].rows.push_back(&call.row);
    if (overlaps != nullptr)
      groups[at].beside.push_back(std::move(beside));
  }

  Table table(overlaps == nullptr ? "unified_perf_summary" : "unified_perf_summary_kl_overlap",
              columns(options, arch != nullptr, overlaps != nullptr));
  OpKeyTexts texts(trace);
  for (const Group& group : groups) {
    std::vector<double> cpu, kernel, tbps, tflops;
    std::vector<std::span<const EventId>> lists;
    for (const Row* r : group.rows) {
      cpu.push_back(r->cpu_us);
      kernel.push_back(r->kernel_us);
      tbps.push_back(r->kernel_us > 0 ? r->bytes / 1e12 / (r->kernel_us / 1e6) : kUnknown);
      tflops.push_back(r->kernel_us > 0 ? r->flops / 1e12 / (r->kernel_us / 1e6) : kUnknown);
      lists.emplace_back(r->kernels);
    }
    const Row& first = *group.rows.front();
    const Stats c = stats_of(std::move(cpu));
    const Stats k = stats_of(std::move(kernel));
    const Stats b = stats_of(std::move(tbps));
    const Stats f = stats_of(std::move(tflops));
    std::vector<Value> row = texts.values(group.key);
    if (!group.name.empty())
      row[0] = Value(group.name);
    if (options.group_by_num_kernels)
      row.emplace_back(static_cast<std::int64_t>(group.key.num_kernels));
    if (options.detect_recompute)
      row.emplace_back(group.key.recompute);
    row.emplace_back(first.uid);
    row.emplace_back(group.rows.size());
    const double ratio = first.bytes != 0 ? first.flops / first.bytes : kUnknown;
    for (const double v :
         {c.sum, c.mean, c.std_sample, first.flops / 1e9, bytes_to_mib(first.bytes), ratio})
      row.emplace_back(v);
    row.push_back(first.perf != nullptr ? Value(first.perf->compute_spec) : Value());
    std::optional<Roofline> limit;
    if (arch != nullptr && first.perf != nullptr)
      limit = roofline(*arch, first.perf->compute_spec, first.flops, first.bytes);
    if (arch != nullptr)
      row.push_back(limit ? Value(limit->compute_bound ? "COMPUTE_BOUND" : "MEMORY_BOUND")
                          : Value());
    for (const double v : {b.mean, b.std_sample, f.mean, f.std_sample, k.mean, k.std_sample, k.sum,
                           c.median, c.min, c.max, b.median, b.min, b.max, f.median, f.min, f.max})
      row.emplace_back(v);
    if (arch != nullptr)
      row.push_back(limit ? Value(limit->time_us) : Value());
    for (const double v : {k.median, k.min, k.max})
      row.emplace_back(v);
    const KernelDetails details = kernel_details(trace, lists);
    row.emplace_back(details.summary);
    row.emplace_back(details.truncated);
    const OverlapCells cells = overlap_cells(trace, group.beside);
    if (overlaps != nullptr)
      cells.append_to(row);
    const std::string params = first.perf != nullptr ? params_dict(*first.perf) : std::string();
    row.push_back(params.empty() ? Value() : Value(params));
    row.emplace_back(first.has_model);
    const CallStack python = options.include_call_stack ? call_stack(t, first.event) : CallStack();
    if (options.include_call_stack) {
      row.push_back(python.full.empty() ? Value() : Value(python.entry_point));
      row.push_back(python.full.empty() ? Value() : Value(python.full));
    }
    table.add_row(row);
  }
  const std::size_t sum = *table.column("Kernel Time (\u00b5s)_sum");
  sort_desc(table, sum, *table.column("ex_UID"));
  fill_percentages(table, sum);
  return table;
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  std::optional<GpuArch> arch;
  if (!options.gpu_arch.empty()) {
    RS_TRY(arch, load_gpu_arch(options.gpu_arch));
  }
  TritonCosts triton;
  const std::vector<Call> calls = collect(t, options, triton);
  std::vector<Table> out;
  if (calls.empty())
    return out;
  out.push_back(table_of(t, options, arch ? &*arch : nullptr, calls, nullptr));
  if (options.include_overlap_info)
    out.push_back(table_of(t, options, arch ? &*arch : nullptr, calls, &overlaps_of(t, options)));
  return out;
}

} // namespace

const Analysis unified_perf_analysis{"unified_perf",
                                     "every operator once, with its cost",
                                     {"unified_perf_summary", "unified_perf_summary_kl_overlap"},
                                     run};

} // namespace rankscope
