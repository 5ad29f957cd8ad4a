#include "analyses/gemm/gemm_data.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "analyses/operators/roofline.h"
#include "base/sort.h"
#include "base/to_number.h"
#include "core/steps.h"
#include "model/kernels.h"
#include "model/ops/op_registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <unordered_map>

namespace rankscope {
namespace {

struct Overlaps {
  std::vector<EventId> collectives; ///< ordered by start
  /// Duration of the longest collective; bounds the search back in time.
  std::int64_t longest_ns = 0;
  IntervalSet comm, copies;
};

/// `device`: the GPU, or -1 for events without a recorded GPU.
Overlaps overlaps_on(std::int16_t device, const Trace& trace, const LauncherIndex& index) {
  Overlaps out;
  std::vector<Interval> comm;
  std::vector<Interval> copies;
  for (const EventId i : index.gpu) {
    if (trace.events.device[i] != device)
      continue;
    const Interval span{trace.events.ts_ns[i], trace.end_ns(i)};
    if (trace.events.category[i] == Category::kGpuMemcpy) {
      copies.push_back(span);
    } else if (index.communication[trace.events.name[i]]) {
      comm.push_back(span);
      out.collectives.push_back(i);
      out.longest_ns = std::max(out.longest_ns, span.end - span.start);
    }
  }
  sort_by_start(trace.events, out.collectives);
  out.comm = IntervalSet(std::move(comm));
  out.copies = IntervalSet(std::move(copies));
  return out;
}

std::string collective_label(const Trace& trace, EventId i) {
  const CollectiveArgs* c = trace.collective_of(i);
  return std::string(c != nullptr && c->collective_name != kEmptyStr
                         ? trace.strings.view(c->collective_name)
                         : trace.name(i));
}

std::vector<GemmNeighbour> neighbours(const Trace& trace, const Overlaps& b,
                                      const IntervalSet& busy) {
  std::vector<GemmNeighbour> out;
  if (busy.empty())
    return out;
  const std::int64_t start = busy.intervals().front().start;
  const std::int64_t end = busy.intervals().back().end;
  auto it = std::ranges::partition_point(
      b.collectives, [&](EventId i) { return trace.events.ts_ns[i] < start - b.longest_ns; });
  for (; it != b.collectives.end() && trace.events.ts_ns[*it] < end; ++it)
    if (const std::int64_t o = busy.covered(trace.events.ts_ns[*it], trace.end_ns(*it));
        o > 0) // events that only touch do not overlap
      out.push_back({collective_label(trace, *it), o});
  return out;
}

struct Call {
  std::vector<EventId> kernels;
  GemmInstance instance;
};

struct GroupKey {
  OpKey key;
  std::int16_t device;
  std::int32_t stream;
  bool operator==(const GroupKey&) const = default;
};
struct GroupKeyHash {
  std::size_t operator()(const GroupKey& k) const {
    return (OpKeyHash{}(k.key) * 31 + static_cast<std::size_t>(k.stream + 1)) * 31 +
           static_cast<std::size_t>(k.device + 1);
  }
};

/// Converts tuples to lists, because one kind of sheet prints shapes as tuples and another as
/// lists.
std::string as_list(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == ')' || c == ']') && !out.empty() && out.back() == ',')
      out.pop_back(); // "(1,)"
    out += c == '(' ? '[' : c == ')' ? ']' : c;
  }
  return out;
}

/// Collects the calls of a rank by operator, arguments, GPU and stream.
class Collector {
public:
  Collector(const LoadedTrace& t, const LauncherIndex& index)
      : trace_(t.trace), e_(t.trace.events), index_(index), steps_(profiler_steps(t.trace)) {
    out_.key.rank = t.rank;
    out_.trace_start_ns = INT64_MAX;
    for (const EventId i : index.gpu) {
      out_.trace_start_ns = std::min(out_.trace_start_ns, e_.ts_ns[i]);
      if (!overlaps_.contains(e_.device[i]))
        overlaps_.emplace(e_.device[i], overlaps_on(e_.device[i], t.trace, index));
    }
  }

  void add_operators() {
    for (const Launcher& l : index_.launchers) {
      const OpInfo* op = find_op(trace_.name(l.event));
      if (op == nullptr || op->family != "GEMM")
        continue;
      const auto kernels = index_.kernels_of(l);
      const EventId first = kernels.front();
      add({op_key(trace_, l.event, l.category), e_.device[first], e_.stream[first]}, l.event,
          {kernels.begin(), kernels.end()});
    }
  }

  /// Finds GEMMs by kernel name, for compiled or GPU-only traces.
  void add_kernels() {
    std::vector<signed char> gemm(trace_.strings.size(), -1);
    for (const EventId i : index_.gpu) {
      if (e_.category[i] != Category::kKernel || index_.communication[e_.name[i]])
        continue;
      if (gemm[e_.name[i]] < 0)
        gemm[e_.name[i]] = is_gemm_kernel(trace_.name(i)) ? 1 : 0;
      if (gemm[e_.name[i]] == 0)
        continue;
      OpKey key;
      key.name = e_.name[i];
      add({key, e_.device[i], e_.stream[i]}, i, {i});
    }
  }

  [[nodiscard]] bool empty() const { return out_.groups.empty(); }

  [[nodiscard]] RankGemms finish() && {
    for (std::size_t g = 0; g < out_.groups.size(); ++g)
      complete(out_.groups[g], calls_[g]);
    sort_stably(out_.groups, std::ranges::greater(), &GemmGroup::range_ns);
    return std::move(out_);
  }

private:
  /// Adds a call made by `source`, which is an operator or the kernel itself.
  void add(const GroupKey& key, EventId source, std::vector<EventId> kernels) {
    const auto [it, fresh] = rows_.emplace(key, out_.groups.size());
    if (fresh) {
      out_.groups.push_back(begun_group(key, source));
      calls_.emplace_back();
    }
    Call call;
    call.instance.start_ns = INT64_MAX;
    call.instance.end_ns = INT64_MIN;
    for (const EventId k : kernels) {
      call.instance.start_ns = std::min(call.instance.start_ns, e_.ts_ns[k]);
      call.instance.end_ns = std::max(call.instance.end_ns, trace_.end_ns(k));
    }
    const IntervalSet busy = busy_time(trace_, kernels);
    call.instance.dur_ns = busy.length();
    call.instance.step = step_at(steps_, e_.ts_ns[source]);
    const Overlaps& overlaps = overlaps_.at(key.device);
    for (const Interval& part : busy.intervals()) {
      call.instance.overlap_ns += overlaps.comm.covered(part.start, part.end);
      call.instance.memcpy_overlap_ns += overlaps.copies.covered(part.start, part.end);
    }
    call.kernels = std::move(kernels);
    out_.gemm_ns += call.instance.dur_ns;
    calls_[it->second].push_back(std::move(call));
  }

  [[nodiscard]] GemmGroup begun_group(const GroupKey& key, EventId first) const {
    GemmGroup g;
    const std::string_view name = trace_.strings.view(key.key.name);
    g.op = find_op(name) != nullptr ? name : kGemmKernelOnly;
    OpKeyTexts texts(trace_);
    g.dims = texts.repr(key.key.dims);
    g.types = texts.repr(key.key.types);
    g.strides = texts.repr(key.key.strides);
    g.stream = key.stream;
    g.device = key.device;
    g.first_uid = e_.uid[first];
    return g;
  }

  void complete(GemmGroup& group, std::vector<Call>& calls) const {
    sort_stably(calls, [](const Call& x, const Call& y) {
      return x.instance.start_ns < y.instance.start_ns;
    });
    for (const Call& c : calls) {
      const std::size_t i = group.instances.size();
      group.instances.push_back(c.instance);
      if (c.instance.dur_ns < group.instances[group.shortest].dur_ns)
        group.shortest = i;
      if (c.instance.dur_ns > group.instances[group.longest].dur_ns)
        group.longest = i;
    }
    const StrId dominant = dominant_of(calls);
    group.kernel = trace_.strings.view(dominant);
    for (const Call& c : calls)
      for (const EventId k : c.kernels)
        if (e_.name[k] == dominant)
          group.kernel_ns.push_back(e_.dur_ns[k]);
    const IntervalSet busy = busy_time(trace_, calls[group.longest].kernels);
    group.longest_busy = busy_text(busy);
    group.longest_neighbours = neighbours(trace_, overlaps_.at(group.device), busy);
    group.served = served_by_kernel(calls);
  }

  /// Counts the calls by kernel. Calls with the same kernels have the same one, although small
  /// kernels take about the same time. Moves the calls.
  [[nodiscard]] std::vector<ServedCalls> served_by_kernel(std::vector<Call>& calls) const {
    std::map<std::vector<StrId>, std::vector<Call>> alike;
    for (Call& c : calls) {
      std::vector<StrId> names;
      for (const EventId k : c.kernels)
        names.push_back(e_.name[k]);
      alike[std::move(names)].push_back(std::move(c));
    }
    std::map<std::string_view, std::size_t> count;
    for (const auto& [names, list] : alike)
      count[trace_.strings.view(dominant_of(list))] += list.size();
    std::vector<ServedCalls> out;
    for (const auto& [kernel, n] : count)
      out.push_back({std::string(kernel), n});
    sort_stably(out, std::ranges::greater(), &ServedCalls::calls);
    return out;
  }

  /// Returns the kernel with the most time; if several have the same time, the one that reached it
  /// first.
  [[nodiscard]] StrId dominant_of(const std::vector<Call>& calls) const {
    std::unordered_map<StrId, std::int64_t> time;
    StrId dominant = kEmptyStr;
    for (const Call& c : calls)
      for (const EventId k : c.kernels) {
        std::int64_t& sum = time[e_.name[k]];
        sum += e_.dur_ns[k];
        if (dominant == kEmptyStr || sum > time[dominant])
          dominant = e_.name[k];
      }
    return dominant;
  }

  const Trace& trace_;
  const Events& e_;
  const LauncherIndex& index_;
  std::map<std::int16_t, Overlaps> overlaps_; ///< by GPU
  std::vector<ProfilerStep> steps_;
  RankGemms out_;
  std::unordered_map<GroupKey, std::size_t, GroupKeyHash> rows_;
  std::vector<std::vector<Call>> calls_; ///< calls of each group
};

} // namespace

std::string busy_text(const IntervalSet& busy) {
  std::string out;
  for (const Interval& i : busy.intervals())
    out += fmt::format("{}{}-{}", out.empty() ? "" : ";", i.start, i.end);
  return out;
}

IntervalSet busy_of_text(std::string_view text) {
  std::vector<Interval> out;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-', 1); // times can be negative
    const auto start = to_number(part.substr(0, dash));
    const auto end = dash == std::string_view::npos ? start : to_number(part.substr(dash + 1));
    if (!start || !end || *end <= *start || !usable_time(*start, *end - *start))
      return {};
    out.push_back({*start, *end});
  }
  return IntervalSet(std::move(out));
}

Value SheetCell::value() const {
  switch (kind) {
  case CellKind::kNull:
    return {};
  case CellKind::kInt:
    return Value(i);
  case CellKind::kDouble:
    return Value(d);
  case CellKind::kBool:
    return Value(i != 0);
  case CellKind::kText:
    return Value(text);
  }
  return {};
}

Result<void> attach_sheet(RankGemms& gemms, const LoadedTrace& trace,
                          const ReportOptions& options) {
  const Result<FamilyFacts>& families = trace.shared(FamiliesKey{options});
  if (!families)
    return families.error();
  const FamilySheet* const sheet = find_family(families->sheets, "GEMM");
  if (sheet == nullptr)
    return {};
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::size_t> rows;
  for (std::size_t r = 0; r < sheet->rows.size(); ++r) {
    const FamilyRow& row = sheet->rows[r];
    rows.emplace(Key{row.name, as_list(row.input_dims), as_list(row.input_types),
                     as_list(row.input_strides)},
                 r);
  }
  const Schema<FamilyRow> schema = family_schema(*sheet, options);
  for (const AnyField& f : schema.fields())
    gemms.sheet_columns.push_back({f.id, f.label});
  std::map<std::size_t, std::size_t> kept; // sheet rows that a group uses
  for (GemmGroup& g : gemms.groups) {
    const auto found = rows.find({g.op, as_list(g.dims), as_list(g.types), as_list(g.strides)});
    if (found == rows.end())
      continue;
    const auto [at, fresh] = kept.emplace(found->second, gemms.sheet.size());
    g.sheet_row = at->second;
    if (!fresh)
      continue;
    std::vector<SheetCell> cells;
    for (const AnyField& f : schema.fields())
      cells.push_back(SheetCell::of(f.get(&sheet->rows[found->second])));
    gemms.sheet.push_back(std::move(cells));
  }
  return {};
}

RankGemms extract_gemms(const LoadedTrace& t, const LaunchersKey& key) {
  Collector calls(t, t.shared(key));
  calls.add_operators();
  if (calls.empty())
    calls.add_kernels();
  RankGemms out = std::move(calls).finish();
  measure_extremes(t, out);
  return out;
}

} // namespace rankscope
