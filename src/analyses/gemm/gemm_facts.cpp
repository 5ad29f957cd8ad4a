#include "analyses/gemm/gemm_facts.h"

#include "base/not_negative.h"
#include "base/pointers.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>

namespace rankscope {
namespace {

/// Least range of overlapped shares at a place from which a slowdown is estimated.
constexpr double kLeastShareRange = 0.25;

double cv(const Stats& s) {
  return s.mean > 0 ? s.std_sample / s.mean : kNaN;
}

/// Returns the value that orders the rows. A spread that is NaN, as for a single call, counts as 0.
double score(const GemmRow& row, GemmRanking ranking) {
  const auto or_zero = [](double v) { return std::isnan(v) ? 0.0 : v; };
  switch (ranking) {
  case GemmRanking::kRange:
    return or_zero(row.range_us);
  case GemmRanking::kCv:
    return or_zero(cv(row.calls_us));
  case GemmRanking::kTotalExcess:
    return or_zero(row.total_excess_us);
  }
  return 0;
}

GemmExtreme extreme_of(const GemmInstance& call, const std::optional<std::int64_t>& measured) {
  return {call.start_ns, call.end_ns, call.dur_ns, call.step, call.overlap_ns, measured};
}

double us_quantile(const std::vector<std::int64_t>& ns, double q) {
  std::vector<double> us;
  us.reserve(ns.size());
  for (const std::int64_t v : ns)
    us.push_back(ns_to_us(v));
  return quantile_of(std::move(us), q);
}

/// Returns a row with the values that the ranking needs. Sums are in nanoseconds, so the order and
/// number of the calls do not affect the last digit of a cell.
GemmRow begun_row(const RankGemms& rank, const GemmGroup& g) {
  GemmRow row;
  std::vector<std::int64_t> ns;
  ns.reserve(g.instances.size());
  for (const GemmInstance& i : g.instances)
    ns.push_back(i.dur_ns);
  const std::int64_t total_ns = std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
  const std::int64_t count = static_cast<std::int64_t>(ns.size());
  row.calls_p95_us = us_quantile(ns, 0.95);
  row.calls_us = stats_of_ns(std::move(ns));
  row.range_us = ns_to_us(g.range_ns());
  row.total_excess_us = ns_to_us(total_ns - g.instances[g.shortest].dur_ns * count);
  row.gemm_share_percent = percent_of(total_ns, rank.gemm_ns);
  return row;
}

/// Fits duration on overlapped share by least squares, with a separate level for each place in the
/// step (the first call of this shape in each step, the second, and so on). Both the overlap and
/// other effects on durations (caches, layers) depend on the place. So places are not compared with
/// each other. Without steps there is one level. The share has the duration as its denominator, so
/// durations that vary for any reason change it: if the overlapped time (or the time without
/// overlap) is the same in all calls, the slope is the product of two durations over this time,
/// which is at least the longest call. Such slopes, and places with nearly the same share in all
/// calls, say nothing about a slowdown.
void add_slowdown(GemmRow& row, const GemmGroup& g, const std::vector<double>& overlap,
                  const std::vector<double>& us) {
  std::map<std::int64_t, std::size_t> calls_of_step;
  std::map<std::size_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < g.instances.size(); ++i) {
    const std::int64_t step = g.instances[i].step;
    places[step < 0 ? 0 : calls_of_step[step]++].push_back(i);
  }
  std::vector<double> x;
  std::vector<double> y;
  std::size_t levels = 0;
  for (const auto& [place, calls] : places) {
    const auto [least, most] =
        std::ranges::minmax(calls, {}, [&](std::size_t i) { return overlap[i]; });
    if (calls.size() < 2 || overlap[most] - overlap[least] < kLeastShareRange)
      continue;
    ++levels;
    double mean_x = 0;
    double mean_y = 0;
    for (const std::size_t i : calls) {
      mean_x += overlap[i] / static_cast<double>(calls.size());
      mean_y += us[i] / static_cast<double>(calls.size());
    }
    for (const std::size_t i : calls) {
      x.push_back(overlap[i] - mean_x);
      y.push_back(us[i] - mean_y);
    }
  }
  const LinearFit fit = linear_fit95(x, y);
  const double fitted = static_cast<double>(x.size()) - 2; // degrees of freedom of linear_fit95()
  row.slowdown_degrees = static_cast<double>(x.size()) - static_cast<double>(levels) - 1;
  if (std::isnan(fit.slope) || row.slowdown_degrees < 1 || std::fabs(fit.slope) >= row.calls_us.max)
    return;
  row.overlap_correlation = fit.r;
  row.slowdown_us = fit.slope;
  row.slowdown_half_us = fit.half_width * student_t95(row.slowdown_degrees) / student_t95(fitted) *
                         std::sqrt(fitted / row.slowdown_degrees);
}

void add_overlap(GemmRow& row, const GemmGroup& g) {
  const GemmNeighbour* most = nullptr;
  for (const GemmNeighbour& n : g.longest_neighbours) {
    row.neighbour_names += (row.neighbour_names.empty() ? "" : ";") + n.name;
    if (most == nullptr || n.overlap_ns > most->overlap_ns)
      most = &n;
  }
  row.neighbour_count = static_cast<std::int64_t>(g.longest_neighbours.size());
  if (most != nullptr) {
    row.most_neighbour = most->name;
    row.most_neighbour_ns = most->overlap_ns;
  }
  row.longest_busy = g.longest_busy;
  row.longest_memcpy_ns = g.instances[g.longest].memcpy_overlap_ns;
  std::vector<double> us;
  std::vector<double> overlap;
  for (const GemmInstance& i : g.instances) {
    us.push_back(ns_to_us(i.dur_ns));
    overlap.push_back(percent_of(i.overlap_ns, i.dur_ns) / 100);
  }
  add_slowdown(row, g, overlap, us);
  row.median_overlap_percent = quantile_of(std::move(overlap), 0.5) * 100;
}

void complete(GemmRow& row, const RankGemms& rank, const GemmGroup& g) {
  row.key = rank.key;
  row.kernel = g.kernel;
  row.served = g.served;
  row.op = g.op;
  row.dims = g.dims;
  row.types = g.types;
  row.strides = g.strides;
  row.stream = g.stream;
  row.device = g.device;
  row.first_uid = g.first_uid;
  row.kernel_us = stats_of_ns(g.kernel_ns);
  row.kernel_p95_us = us_quantile(g.kernel_ns, 0.95);
  row.shortest = extreme_of(g.instances[g.shortest], g.shortest_measured_ns);
  row.longest = extreme_of(g.instances[g.longest], g.longest_measured_ns);
  row.longest_is_first = g.longest == 0 && g.instances.size() > 1;
  row.trace_start_ns = rank.trace_start_ns;
  row.calls = thinned_calls(g.instances, rank.trace_start_ns);
  add_overlap(row, g);
  if (g.sheet_row)
    row.sheet = rank.sheet[*g.sheet_row];
}

/// Returns the rows of the top k groups of one rank, in the order of its groups.
GemmFacts facts_of_rank(const RankGemms& rank, std::size_t top_k, GemmRanking ranking) {
  struct Begun {
    GemmRow row;
    const GemmGroup* group;
    double score;
  };
  std::vector<Begun> begun;
  for (const GemmGroup& g : rank.groups) {
    GemmRow row = begun_row(rank, g);
    const double key = score(row, ranking);
    begun.push_back({std::move(row), &g, key});
  }
  sort_stably(begun, [](const Begun& a, const Begun& b) { return a.score > b.score; });
  if (begun.size() > top_k)
    begun.resize(top_k);
  GemmFacts out;
  for (Begun& b : begun) {
    complete(b.row, rank, *b.group);
    if (!b.row.sheet.empty())
      out.sheet_columns = rank.sheet_columns;
    out.rows.push_back(std::move(b.row));
  }
  return out;
}

std::optional<std::int64_t> known_step(const GemmExtreme& e) {
  return not_negative(e.step);
}

void add_documented(Schema<GemmRow>& schema) {
  using R = GemmRow;
  schema.add({"threads", [](const R& r) { return r.key.configuration.threads(); },
              "number of threads of a collective in the configuration"});
  schema.add({"channel", [](const R& r) { return r.key.configuration.channels_or_cus(); },
              "number of channels (or compute units) of a collective in the configuration"});
  schema.add({"rank", [](const R& r) { return r.key.rank; }, ""});
  schema.add({"kernel_name", &R::kernel, "kernel with the most time in the calls of the row"});
  schema.add({"kernel_time_min_us", Unit::kUs, [](const R& r) { return r.calls_us.min; },
              "duration of the shortest call"});
  schema.add({"kernel_time_max_us", Unit::kUs, [](const R& r) { return r.calls_us.max; },
              "duration of the longest call"});
  schema.add({"time_diff_us", Unit::kUs, &R::range_us,
              "duration of the longest call - duration of the shortest call"});
}

void add_configuration_columns(Schema<GemmRow>& schema) {
  using R = GemmRow;
  schema.add({"configuration",
              [](const R& r) { return std::string_view(r.key.configuration.label); }, ""});
  schema.add({"op", &R::op, "name of the operator; '(kernel)' if no operator was recorded"});
  schema.add({"input_dims", &R::dims, "shapes of the operator's inputs"});
  schema.add({"input_types", &R::types, "data types of the operator's inputs"});
  schema.add({"input_strides", &R::strides, "strides of the operator's inputs"});
  schema.add({"stream", &R::stream, ""});
  schema.add({"device", [](const R& r) { return not_negative(r.device); },
              "number of the GPU in the trace"});
  schema.add({"count", Unit::kCount, [](const R& r) { return r.calls_us.count; },
              "number of calls in the row"});
  schema.add({"median_us", Unit::kUs, [](const R& r) { return r.calls_us.median; },
              "median duration of a call"});
  schema.add({"p95_us", Unit::kUs, &R::calls_p95_us,
              "95th percentile of the duration of a call, interpolated between calls"});
  schema.add({"mean_us", Unit::kUs, [](const R& r) { return r.calls_us.mean; },
              "mean duration of a call"});
  schema.add({"std_us", Unit::kUs, [](const R& r) { return r.calls_us.std_sample; },
              "standard deviation of the duration of a call (divisor n - 1)"});
  schema.add({"cv", Unit::kRatio, [](const R& r) { return cv(r.calls_us); },
              "standard deviation of the duration of a call, divided by the mean"});
  schema.add({"total_us", Unit::kUs, [](const R& r) { return r.calls_us.sum; },
              "sum of the durations of the calls"});
  schema.add({"share_of_gemm_time_pct", Unit::kPercent, &R::gemm_share_percent,
              "total_us in percent of the time of all GEMM calls on the rank"});
  schema.add({"total_excess_us", Unit::kUs, &R::total_excess_us,
              "total_us - count x duration of the shortest call"});
  schema.add({"min_step", [](const R& r) { return known_step(r.shortest); },
              "profiler step of the shortest call"});
  schema.add({"max_step", [](const R& r) { return known_step(r.longest); },
              "profiler step of the longest call"});
  schema.add({"max_is_first_iteration", &R::longest_is_first,
              "whether the longest call is the first call"});
  schema.add({"uid_first", "UID_first", Unit::kNone, &R::first_uid,
              "index of the first call in the file's traceEvents"});
  schema.add({"kernel_count", Unit::kCount, [](const R& r) { return r.kernel_us.count; },
              "number of launches of kernel_name in the calls of the row"});
  schema.add({"kernel_min_us", Unit::kUs, [](const R& r) { return r.kernel_us.min; },
              "duration of the shortest launch of kernel_name"});
  schema.add({"kernel_median_us", Unit::kUs, [](const R& r) { return r.kernel_us.median; },
              "median duration of the launches of kernel_name"});
  schema.add({"kernel_p95_us", Unit::kUs, &R::kernel_p95_us,
              "95th percentile of the duration of a launch of kernel_name, interpolated between "
              "launches"});
  schema.add({"kernel_max_us", Unit::kUs, [](const R& r) { return r.kernel_us.max; },
              "duration of the longest launch of kernel_name"});
  schema.add({"kernel_std_us", Unit::kUs, [](const R& r) { return r.kernel_us.std_sample; },
              "standard deviation of the duration of the launches of kernel_name (divisor n - 1)"});
  schema.add(
      {"kernel_cv", Unit::kRatio, [](const R& r) { return cv(r.kernel_us); },
       "standard deviation of the duration of the launches of kernel_name, divided by the mean"});
}

const char* verdict(const GemmExtreme& e) {
  return e.measured_ns == e.dur_ns ? "pass" : "fail";
}

double found_us(const GemmExtreme& e) {
  return e.measured_ns ? ns_to_us(*e.measured_ns) : kNaN;
}

void add_timestamps(Schema<GemmRow>& schema) {
  using R = GemmRow;
  schema.add({"min_duration_timestamp_ms", [](const R& r) { return ns_to_ms(r.shortest.start_ns); },
              "start of the shortest call, on the clock of the file"});
  schema.add({"max_duration_timestamp_ms", [](const R& r) { return ns_to_ms(r.longest.start_ns); },
              "start of the longest call, on the clock of the file"});
  schema.add(
      {"time_between_min_max_ms",
       [](const R& r) { return ns_to_ms(std::abs(r.longest.start_ns - r.shortest.start_ns)); },
       "time between the starts of the shortest and the longest call"});
  schema.add({"min_duration_found_us", Unit::kUs, [](const R& r) { return found_us(r.shortest); },
              "duration of the shortest call, computed again from its kernels in the trace"});
  schema.add({"max_duration_found_us", Unit::kUs, [](const R& r) { return found_us(r.longest); },
              "duration of the longest call, computed again from its kernels in the trace"});
  for (const auto& [name, extreme] :
       {std::pair("min_verified", &R::shortest), std::pair("max_verified", &R::longest)})
    schema.add({name, [extreme = extreme](const R& r) { return verdict(r.*extreme); },
                "pass: the duration that was computed again is equal to the reported duration; "
                "fail: it is different"});
  schema.add({"min_from_trace_start_ms",
              [](const R& r) { return ns_to_ms(r.shortest.start_ns - r.trace_start_ns); },
              "time from the first GPU event to the start of the shortest call"});
  schema.add({"max_from_trace_start_ms",
              [](const R& r) { return ns_to_ms(r.longest.start_ns - r.trace_start_ns); },
              "time from the first GPU event to the start of the longest call"});
  schema.add({"min_duration_timestamp_ns", [](const R& r) { return r.shortest.start_ns; },
              "exact start of the shortest call, on the clock of the file"});
  schema.add({"max_duration_timestamp_ns", [](const R& r) { return r.longest.start_ns; },
              "exact start of the longest call, on the clock of the file"});
  schema.add(
      {"max_duration_busy_ns", &R::longest_busy,
       "times in which a kernel of the longest call ran, START-END;START-END, on the clock of "
       "the file"});
}

void add_overlaps(Schema<GemmRow>& schema) {
  using R = GemmRow;
  schema.add({"overlapping_collective_count", Unit::kCount, &R::neighbour_count,
              "number of collectives that overlap the longest call"});
  schema.add({"overlapping_collective_names", &R::neighbour_names,
              "names of the collectives that overlap the longest call, separated by ;"});
  schema.add({"max_overlap_percentage", Unit::kPercent,
              [](const R& r) { return percent_of(r.most_neighbour_ns, r.longest.dur_ns); },
              "share of the longest call that max_overlap_collective overlaps"});
  schema.add({"max_overlap_collective", &R::most_neighbour,
              "collective that overlaps the longest call for the longest time"});
  schema.add({"total_overlap_duration_ms",
              [](const R& r) { return ns_to_ms(r.longest.overlap_ns); },
              "time in the longest call during which collectives ran"});
  schema.add({"overlap_evaluated", [](const R&) { return true; },
              "whether the collectives of the rank are known"});
  schema.add({"total_overlap_percentage", Unit::kPercent,
              [](const R& r) { return r.longest_overlap_percent(); },
              "share of the longest call during which collectives ran"});
  schema.add({"min_instance_overlap_percentage", Unit::kPercent,
              [](const R& r) { return percent_of(r.shortest.overlap_ns, r.shortest.dur_ns); },
              "share of the shortest call during which collectives ran"});
  schema.add({"median_instance_overlap_percentage", Unit::kPercent, &R::median_overlap_percent,
              "share of a call during which collectives ran, median over the calls"});
  schema.add({"duration_overlap_correlation", &R::overlap_correlation,
              "Pearson correlation between the duration of a call and the share of the call that "
              "collectives overlap; only calls at the same place in the step are compared"});
  schema.add({"slowdown_per_full_overlap_us", Unit::kUs, &R::slowdown_us,
              "increase of a call's duration from no overlap to full overlap by collectives, from "
              "a least-squares fit with a separate level for each place in the step"});
  schema.add({"slowdown_ci95_us", Unit::kUs, &R::slowdown_half_us,
              "half width of the 95 % interval of slowdown_per_full_overlap_us"});
  schema.add({"memcpy_overlap_percentage", Unit::kPercent,
              [](const R& r) { return percent_of(r.longest_memcpy_ns, r.longest.dur_ns); },
              "share of the longest call during which copies ran"});
}

} // namespace

double GemmRow::longest_overlap_percent() const {
  return percent_of(longest.overlap_ns, longest.dur_ns);
}

std::vector<GemmCall> thinned_calls(const std::vector<GemmInstance>& calls, std::int64_t since_ns,
                                    std::size_t most) {
  std::vector<GemmCall> out;
  const auto keep = [&](const GemmInstance& call) {
    out.push_back({call.start_ns - since_ns, call.dur_ns, call.overlap_ns});
  };
  const std::size_t pieces =
      calls.size() <= most ? calls.size() : std::max<std::size_t>(1, most / 2);
  for (std::size_t p = 0; p < pieces; ++p) {
    const auto from = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() * p / pieces);
    const auto to = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() * (p + 1) / pieces);
    const auto [least, longest] = std::minmax_element(
        from, to, [](const GemmInstance& a, const GemmInstance& b) { return a.dur_ns < b.dur_ns; });
    keep(*std::min(least, longest));
    if (least != longest)
      keep(*std::max(least, longest));
  }
  return out;
}

std::string_view gemm_ranking_name(GemmRanking ranking) {
  return std::ranges::find(kGemmRankings, ranking, &std::pair<const char*, GemmRanking>::second)
      ->first;
}

GemmFacts gemm_facts(const std::vector<RankGemms>& ranks, std::size_t top_k, GemmRanking ranking) {
  std::vector<GemmFacts> parts;
  parts.reserve(ranks.size());
  for (const RankGemms& rank : ranks)
    parts.push_back(facts_of_rank(rank, top_k, ranking));
  return join_gemm_facts(pointers_to(parts), ranking);
}

GemmFacts join_gemm_facts(const std::vector<const GemmFacts*>& parts, GemmRanking ranking) {
  GemmFacts out;
  std::map<std::string, std::string> columns; // label to id
  for (const GemmFacts* part : parts)
    for (const SheetColumn& c : part->sheet_columns)
      columns.emplace(c.label, c.id);
  std::map<std::string, std::size_t> place;
  for (const auto& [label, id] : columns) {
    place.emplace(label, place.size());
    out.sheet_columns.push_back({id, label});
  }
  for (const GemmFacts* part : parts)
    for (const GemmRow& row : part->rows) {
      out.rows.push_back(row);
      if (row.sheet.empty())
        continue;
      std::vector<SheetCell> cells(columns.size());
      for (std::size_t i = 0; i < row.sheet.size(); ++i)
        cells[place.at(part->sheet_columns[i].label)] = row.sheet[i];
      out.rows.back().sheet = std::move(cells);
    }
  sort_stably(out.rows, [&](const GemmRow& a, const GemmRow& b) {
    return score(a, ranking) > score(b, ranking);
  });
  return out;
}

Schema<GemmRow> reported_gemm_schema(const std::vector<SheetColumn>& sheet_columns,
                                     std::size_t top_k) {
  Schema<GemmRow> schema(gemm_table_name(top_k, GemmTable::kVariance),
                         "operators (by arguments and rank) whose calls differ most in duration");
  add_documented(schema);
  for (std::size_t i = 0; i < sheet_columns.size(); ++i)
    schema.add({"col_" + sheet_columns[i].id, "col_" + sheet_columns[i].label, Unit::kNone,
                CellKind::kNull,
                [i](const GemmRow& r) { return r.sheet.empty() ? Value() : r.sheet[i].value(); },
                "column of the GEMM sheet of report"});
  return schema;
}

Schema<GemmRow> gemm_schema(const std::vector<SheetColumn>& sheet_columns, GemmTable table,
                            std::size_t top_k) {
  Schema<GemmRow> schema = reported_gemm_schema(sheet_columns, top_k);
  schema.rename(gemm_table_name(top_k, table));
  add_configuration_columns(schema);
  if (table != GemmTable::kVariance)
    add_timestamps(schema);
  if (table == GemmTable::kOverlap)
    add_overlaps(schema);
  return schema;
}

Table gemm_table(const GemmFacts& facts, GemmTable table, std::size_t top_k) {
  return gemm_schema(facts.sheet_columns, table, top_k).table(facts.rows);
}

} // namespace rankscope
