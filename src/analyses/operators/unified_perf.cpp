// unified_perf_summary: every operator that accounts for GPU work, once, with its cost if a model
// knows it (docs/reference/report-rules.md 12).
#include "analyses/operators/unified_perf.h"

#include "analyses/operators/call_stacks.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_costs.h"
#include "base/sort.h"
#include "base/units.h"
#include "core/arg_text.h"
#include "core/gpu_work.h"
#include "model/kernel_names.h"

#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

namespace rankscope {
namespace {

struct Collected {
  EventId event = kNoEvent;
  /// Modelled forward operator, if the event is its sole backward operator.
  EventId forward = kNoEvent;
  EventId synthetic = kNoEvent; ///< kernel that no collected operator covers
  const OpInfo* op = nullptr;   ///< model of the event; nullptr for synthetic rows
  bool triton = false;
  std::string_view category{};    ///< static text; empty for synthetic rows
  std::vector<EventId> kernels{}; ///< GPU work of the row, by start
};

class Walk {
public:
  /// `from_frames`: visits the outermost Python frames first, then the events outside of frames.
  Walk(const LoadedTrace& t, bool compat, bool from_frames)
      : t_(t), gpu_(t.shared(TraceGpuWorkKey{compat})), ops_(t.shared(ModelledNamesKey{compat})),
        from_frames_(from_frames) {
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
      if (trace.events.category[e] == Category::kCpuOp && opens_operators_above(e) &&
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
  /// Returns true if the row of the event replaces the row of the operator around it. A fill or
  /// copy that an operator calls in addition to its own kernels must not replace that row.
  [[nodiscard]] bool opens_operators_above(EventId e) const {
    return triton(e) || (op(e) != nullptr && !op(e)->beyond);
  }

  [[nodiscard]] std::vector<Collected> run() const {
    std::vector<Collected> out;
    std::vector<EventId> stack(t_.tree.cpu_roots().rbegin(), t_.tree.cpu_roots().rend());
    if (from_frames_)
      push_frames(stack);
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
        if (c == Category::kCpuOp || c == Category::kPythonFunction ||
            (from_frames_ && is_runtime(c) && has_calls(*it)))
          stack.push_back(*it);
      }
    }
    add_uncovered(out);
    return out;
  }

private:
  /// Adds a row for each kernel that no row of `out` contains.
  void add_uncovered(std::vector<Collected>& out) const {
    std::vector<bool> covered(t_.trace.events.size());
    for (const Collected& c : out)
      for (const EventId k : t_.tree.gpu_events(c.event))
        covered[k] = true;
    for (const EventId k : gpu_.events)
      if (t_.tree.linked(k) && !covered[k] && !gpu_.communication[t_.trace.events.name[k]]) {
        EventId parent = t_.tree.cpu_op_above(t_.trace, k);
        if (parent == kNoEvent)
          parent = t_.tree.parent(k);
        out.push_back({parent, kNoEvent, k});
      }
  }

  void push_frames(std::vector<EventId>& stack) const {
    for (auto e = static_cast<EventId>(t_.trace.events.size()); e-- > 0;)
      if (t_.trace.events.category[e] == Category::kPythonFunction &&
          t_.tree.parent(e) == kNoEvent && !t_.tree.gpu_events(e).empty())
        stack.push_back(e);
  }
  /// Returns whether CPU calls are below the runtime call. A graph launch that was merged with its
  /// capture has such calls.
  [[nodiscard]] bool has_calls(EventId runtime) const {
    const auto children = t_.tree.children(runtime);
    return std::ranges::any_of(children, [this](EventId c) { return !t_.trace.gpu(c); });
  }

  /// Returns whether a runtime call with GPU work is below v, with no other events than Python
  /// frames between them. Driver calls do not count.
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
      if (gpu_.communication[t_.trace.events.name[k]])
        return true;
    return false;
  }
  /// Returns the modelled forward operator if v is the only operator that does its backward work.
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
  const TraceGpuWork& gpu_;
  const std::vector<const OpInfo*>& ops_;
  bool from_frames_;
  std::vector<bool> triton_;
  std::vector<bool> above_model_;
};

struct UnifiedPerfRow {
  EventId event = kNoEvent;
  std::int64_t cpu_ns = 0; ///< kNoId: not available
  double kernel_ns = 0;
  double flops = kUnknown;
  double bytes = kUnknown;
  const PerfResult* perf = nullptr;
  bool has_model = false;
  std::uint32_t uid = 0;
  std::span<const EventId> kernels; ///< kernels of the Collected
};

/// Returns the name of the first kernel that the operator launched itself, else of the first kernel
/// below it.
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

/// Returns the GPU work of an operator that is not synthetic, ordered by start.
std::vector<EventId> kernels_of(const LoadedTrace& t, const Collected& c) {
  const auto gpu = t.tree.gpu_events(c.event);
  std::vector<EventId> out = c.forward != kNoEvent ? backward_kernels(t, c.forward)
                                                   : std::vector<EventId>(gpu.begin(), gpu.end());
  sort_unique_by_start(t.trace, out);
  return out;
}

/// Key of the operators of all rows; the categories of launchers use them too.
struct CollectedKey {
  using Value = std::vector<Collected>;
  bool compat = false;
  bool from_frames = false; ///< visit the outermost Python frames first
  auto operator<=>(const CollectedKey&) const = default;
};

std::vector<Collected> compute(const LoadedTrace& t, const CollectedKey& key) {
  const Walk walk(t, key.compat, key.from_frames);
  std::vector<Collected> out = walk.run();
  for (Collected& c : out) {
    if (c.synthetic != kNoEvent) {
      c.kernels = {c.synthetic};
      continue;
    }
    c.kernels = kernels_of(t, c);
    c.op = walk.op(c.forward != kNoEvent ? c.forward : c.event);
    c.triton = c.forward == kNoEvent && walk.triton(c.event);
    c.category = c.forward != kNoEvent
                     ? c.op->bwd_category
                     : op_category(t.trace.name(c.event), first_kernel(t, c.event, c.kernels));
  }
  return out;
}

std::string params_dict(const PerfResult& perf) {
  std::string out = "{";
  for (const auto& [name, text] : perf.params)
    out += (out.size() > 1 ? ", " : "") + python_quote(name) + ": " + text;
  return out + "}";
}

/// Costs that calls point to, in addition to those in OpCosts.
using TritonCosts = std::map<EventId, PerfResult>;

/// One call, with the key of its row.
struct UnifiedPerfCall {
  OpKey key;
  std::string name; ///< for synthetic rows
  UnifiedPerfRow row;
};

/// Returns the CPU time of a call; kNoId for the reference's pseudo operators around a launch,
/// which have no start and end.
std::int64_t cpu_time(const Trace& trace, EventId e, bool compat) {
  const bool none =
      compat && trace.events.dur_ns[e] == 0 && trace.name(e).starts_with("pseudo_op::");
  return none ? kNoId : trace.events.dur_ns[e];
}

std::vector<UnifiedPerfCall> collect(const LoadedTrace& t, const UnifiedPerfKey& wanted,
                                     OpCosts& costs, TritonCosts& triton) {
  const Trace& trace = t.trace;
  const LauncherIndex& index = t.shared(wanted.launchers);
  const bool compat = wanted.launchers.compat;
  std::vector<UnifiedPerfCall> out;
  auto next_uid = static_cast<std::uint32_t>(trace.events_in_file);
  for (const Collected& c : t.shared(CollectedKey{compat, compat && wanted.call_stack})) {
    UnifiedPerfRow row;
    std::string_view category = c.category;
    std::string name;
    row.event = c.event;
    row.kernels = c.kernels;
    row.uid = trace.events.uid[c.event];
    if (c.synthetic != kNoEvent) {
      row.uid = next_uid++;
      name = kernel_row_name({trace.name(c.event), trace.name(c.synthetic)});
      category = op_category(compat ? name : trace.name(c.event), trace.name(c.synthetic));
      row.cpu_ns = trace.events.dur_ns[c.event]; // time of the operator above the kernel
    } else {
      row.cpu_ns = cpu_time(trace, c.event, compat);
      if (c.forward != kNoEvent) {
        row.perf = costs.call_cost(t, c.forward, *c.op, {});
        row.has_model = true;
        if (row.perf != nullptr) {
          row.flops = row.perf->flops_bwd;
          row.bytes = row.perf->bytes_bwd;
        }
      } else if (c.op != nullptr) {
        row.perf = costs.call_cost(t, c.event, *c.op, row.kernels);
        row.has_model = true;
      } else if (c.triton) {
        if (auto r = evaluate_triton(trace.name(c.event), parsed_args(trace, *trace.op(c.event)),
                                     compat)) {
          row.perf = &triton.emplace(c.event, std::move(*r)).first->second;
          row.has_model = true;
        }
      }
      if (row.perf != nullptr && c.forward == kNoEvent) {
        row.flops = row.perf->flops;
        row.bytes = row.perf->bytes;
      }
    }
    row.kernel_ns = busy_ns(trace, row.kernels, compat);
    OpKey key = op_key(trace, c.event, category);
    if (wanted.num_kernels && !wanted.inference)
      key.num_kernels = static_cast<std::uint32_t>(row.kernels.size());
    key.recompute = c.event < index.recompute.size() && index.recompute[c.event];
    out.push_back({key, std::move(name), row});
  }
  return out;
}

struct Group {
  OpKey key;
  std::string_view name; ///< for synthetic rows
  std::vector<const UnifiedPerfRow*> rows;
  std::vector<KernelOverlaps::Call> overlaps;
};

/// Returns groups in order of first appearance. With `overlaps`, calls are also grouped by
/// overlapping work.
std::vector<Group> group_calls(const LoadedTrace& t, const std::vector<UnifiedPerfCall>& calls,
                               const KernelOverlaps* overlaps) {
  std::vector<Group> groups;
  std::unordered_map<OpKey, std::size_t, OpKeyHash> plain;
  std::map<std::string_view, std::unordered_map<OpKey, std::size_t, OpKeyHash>> synthetic;
  OverlapGroups sets;
  for (const UnifiedPerfCall& call : calls) {
    OpKey key = call.key;
    KernelOverlaps::Call overlap;
    if (overlaps != nullptr) {
      overlap = overlaps->find(t.trace, call.row.kernels);
      key.overlap_set = sets.id_of(t.trace, overlap);
    }
    std::size_t at = groups.size();
    if (call.name.empty())
      at = plain.try_emplace(key, at).first->second;
    else
      at = synthetic[call.name].try_emplace(key, at).first->second;
    if (at == groups.size())
      groups.push_back({key, call.name, {}, {}});
    groups[at].rows.push_back(&call.row);
    if (overlaps != nullptr)
      groups[at].overlaps.push_back(std::move(overlap));
  }
  return groups;
}

/// Adds times, rates and kernels of all calls of a group.
void add_calls(const Trace& trace, const std::vector<const UnifiedPerfRow*>& calls, bool compat,
               UnifiedRow& out) {
  std::vector<std::int64_t> cpu;
  std::vector<double> kernel;
  std::vector<double> tbps, tflops;
  std::vector<std::span<const EventId>> lists;
  for (const UnifiedPerfRow* r : calls) {
    if (r->cpu_ns != kNoId)
      cpu.push_back(r->cpu_ns);
    kernel.push_back(r->kernel_ns);
    const double us = ns_to_us(r->kernel_ns);
    tbps.push_back(us > 0 ? r->bytes / 1e12 / (us / 1e6) : kUnknown);
    tflops.push_back(us > 0 ? r->flops / 1e12 / (us / 1e6) : kUnknown);
    out.timed_flops.add(r->flops, r->kernel_ns);
    out.timed_bytes.add(r->bytes, r->kernel_ns);
    lists.emplace_back(r->kernels);
  }
  out.cpu_us = stats_of_ns(std::move(cpu));
  out.kernel_ns = std::accumulate(kernel.begin(), kernel.end(), 0.0);
  out.kernel_us = stats_of_ns(std::move(kernel));
  out.tbps = stats_of(std::move(tbps));
  out.tflops = stats_of(std::move(tflops));
  out.details = kernel_details(trace, lists, compat);
}

/// Adds the reference's call chain (compat). A kernel without an operator that covers it gets only
/// its name.
void add_call_chain(const LoadedTrace& t, const Group& group, UnifiedRow& out) {
  const auto first = std::find_if(group.rows.begin(), group.rows.end(),
                                  [](const UnifiedPerfRow* r) { return !r->kernels.empty(); });
  CallChain chain;
  if (!group.name.empty() && !out.details.kernels.empty())
    chain.common.emplace_back(t.trace.name(out.details.kernels.front()));
  else if (first != group.rows.end())
    chain = call_chain(t, (*first)->event, out.details.kernels);
  out.call_stack = chain.text();
  out.entry_point = entry_point(chain, out.op.name);
}

UnifiedRow make_row(const LoadedTrace& t, const UnifiedPerfKey& key, const GpuArch* arch,
                    const Group& group, OpKeyTexts& texts) {
  const UnifiedPerfRow& first = *group.rows.front();
  UnifiedRow out;
  out.op = texts.labels(group.key);
  if (!group.name.empty())
    out.op.name = group.name;
  out.num_kernels = group.key.num_kernels;
  out.recompute = group.key.recompute;
  out.example_uid = first.uid;
  out.count = group.rows.size();
  add_calls(t.trace, group.rows, key.launchers.compat, out);
  out.flops = first.flops;
  out.bytes = first.bytes;
  out.has_model = first.has_model;
  if (first.perf != nullptr) {
    out.compute_spec = first.perf->compute_spec;
    out.params = params_dict(*first.perf);
    if (arch != nullptr && (key.launchers.compat || !copies_over_link(t.trace, first.kernels)))
      out.roofline = roofline(*arch, first.perf->compute_spec, first.flops, first.bytes);
  }
  out.overlap = overlap_cells(t.trace, group.overlaps);
  if (key.graphs) {
    std::vector<std::span<const EventId>> kernels;
    for (const UnifiedPerfRow* r : group.rows)
      kernels.push_back(r->kernels);
    out.graph = graph_cell(t, t.shared(*key.graphs), kernels);
  }
  if (key.call_stack && key.launchers.compat) {
    add_call_chain(t, group, out);
  } else if (key.call_stack) {
    PythonStack python = python_stack(t, first.event, out.details.kernels);
    out.entry_point = std::move(python.entry_point);
    out.call_stack = std::move(python.text);
  }
  return out;
}

std::vector<UnifiedRow> make_rows(const LoadedTrace& t, const UnifiedPerfKey& key,
                                  const GpuArch* arch, const std::vector<Group>& groups) {
  OpKeyTexts texts(t.trace);
  std::vector<UnifiedRow> out;
  for (const Group& group : groups)
    out.push_back(make_row(t, key, arch, group, texts));
  sort_stably(out, [](const UnifiedRow& a, const UnifiedRow& b) {
    return a.kernel_ns != b.kernel_ns ? a.kernel_ns > b.kernel_ns : a.example_uid < b.example_uid;
  });
  fill_shares(out, &UnifiedRow::kernel_ns);
  return out;
}

} // namespace

Result<UnifiedPerf> compute(const LoadedTrace& t, const UnifiedPerfKey& key) {
  std::optional<GpuArch> arch;
  if (!key.gpu_arch.empty()) {
    RS_TRY(arch, load_gpu_arch(key.gpu_arch));
  }
  const GpuArch* const peaks = arch ? &*arch : nullptr;
  OpCosts costs(key.launchers.compat, key.inference);
  TritonCosts triton;
  const std::vector<UnifiedPerfCall> calls = collect(t, key, costs, triton);
  UnifiedPerf out;
  const TraceGpuWork& gpu = t.shared(TraceGpuWorkKey{key.launchers.compat});
  for (const EventId i : gpu.events)
    if (!t.tree.linked(i) && !gpu.communication[t.trace.events.name[i]])
      out.unlinked_ns += t.trace.events.dur_ns[i];
  out.rows = make_rows(t, key, peaks, group_calls(t, calls, nullptr));
  if (key.overlap)
    out.by_overlap =
        make_rows(t, key, peaks, group_calls(t, calls, &t.shared(OverlapsKey{key.launchers})));
  return out;
}

namespace {

std::vector<SheetInfo> describe_unified_perf(const ReportOptions& options) {
  return {unified_perf_schema(options, false).info(), unified_perf_schema(options, true).info()};
}

Result<std::vector<Table>> run_unified_perf(const LoadedTrace& t, const ReportOptions& options) {
  const Result<UnifiedPerf>& facts = t.shared(UnifiedPerfKey{options});
  if (!facts)
    return facts.error();
  std::vector<Table> out;
  if (options.compat_tracelens && !has_events(t.trace, Category::kCpuOp))
    return out; // the reference writes no table for a trace without operators
  if (!facts->rows.empty())
    out.push_back(unified_perf_schema(options, false).table(facts->rows));
  if (!facts->by_overlap.empty())
    out.push_back(unified_perf_schema(options, true).table(facts->by_overlap));
  return out;
}

} // namespace

void take_row_categories(const LoadedTrace& t, LauncherIndex& index) {
  const std::vector<Collected>& rows = t.shared(CollectedKey{});
  std::vector<std::uint32_t> row_of(t.trace.events.size(), kNoRow);
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    if (rows[i].synthetic == kNoEvent)
      row_of[rows[i].event] = i;
  for (Launcher& l : index.launchers)
    for (EventId at = l.event; at != kNoEvent; at = t.tree.parent(at))
      if (row_of[at] != kNoRow) {
        l.category = rows[row_of[at]].category;
        break;
      }
}

const Analysis unified_perf_analysis{
    "unified_perf",
    "one row per operator and arguments, with kernel time, FLOPs and bytes",
    {"unified_perf_summary", "unified_perf_summary_kl_overlap"},
    run_unified_perf,
    describe_unified_perf};

} // namespace rankscope
