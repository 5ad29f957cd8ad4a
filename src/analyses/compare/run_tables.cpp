// The sheets that show the data of several runs without comparing them.
#include "analyses/collectives/collective_schemas.h"
#include "analyses/compare/compare_tables.h"
#include "base/units.h"
#include "core/schema.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

using enum CellKind;

/// A row of a run, and the label of the run.
template <class Row> struct Sourced {
  const Row* row = nullptr;
  const std::string* source = nullptr;
};

template <class Row> Schema<Sourced<Row>> sourced(const Schema<Row>& schema, bool source) {
  Schema<Sourced<Row>> out(schema.name(), schema.help());
  out.add_fields_of(schema, [](const Sourced<Row>& r) -> const Row& { return *r.row; });
  if (source)
    out.add({"source", "source", Unit::kNone, kText,
             [](const Sourced<Row>& r) { return Value(*r.source); },
             "label of the run that contains the row"});
  return out;
}

/// A kind of time on one rank of a run.
struct RankKind {
  std::int64_t rank = 0;
  TimeKind kind = TimeKind::kTotal;
  KindTime time;
};

/// A kind of time over the ranks of one run.
struct KindRow {
  TimeKind kind = TimeKind::kTotal;
  const ComparedRun* run = nullptr;
};

Schema<TimelineSummaryRow> summary_schema() {
  using R = TimelineSummaryRow;
  return {"Summary",
          "GPU time by kind, mean and range over the ranks",
          {{"type", [](const R& r) { return time_kind_name(r.kind); }},
           {"time_ms", "time ms", Unit::kMs, &R::mean_ms,
            "GPU time of this kind, mean over the ranks that have this kind"},
           {"percent", Unit::kPercent, &R::mean_percent, "share of total_time"},
           {"ranks", "num_ranks", Unit::kCount, &R::ranks},
           {"min_ms", "min ms", Unit::kMs, &R::min_ms},
           {"max_ms", "max ms", Unit::kMs, &R::max_ms},
           {"slowest_rank", &R::slowest_rank}}};
}

Schema<RankKind> rank_kind_schema() {
  using R = RankKind;
  return {"All_Ranks_Combined",
          "GPU time by kind of every rank",
          {{"type", [](const R& r) { return time_kind_name(r.kind); }},
           {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.time.time_ns); }},
           {"percent", Unit::kPercent, [](const R& r) { return r.time.percent; },
            "share of total_time"},
           {"rank", &R::rank}}};
}

Schema<KindRow> per_rank_schema(const char* name, const std::vector<std::int64_t>& ranks, Unit unit,
                                double (*value)(const KindTime&)) {
  using R = KindRow;
  Schema<R> out(name, "GPU time by kind, one column per rank",
                {{"type", [](const R& r) { return time_kind_name(r.kind); }}});
  for (const std::int64_t rank : ranks)
    out.add({fmt::format("rank_{}", rank),
             std::to_string(rank),
             unit,
             kDouble,
             [rank, value](const R& r) {
               const auto side = r.run->ranks.find(rank);
               if (side == r.run->ranks.end())
                 return Value();
               const auto time = side->second.kinds.find(r.kind);
               return time == side->second.kinds.end() ? Value() : Value(value(time->second));
             },
             {}});
  return out;
}

/// Returns the tables of several runs as one table.
template <class Row, class RowsOf>
Table combined(const Schema<Row>& schema, const std::vector<const ComparedRun*>& runs,
               const RowsOf& rows_of, bool source) {
  std::vector<std::vector<Row>> rows;
  rows.reserve(runs.size()); // `all` contains pointers to these rows
  std::vector<Sourced<Row>> all;
  for (const ComparedRun* run : runs) {
    rows.push_back(rows_of(*run));
    for (const Row& row : rows.back())
      all.push_back({&row, &run->label});
  }
  return sourced(schema, source).table(all);
}

} // namespace

std::vector<Table> timeline_summary_tables(const std::vector<const ComparedRun*>& runs,
                                           bool geomean, bool source) {
  std::vector<std::int64_t> ranks; // in order of their first run
  for (const ComparedRun* run : runs)
    for (const auto& [rank, side] : run->ranks)
      if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
        ranks.push_back(rank);
  const auto rank_kinds = [](const ComparedRun& run) {
    std::vector<RankKind> out;
    const std::vector<TimeKind> kinds = kinds_of({&run});
    for (const auto& [rank, side] : run.ranks)
      for (const TimeKind kind : kinds)
        if (const auto found = side.kinds.find(kind); found != side.kinds.end())
          out.push_back({rank, kind, found->second});
    return out;
  };
  const auto kind_rows = [](const ComparedRun& run) {
    std::vector<KindRow> out;
    for (const TimeKind kind : kinds_of({&run}))
      out.push_back({kind, &run});
    return out;
  };
  std::vector<Table> out;
  out.push_back(combined(
      summary_schema(), runs,
      [geomean](const ComparedRun& run) { return timeline_summary(run, geomean); }, source));
  out.push_back(combined(rank_kind_schema(), runs, rank_kinds, source));
  out.push_back(combined(per_rank_schema("Per_Rank_Time_ms", ranks, Unit::kMs,
                                         [](const KindTime& t) { return ns_to_ms(t.time_ns); }),
                         runs, kind_rows, source));
  out.push_back(combined(per_rank_schema("Per_Rank_Percent", ranks, Unit::kPercent,
                                         [](const KindTime& t) { return t.percent; }),
                         runs, kind_rows, source));
  return out;
}

std::vector<Table> collective_summary_tables(const std::vector<const ComparedRun*>& runs) {
  std::vector<std::string> agg_metrics;
  std::vector<std::string> notes;
  bool nodes = false;
  for (const ComparedRun* run : runs) {
    const RunCollectives& c = run->collectives;
    if (!c.summary.empty()) {
      for (const std::string& agg : c.agg_metrics)
        if (std::find(agg_metrics.begin(), agg_metrics.end(), agg) == agg_metrics.end())
          agg_metrics.push_back(agg);
      if (notes.empty())
        notes = c.notes;
    }
    nodes = nodes || std::any_of(c.rank_summary.begin(), c.rank_summary.end(),
                                 [](const RankSummary& s) { return s.node.has_value(); });
  }
  std::vector<Table> out;
  out.push_back(combined(
      sync_summary_schema(agg_metrics), runs,
      [](const ComparedRun& run) { return run.collectives.summary; }, true));
  out.back().notes = std::move(notes);
  out.push_back(combined(
      rank_summary_schema("nccl_summary_long", nodes), runs,
      [](const ComparedRun& run) { return run.collectives.rank_summary; }, true));
  std::erase_if(out, [](const Table& t) { return t.rows() == 0; });
  return out;
}

} // namespace rankscope
