#include "analyses/gemm/gemm_data.h"

#include "analyses/group_stats.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "base/interval_set.h"
#include "base/statistics.h"
#include "base/units.h"
#include "core/output_layout.h"
#include "core/steps.h"
#include "model/kernels.h"
#include "model/ops/op_registry.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

struct Beside {
  std::vector<EventId> collectives; ///< by start
  std::int64_t longest_ns = 0;      ///< of one collective, bounds the search back in time
  IntervalSet comm, copies;
};

Beside beside(const Trace& trace, const LauncherIndex& index) {
  Beside out;
  std::vector<Interval> comm;
  std::vector<Interval> copies;
  for (const EventId i : index.gpu) {
    const Interval span{trace.events.ts_ns[i], trace.end_ns(i)};
    if (trace.events.category[i] == Category::kGpuMemcpy) {
      copies.push_back(span);
    } else if (index.communication[trace.events.name[i]]) {
      comm.push_back(span);
      out.collectives.push_back(i);
      out.longest_ns = std::max(out.longest_ns, span.end - span.start);
    }
  }
  std::stable_sort(out.collectives.begin(), out.collectives.end(), [&](EventId a, EventId b) {
    return trace.events.ts_ns[a] < trace.events.ts_ns[b];
  });
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

std::vector<GemmNeighbour> neighbours(const Trace& trace, const Beside& b,
                                      const std::vector<EventId>& kernels) {
  std::vector<GemmNeighbour> out;
  std::vector<Interval> spans;
  for (const EventId k : kernels)
    spans.push_back({trace.events.ts_ns[k], trace.end_ns(k)});
  const IntervalSet busy(std::move(spans));
  if (busy.empty())
    return out;
  const std::int64_t start = busy.intervals().front().start;
  const std::int64_t end = busy.intervals().back().end;
  auto it = std::partition_point(b.collectives.begin(), b.collectives.end(), [&](EventId i) {
    return trace.events.ts_ns[i] < start - b.longest_ns;
  });
  for (; it != b.collectives.end() && trace.events.ts_ns[*it] < end; ++it)
    if (const std::int64_t o =
            std::min(end, trace.end_ns(*it)) - std::max(start, trace.events.ts_ns[*it]);
        o > 0) // touching is not overlap
      out.push_back({collective_label(trace, *it), o});
  return out;
}

struct Call {
  std::vector<EventId> kernels;
  GemmInstance instance;
};

struct GroupKey {
  OpKey key;
  std::int32_t stream;
  bool operator==(const GroupKey&) const = default;
};
struct GroupKeyHash {
  std::size_t operator()(const GroupKey& k) const {
    return OpKeyHash{}(k.key) * 31 + static_cast<std::size_t>(k.stream + 1);
  }
};

double share(const GemmInstance& i, std::int64_t ns) {
  return i.dur_ns > 0 ? 100.0 * static_cast<double>(ns) / static_cast<double>(i.dur_ns) : 0;
}

double score(const GemmGroup& g, GemmRanking ranking) {
  std::vector<double> us;
  for (const GemmInstance& i : g.instances)
    us.push_back(ns_to_us(i.dur_ns));
  const Stats s = stats_of(us);
  switch (ranking) {
  case GemmRanking::kRange:
    return ns_to_us(g.range_ns());
  case GemmRanking::kCv:
    return s.count > 1 && s.mean > 0 ? s.std_sample / s.mean : 0;
  case GemmRanking::kTotalExcess:
    return s.sum - s.min * static_cast<double>(s.count);
  }
  return 0;
}

/// What follows the col_... columns in the variance table; units are told by the names.
constexpr const char* kOwnColumns[] = {"configuration",   "op",
                                       "input_dims",      "input_types",
                                       "input_strides",   "stream",
                                       "count",           "median_us",
                                       "p95_us",          "mean_us",
                                       "std_us",          "cv",
                                       "total_us",        "share_of_gemm_time_pct",
                                       "total_excess_us", "min_step",
                                       "max_step",        "max_is_first_iteration",
                                       "UID_first",       "kernel_count",
                                       "kernel_min_us",   "kernel_median_us",
                                       "kernel_p95_us",   "kernel_max_us",
                                       "kernel_std_us",   "kernel_cv"};
constexpr const char* kTimestampColumns[] = {"min_duration_timestamp_ms",
                                             "max_duration_timestamp_ms",
                                             "time_between_min_max_ms",
                                             "min_duration_found_us",
                                             "max_duration_found_us",
                                             "min_verified",
                                             "max_verified",
                                             "min_from_trace_start_ms",
                                             "max_from_trace_start_ms",
                                             "min_duration_timestamp_ns",
                                             "max_duration_timestamp_ns"};
constexpr const char* kOverlapColumns[] = {"overlapping_collective_count",
                                           "overlapping_collective_names",
                                           "max_overlap_percentage",
                                           "max_overlap_collective",
                                           "total_overlap_duration_ms",
                                           "overlap_evaluated",
                                           "total_overlap_percentage",
                                           "min_instance_overlap_percentage",
                                           "median_instance_overlap_percentage",
                                           "duration_overlap_correlation",
                                           "slowdown_per_full_overlap_us",
                                           "slowdown_ci95_us",
                                           "memcpy_overlap_percentage"};

Unit unit_of(std::string_view name) {
  const auto ends = [&](std::string_view tail) {
    return name.size() >= tail.size() && name.substr(name.size() - tail.size()) == tail;
  };
  return ends("_us")                           ? Unit::kUs
         : ends("_pct") || ends("percentage")  ? Unit::kPercent
         : ends("count")                       ? Unit::kCount
         : name == "cv" || name == "kernel_cv" ? Unit::kRatio
                                               : Unit::kNone;
}

/// The three tables without rows.
GemmTables empty_tables(std::size_t top_k, const std::vector<std::string>& sheet_columns) {
  std::vector<Column> columns;
  const auto add = [&](std::string name) {
    const Unit unit = unit_of(name);
    columns.push_back({std::move(name), unit});
  };
  for (const char* name : {"threads", "channel", "rank", "kernel_name", "kernel_time_min_us",
                           "kernel_time_max_us", "time_diff_us"})
    add(name);
  for (const std::string& name : sheet_columns)
    columns.push_back({"col_" + name});
  for (const char* name : kOwnColumns)
    add(name);
  GemmTables out;
  out.variance = Table(gemm_table_name(top_k, GemmTable::kVariance), columns);
  for (const char* name : kTimestampColumns)
    add(name);
  out.timestamps = Table(gemm_table_name(top_k, GemmTable::kTimestamps), columns);
  for (const char* name : kOverlapColumns)
    add(name);
  out.overlap = Table(gemm_table_name(top_k, GemmTable::kOverlap), columns);
  return out;
}

} // namespace

GemmRanking gemm_ranking(std::string_view name) {
  return name == "cv"             ? GemmRanking::kCv
         : name == "total-excess" ? GemmRanking::kTotalExcess
                                  : GemmRanking::kRange;
}

namespace {

/// Tuples as lists: the two kinds of sheets print shapes in either form.
std::string as_list(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == ')' || c == ']') && !out.empty() && out.back() == ',')
      out.pop_back(); // "(1,)"
    out += c == '(' ? '[' : c == ')' ? ']' : c;
  }
  return out;
}

} // namespace

void attach_sheet(RankGemms& gemms, const Table& gemm_sheet) {
  gemms.sheet = gemm_sheet;
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::size_t> rows;
  const auto text = [&](std::size_t r, const char* column) {
    return as_list(gemm_sheet.at(r, column).text);
  };
  for (std::size_t r = 0; r < gemm_sheet.rows(); ++r)
    rows.emplace(Key{text(r, "name"), text(r, "Input Dims_first"), text(r, "Input type_first"),
                     text(r, "Input Strides_first")},
                 r);
  for (GemmGroup& g : gemms.groups)
    if (const auto found = rows.find({g.op, as_list(g.dims), as_list(g.types), as_list(g.strides)});
        found != rows.end())
      g.sheet_row = found->second;
}

GemmTables join_gemm_tables(const std::vector<const Table*>& parts, std::size_t top_k,
                            GemmRanking ranking) {
  std::set<std::string> sheet_columns;
  for (const Table* part : parts)
    for (const Column& c : part->columns())
      if (c.name.rfind("col_", 0) == 0)
        sheet_columns.insert(c.name.substr(4));
  GemmTables out = empty_tables(top_k, {sheet_columns.begin(), sheet_columns.end()});
  struct Row {
    const Table* part;
    std::size_t row;
    double score;
  };
  const char* const by = ranking == GemmRanking::kCv            ? "cv"
                         : ranking == GemmRanking::kTotalExcess ? "total_excess_us"
                                                                : "time_diff_us";
  std::vector<Row> rows;
  for (const Table* part : parts)
    for (std::size_t r = 0; r < part->rows(); ++r) {
      const double score = part->at(r, by).number();
      rows.push_back({part, r, std::isnan(score) ? 0 : score});
    }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.score > b.score; });
  std::map<const Table*, std::vector<std::optional<std::size_t>>> places;
  for (const Table* part : parts)
    for (const Column& c : out.overlap.columns())
      places[part].push_back(part->column(c.name));
  for (const Row& row : rows) {
    std::vector<Value> values;
    for (const auto& place : places[row.part])
      values.push_back(place ? row.part->at(row.row, *place) : Value());
    out.overlap.add_row(values);
    values.resize(out.timestamps.cols());
    out.timestamps.add_row(values);
    values.resize(out.variance.cols());
    out.variance.add_row(values);
  }
  return out;
}

RankGemms extract_gemms(const LoadedTrace& t, const ReportOptions& options) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  const LauncherIndex& index = launchers_of(t, options);
  const Beside b = beside(trace, index);
  const std::vector<ProfilerStep> steps = profiler_steps(trace);
  RankGemms out;
  out.key.rank = t.rank;
  out.trace_start_ns = INT64_MAX;
  for (const EventId i : index.gpu)
    out.trace_start_ns = std::min(out.trace_start_ns, e.ts_ns[i]);

  std::unordered_map<GroupKey, std::size_t, GroupKeyHash> rows;
  std::vector<std::vector<Call>> calls;
  const auto add = [&](const GroupKey& key, EventId uid_of, std::vector<EventId> kernels,
                       std::int64_t step) {
    const auto [it, fresh] = rows.emplace(key, out.groups.size());
    if (fresh) {
      GemmGroup g;
      g.op = key.key.has_args || find_op(trace.strings.view(key.key.name)) != nullptr
                 ? std::string(trace.strings.view(key.key.name))
                 : "(kernel)";
      OpKeyTexts texts(trace);
      g.dims = texts.repr(key.key.dims);
      g.types = texts.repr(key.key.types);
      g.strides = texts.repr(key.key.strides);
      g.stream = key.stream;
      g.first_uid = e.uid[uid_of];
      out.groups.push_back(std::move(g));
      calls.emplace_back();
    }
    Call call;
    call.instance.start_ns = INT64_MAX;
    std::vector<Interval> spans;
    for (const EventId k : kernels) {
      call.instance.start_ns = std::min(call.instance.start_ns, e.ts_ns[k]);
      spans.push_back({e.ts_ns[k], trace.end_ns(k)});
    }
    const IntervalSet busy(std::move(spans)); // without the gaps between the call's kernels
    call.instance.dur_ns = busy.length();
    call.instance.step = step;
    for (const Interval& part : busy.intervals()) {
      call.instance.overlap_ns += b.comm.covered(part.start, part.end);
      call.instance.memcpy_overlap_ns += b.copies.covered(part.start, part.end);
    }
    call.kernels = std::move(kernels);
    out.gemm_ns += call.instance.dur_ns;
    calls[it->second].push_back(std::move(call));
  };

  for (const Launcher& l : index.launchers) {
    const OpInfo* op = find_op(trace.name(l.event));
    if (op == nullptr || op->family != "GEMM")
      continue;
    const auto kernels = index.kernels_of(l);
    add({op_key(trace, l.event, l.category), e.stream[kernels.front()]}, l.event,
        {kernels.begin(), kernels.end()}, step_at(steps, e.ts_ns[l.event]));
  }
  if (out.groups.empty()) {
    // compiled or GPU-only traces: the kernels' names must do
    std::vector<signed char> gemm(trace.strings.size(), -1);
    for (const EventId i : index.gpu) {
      if (e.category[i] != Category::kKernel || index.communication[e.name[i]])
        continue;
      if (gemm[e.name[i]] < 0)
        gemm[e.name[i]] = is_gemm_kernel(trace.name(i)) ? 1 : 0;
      if (gemm[e.name[i]] == 0)
        continue;
      OpKey key;
      key.name = e.name[i];
      add({key, e.stream[i]}, i, {i}, step_at(steps, e.ts_ns[i]));
    }
  }

  for (std::size_t g = 0; g < out.groups.size(); ++g) {
    GemmGroup& group = out.groups[g];
    std::stable_sort(calls[g].begin(), calls[g].end(), [](const Call& x, const Call& y) {
      return x.instance.start_ns < y.instance.start_ns;
    });
    std::unordered_map<StrId, std::int64_t> time;
    StrId dominant = kEmptyStr;
    for (const Call& c : calls[g]) {
      for (const EventId k : c.kernels) {
        std::int64_t& sum = time[e.name[k]];
        sum += e.dur_ns[k];
        if (dominant == kEmptyStr || sum > time[dominant])
          dominant = e.name[k];
      }
      const std::size_t i = group.instances.size();
      group.instances.push_back(c.instance);
      if (c.instance.dur_ns < group.instances[group.shortest].dur_ns)
        group.shortest = i;
      if (c.instance.dur_ns > group.instances[group.longest].dur_ns)
        group.longest = i;
    }
    group.kernel = trace.strings.view(dominant);
    for (const Call& c : calls[g])
      for (const EventId k : c.kernels)
        if (e.name[k] == dominant)
          group.kernel_ns.push_back(e.dur_ns[k]);
    group.longest_neighbours = neighbours(trace, b, calls[g][group.longest].kernels);
  }
  std::stable_sort(
      out.groups.begin(), out.groups.end(),
      [](const GemmGroup& x, const GemmGroup& y) { return x.range_ns() > y.range_ns(); });
  return out;
}

GemmTables gemm_tables(const std::vector<RankGemms>& ranks, std::size_t top_k,
                       GemmRanking ranking) {
  struct Row {
    const RankGemms* rank;
    const GemmGroup* group;
    double score;
  };
  std::vector<Row> rows;
  for (const RankGemms& r : ranks) {
    std::vector<Row> mine;
    for (const GemmGroup& g : r.groups)
      mine.push_back({&r, &g, score(g, ranking)});
    std::stable_sort(mine.begin(), mine.end(),
                     [](const Row& a, const Row& b) { return a.score > b.score; });
    if (mine.size() > top_k)
      mine.resize(top_k);
    rows.insert(rows.end(), mine.begin(), mine.end());
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.score > b.score; });

  std::set<std::string> sheet_columns; // code-point order
  for (const Row& row : rows)
    if (row.group->sheet_row)
      for (const Column& c : row.rank->sheet.columns())
        sheet_columns.insert(c.name);
  GemmTables out = empty_tables(top_k, {sheet_columns.begin(), sheet_columns.end()});

  for (const Row& row : rows) {
    const GemmGroup& g = *row.group;
    const GemmInstance& fast = g.instances[g.shortest];
    const GemmInstance& slow = g.instances[g.longest];
    std::vector<double> us;
    std::vector<double> overlap;
    for (const GemmInstance& i : g.instances) {
      us.push_back(ns_to_us(i.dur_ns));
      overlap.push_back(share(i, i.overlap_ns) / 100);
    }
    const Stats s = stats_of(us);
    const auto step = [](std::int64_t n) { return n < 0 ? Value() : Value(n); };
    const Configuration& configuration = row.rank->key.configuration;
    std::vector<Value> values{Value(configuration.threads()),
                              Value(configuration.channels_or_cus()),
                              Value(row.rank->key.rank),
                              Value(g.kernel),
                              Value(s.min),
                              Value(s.max),
                              Value(ns_to_us(g.range_ns()))};
    for (const std::string& name : sheet_columns)
      values.push_back(g.sheet_row ? row.rank->sheet.at(*g.sheet_row, name) : Value());
    std::vector<double> kernel_us;
    for (const std::int64_t ns : g.kernel_ns)
      kernel_us.push_back(ns_to_us(ns));
    const Stats k = stats_of(kernel_us);
    const auto ratio = [](double a, double b) {
      return Value(b > 0 ? a / b : std::numeric_limits<double>::quiet_NaN());
    };
    for (const Value& v :
         {Value(configuration.label),
          Value(g.op),
          Value(g.dims),
          Value(g.types),
          Value(g.strides),
          Value(g.stream),
          Value(g.instances.size()),
          Value(s.median),
          Value(quantile_of(us, 0.95)),
          Value(s.mean),
          Value(s.std_sample),
          ratio(s.std_sample, s.mean),
          Value(s.sum),
          Value(row.rank->gemm_ns > 0 ? s.sum / ns_to_us(row.rank->gemm_ns) * 100 : 0.0),
          Value(s.sum - s.min * static_cast<double>(s.count)),
          step(fast.step),
          step(slow.step),
          Value(g.longest == 0 && g.instances.size() > 1),
          Value(g.first_uid),
          Value(g.kernel_ns.size()),
          Value(k.min),
          Value(k.median),
          Value(quantile_of(kernel_us, 0.95)),
          Value(k.max),
          Value(k.std_sample),
          ratio(k.std_sample, k.mean)})
      values.push_back(v);
    out.variance.add_row(values);

    // the very instances that gave the extremes, found again by their start
    const auto found = [&g](std::int64_t start) {
      for (const GemmInstance& i : g.instances)
        if (i.start_ns == start)
          return ns_to_us(i.dur_ns);
      return std::numeric_limits<double>::quiet_NaN();
    };
    const double min_found = found(fast.start_ns);
    const double max_found = found(slow.start_ns);
    for (const Value& v :
         {Value(ns_to_ms(fast.start_ns)), Value(ns_to_ms(slow.start_ns)),
          Value(ns_to_ms(std::abs(slow.start_ns - fast.start_ns))), Value(min_found),
          Value(max_found), Value(min_found == s.min ? "pass" : "fail"),
          Value(max_found == s.max ? "pass" : "fail"),
          Value(ns_to_ms(fast.start_ns - row.rank->trace_start_ns)),
          Value(ns_to_ms(slow.start_ns - row.rank->trace_start_ns)), Value(fast.start_ns),
          Value(slow.start_ns)})
      values.push_back(v);
    out.timestamps.add_row(values);

    std::string names;
    const GemmNeighbour* most = nullptr;
    for (const GemmNeighbour& n : g.longest_neighbours) {
      names += (names.empty() ? "" : ";") + n.name;
      if (most == nullptr || n.overlap_ns > most->overlap_ns)
        most = &n;
    }
    std::vector<double> by_share = overlap;
    const LinearFit fit = linear_fit95(overlap, us);
    values.emplace_back(g.longest_neighbours.size());
    values.emplace_back(names);
    values.emplace_back(most == nullptr ? 0.0 : share(slow, most->overlap_ns));
    values.emplace_back(most == nullptr ? std::string_view() : std::string_view(most->name));
    values.emplace_back(ns_to_ms(slow.overlap_ns));
    values.emplace_back(true);
    values.emplace_back(share(slow, slow.overlap_ns));
    values.emplace_back(share(fast, fast.overlap_ns));
    values.emplace_back(quantile_of(std::move(by_share), 0.5) * 100);
    values.emplace_back(fit.r);
    values.emplace_back(fit.slope);
    values.emplace_back(fit.half_width);
    values.emplace_back(share(slow, slow.memcpy_overlap_ns));
    out.overlap.add_row(values);
  }
  return out;
}

std::vector<std::string> gemm_findings(const GemmTables& tables, std::size_t most) {
  std::vector<std::string> out;
  const Table& t = tables.overlap;
  std::set<std::pair<std::string, std::string>> told; // one finding per operator and shape
  for (std::size_t r = 0; r < t.rows() && out.size() < most; ++r) {
    if (!told.emplace(t.at(r, "op").text, t.at(r, "input_dims").text).second)
      continue;
    const double overlap = t.at(r, "total_overlap_percentage").number();
    const double slope = t.at(r, "slowdown_per_full_overlap_us").number();
    const double half = t.at(r, "slowdown_ci95_us").number();
    std::string why;
    if (std::isnan(slope))
      why = overlap > 0 ? "too few calls to attribute it" : "no collective runs beside it";
    else if (slope - half > 0)
      why = fmt::format("collectives explain it: {:.1f} +- {:.1f} us slower when fully overlapped",
                        slope, half);
    else
      why = "collectives do not explain it";
    out.push_back(fmt::format(
        "{} rank {}: {} {} varies from {:.1f} to {:.1f} us over {} calls; its slowest call is "
        "overlapped {:.0f} %; {}",
        t.at(r, "configuration").text, t.at(r, "rank").i, t.at(r, "op").text,
        t.at(r, "input_dims").text, t.at(r, "kernel_time_min_us").number(),
        t.at(r, "kernel_time_max_us").number(), t.at(r, "count").i, overlap, why));
  }
  return out;
}

} // namespace rankscope
