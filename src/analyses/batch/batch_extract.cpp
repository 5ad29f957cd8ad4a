// Extracts the batch report data of one rank's trace. All counts are computed in one pass over the
// events.
#include "analyses/batch/batch_part.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/pseudo_ops.h"
#include "base/ascii.h"
#include "base/sort.h"
#include "base/units.h"
#include "model/kernels.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr std::int64_t kShortNs = 10'000;

/// Returns, by StrId, whether a name belongs to a communication kernel. In compat mode, only names
/// that contain "nccl" in lower case count, as in the reference.
std::vector<bool> communication_by(const StringPool& strings, bool compat) {
  if (!compat)
    return communication_names(strings);
  std::vector<bool> out(strings.size());
  for (StrId id = 0; id < out.size(); ++id)
    out[id] = strings.view(id).find("nccl") != std::string_view::npos;
  return out;
}

/// Durations by name and category.
class Tally {
public:
  explicit Tally(const Trace& trace) : trace_(trace) {}
  void add(EventId i) {
    const Events& e = trace_.events;
    const std::uint64_t key =
        std::uint64_t{e.name[i]} << 8U | static_cast<std::uint64_t>(e.category[i]);
    rows_[key].add(e.dur_ns[i]);
  }
  /// Returns the durations, sorted by name, then category.
  [[nodiscard]] std::vector<BatchDurations> take() && {
    std::vector<BatchDurations> out;
    for (auto& [key, row] : rows_) {
      row.name = trace_.strings.view(static_cast<StrId>(key >> 8U));
      row.category = category_name(static_cast<Category>(key & 0xffU));
      out.push_back(std::move(row));
    }
    std::sort(out.begin(), out.end(), [](const BatchDurations& a, const BatchDurations& b) {
      return std::tie(a.name, a.category) < std::tie(b.name, b.category);
    });
    return out;
  }

private:
  const Trace& trace_;
  std::unordered_map<std::uint64_t, BatchDurations> rows_;
};

/// Counts of short operators by name, in order of first appearance.
class ShortOps {
public:
  explicit ShortOps(const Trace& trace) : trace_(trace), row_of_(trace.strings.size(), kNoRow) {}
  void add(StrId name) {
    if (row_of_[name] == kNoRow) {
      row_of_[name] = static_cast<std::uint32_t>(rows_.size());
      rows_.emplace_back(trace_.strings.view(name), 0);
    }
    ++rows_[row_of_[name]].second;
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::size_t>> take() && {
    return std::move(rows_);
  }

private:
  const Trace& trace_;
  std::vector<std::uint32_t> row_of_;
  std::vector<std::pair<std::string, std::size_t>> rows_;
};

void count_link(BatchLinks& links, bool linked, bool is_short) {
  ++(linked ? links.linked : links.unlinked);
  if (is_short)
    ++(linked ? links.short_linked : links.short_unlinked);
}

/// Counts links, short operators and durations; returns the GPU events with a launching call, in
/// file order.
std::vector<EventId> count_events(const LoadedTrace& t, BatchPart& out) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  Tally runtime(trace);
  Tally unlinked(trace);
  ShortOps short_ops(trace);
  std::vector<EventId> in_tree;
  for (EventId i = 0; i < e.size(); ++i) {
    if (is_runtime(e.category[i])) {
      runtime.add(i);
      continue;
    }
    if (!is_gpu(e.category[i]))
      continue;
    const bool has_id = e.external_id[i] != kNoId;
    const bool is_short = e.dur_ns[i] < kShortNs;
    count_link(out.links, has_id, is_short);
    if (!has_id)
      unlinked.add(i);
    if (t.tree.linked(i))
      in_tree.push_back(i);
    if (is_short && e.category[i] == Category::kKernel)
      if (const EventId op = t.tree.cpu_op_above(trace, i); op != kNoEvent)
        short_ops.add(e.name[op]);
  }
  out.runtime = std::move(runtime).take();
  out.unlinked = std::move(unlinked).take();
  out.short_ops = std::move(short_ops).take();
  return in_tree;
}

/// Returns the outermost event that contains an event, or the event itself.
EventId root_of(const LoadedTrace& t, EventId at) {
  while (t.tree.parent(at) != kNoEvent)
    at = t.tree.parent(at);
  return at;
}

BatchShapedRoot shaped_root(const LoadedTrace& t, EventId root) {
  const Trace& trace = t.trace;
  BatchShapedRoot out;
  out.name = trace.name(root);
  out.uid = trace.events.uid[root];
  out.dur_ms = ns_to_ms(trace.events.dur_ns[root]);
  std::set<std::string_view> names;
  for (const EventId child : t.tree.children(root)) {
    out.children_ms += ns_to_ms(trace.events.dur_ns[child]);
    names.insert(trace.name(child));
  }
  out.children.assign(names.begin(), names.end());
  return out;
}

} // namespace

void BatchDurations::add(std::int64_t ns) {
  min_ns = count == 0 ? ns : std::min(min_ns, ns);
  max_ns = count == 0 ? ns : std::max(max_ns, ns);
  sum_ns += ns;
  ++count;
}

RankCollectives batch_collectives(const LoadedTrace& t, bool compat) {
  if (!compat)
    return extract_collectives(t);
  std::vector<bool> names(t.trace.strings.size());
  for (StrId id = 0; id < names.size(); ++id)
    names[id] = lowercase(t.trace.strings.view(id)).find("nccl") != std::string::npos;
  return named_collectives(t.trace, t.rank, names);
}

std::vector<BatchShapedRoot> batch_shaped_roots(const LoadedTrace& t) {
  const Events& e = t.trace.events;
  std::vector<bool> seen(e.size());
  std::set<std::pair<std::string, std::vector<std::string>>> lists;
  std::vector<BatchShapedRoot> out;
  for (EventId i = 0; i < e.size(); ++i) {
    const OpArgs* args = t.trace.op(i);
    if (args == nullptr || args->input_dims == kEmptyStr)
      continue;
    const EventId root = root_of(t, i);
    if (seen[root])
      continue;
    seen[root] = true;
    BatchShapedRoot row = shaped_root(t, root);
    if (lists.emplace(row.name, row.children).second)
      out.push_back(std::move(row));
  }
  sort_stably(out, {}, &BatchShapedRoot::name);
  return out;
}

void batch_kernels(const LoadedTrace& t, const BatchOptions& options, BatchPart& out) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  const auto text = [&](StrId id) { return out.texts.intern(trace.strings.view(id)); };
  std::unordered_map<EventId, double> busy; // GPU time of the events below an operator
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kKernel)
      continue;
    BatchKernel k;
    k.uid = e.uid[i];
    k.name = text(e.name[i]);
    k.ts_ns = e.ts_ns[i];
    k.dur_ns = e.dur_ns[i];
    k.stream = e.stream[i];
    if (const EventId op = t.tree.cpu_op_above(trace, i); op != kNoEvent) {
      k.has_parent = true;
      k.parent_uid = e.uid[op];
      k.parent = text(e.name[op]);
      if (const OpArgs* args = trace.op(op)) {
        k.dims = text(args->input_dims);
        k.types = text(args->input_types);
        k.strides = text(args->input_strides);
        k.concrete = text(args->concrete_inputs);
        k.kernel_file = text(args->kernel_file);
      }
      const std::span<const EventId> all = t.tree.gpu_events(op);
      const auto [it, fresh] = busy.try_emplace(op);
      if (fresh)
        it->second = busy_ns(trace, all, options.compat);
      k.parent_ns = it->second;
      k.parent_kernels = all.size();
    }
    out.kernels.push_back(k);
  }
}

Result<BatchPart> extract_batch(const LoadedTrace& given, const BatchOptions& options) {
  const std::optional<LoadedTrace> with_ops = with_transformer_engine_ops(given);
  const LoadedTrace& t = with_ops ? *with_ops : given;
  BatchPart out;
  out.rank = t.rank;
  out.path = t.trace.path;
  out.gpu_events = t.tree.gpu_event_count();
  out.gpu_linked = t.tree.linked_count();
  const std::vector<EventId> in_tree = count_events(t, out);
  const std::vector<bool> communication = communication_by(t.trace.strings, options.compat);
  ReportOptions report;
  report.compat_tracelens = options.compat;
  out.timeline = timeline_of_events(t, in_tree, communication, report, !options.compat);
  out.groups = batch_calls(t, options);
  out.launchers = batch_launchers(t, communication, options);
  out.collectives = batch_collectives(t, options.compat);
  out.collectives.rank = t.rank;
  if (options.all_kernels)
    batch_kernels(t, options, out);
  if (std::ranges::any_of(out.groups, [](const BatchGroupCalls& g) { return g.events == 0; }))
    out.shaped = batch_shaped_roots(t);
  return out;
}

} // namespace rankscope
