// The columns of the NCCL sheets.
#include "analyses/batch/batch_facts.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

using enum CellKind;
using C = BatchCollective;

/// Returns the name of the group; "Unknown_Group" if the trace does not name the group.
std::string_view group_of(const RankCollectives& ranks, const Collective& c) {
  const std::string_view name = ranks.text(c.pg_name);
  return name.empty() ? std::string_view("Unknown_Group") : name;
}

Field<C> text(const char* id, const char* label, StrId Collective::*field) {
  return {id, label, Unit::kNone,
          [field](const C& c) { return text_or_blank(c.first_rank->text(c.first->*field)); },
          "value that the first rank of the collective recorded"};
}
Field<C> integer(const char* id, const char* label, std::int64_t Collective::*field) {
  return {id, label, Unit::kNone, [field](const C& c) { return known(c.first->*field); },
          "value that the first rank of the collective recorded"};
}
/// Returns a schema with the columns from collective_id to dtype.
Schema<C> identity(std::string_view name, std::string_view help) {
  return {name,
          help,
          {{"collective_id", &C::id,
            "id of the collective in the form GROUP_INDEX, the same on all ranks"},
           {"group", "Process Group Name", Unit::kNone,
            [](const C& c) { return group_of(*c.first_rank, *c.first); },
            "value that the first rank of the collective recorded"},
           text("group_ranks", "Process Group Ranks", &Collective::pg_ranks),
           text("collective", "Collective name", &Collective::name),
           integer("group_size", "Group size", &Collective::group_size),
           text("dtype", "dtype", &Collective::dtype)}};
}

Schema<C> sync_schema(const char* name) {
  Schema<C> schema = identity(
      name, "one row per synchronizing collective (no rank leaves before all have entered)");
  schema.add(integer("in_nelems", "In msg nelems", &Collective::in_nelems));
  schema.add(integer("out_nelems", "Out msg nelems", &Collective::out_nelems));
  schema.add({"in_mib", "In msg size (MB)", Unit::kMiB, &C::in_mib,
              "size of a rank's input, in units of 2^20 bytes"});
  schema.add({"out_mib", "Out msg size (MB)", Unit::kMiB, &C::out_mib,
              "size of a rank's output, in units of 2^20 bytes"});
  schema.add({"full_mib", "Full msg size (MB)", Unit::kMiB, &C::full_mib,
              "message size, in units of 2^20 bytes: output of an all-gather, input of any other "
              "collective"});
  schema.add({"latency_us", "comm_latency", Unit::kUs, &C::latency_us,
              "shortest kernel duration among the ranks, \u00b5s"});
  schema.add({"start_skew_us", "skew in start time", Unit::kUs, &C::start_skew_us,
              "latest start - earliest start among the ranks, \u00b5s"});
  schema.add({"earliest_rank", "earliest arrival rank", Unit::kNone, &C::earliest_rank,
              "rank that started first and waited longest"});
  schema.add({"wait_us_mean", "avg_wait_time", Unit::kUs, &C::mean_wait_us,
              "time from a rank's start to the last rank's start, mean over the ranks, \u00b5s"});
  schema.add({"end_skew_us", "skew in end time", Unit::kUs, &C::end_skew_us,
              "latest end - earliest end among the ranks, \u00b5s"});
  schema.add({"algo_gbps", "algo bw (GB/s)", Unit::kGBps, &C::algo_gbps,
              "full message size divided by comm_latency"});
  schema.add({"bus_gbps", "bus bw (GB/s)", Unit::kGBps, &C::bus_gbps,
              "algo bw multiplied by the factor of nccl-tests for this collective"});
  return schema;
}

/// The columns of one rank: start and duration, or the wait.
struct RankColumn {
  std::int64_t rank = 0;
  bool wait = false;
};

/// Returns the columns in the reference's order: start and duration of each rank of a row, then the
/// waits. Columns of ranks that appear only in a later row are appended.
std::vector<RankColumn> rank_columns(const std::vector<C>& rows) {
  std::vector<RankColumn> out;
  const auto add = [&out](std::int64_t rank, bool wait) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const RankColumn& c) { return c.rank == rank && c.wait == wait; }))
      out.push_back({rank, wait});
  };
  for (const C& row : rows)
    for (const bool wait : {false, true})
      for (const C::Member& m : row.members)
        add(m.rank, wait);
  return out;
}

Value member_cell(const C& c, std::int64_t rank, double C::Member::*field) {
  for (const C::Member& m : c.members)
    if (m.rank == rank)
      return Value(m.*field);
  return {};
}

Schema<C> detailed_schema(const std::vector<C>& rows) {
  Schema<C> schema = sync_schema("nccl_implicit_sync_cat_detailed");
  const auto add = [&schema](std::int64_t rank, const char* what, Unit unit,
                             double C::Member::*field, const char* help) {
    const std::string name = fmt::format("rank_{}_{}", rank, what);
    schema.add({name, name, unit, kDouble,
                [rank, field](const C& c) { return member_cell(c, rank, field); }, help});
  };
  for (const RankColumn& column : rank_columns(rows)) {
    if (column.wait) {
      add(column.rank, "wait_time", Unit::kUs, &C::Member::wait_us,
          "time from the start on this rank to the last rank's start, \u00b5s");
      continue;
    }
    add(column.rank, "ts", Unit::kNone, &C::Member::ts_us,
        "start on this rank, \u00b5s; on the common clock of the ranks if the clocks could be "
        "aligned");
    add(column.rank, "dur", Unit::kUs, &C::Member::dur_us, "duration of the kernel, \u00b5s");
  }
  return schema;
}

Schema<BatchCollectiveSum> sum_schema() {
  using R = BatchCollectiveSum;
  const auto of_first = [](const Field<C>& field) {
    return Field<R>{field.id,
                    field.label,
                    field.unit,
                    field.type,
                    [get = field.get](const R& r) { return get(&*r.first); },
                    field.help};
  };
  Schema<R> schema("summary_nccl_implicit_sync_cat", "collectives by name, type and size");
  schema.add(of_first(text("collective", "Collective name", &Collective::name)));
  schema.add(of_first(text("dtype", "dtype", &Collective::dtype)));
  schema.add(of_first(integer("in_nelems", "In msg nelems", &Collective::in_nelems)));
  schema.add({"group", "Process Group Name", Unit::kNone,
              [](const R& r) { return group_of(*r.first->first_rank, *r.first->first); },
              "process group of the first collective of the row"});
  schema.add(of_first(integer("group_size", "Group size", &Collective::group_size)));
  schema.add(of_first({"full_mib", "Full msg size (MB)", Unit::kMiB, &C::full_mib,
                       "message size, in units of 2^20 bytes: output of an all-gather, input of "
                       "any other collective"}));
  constexpr std::array kMeanOnly{kMean};
  add_stats(schema, "latency_us", "comm_latency", Unit::kUs, &R::latency_us, kMeanOnly,
            "shortest kernel duration among the ranks, \u00b5s");
  add_stats(schema, "start_skew_us", "skew in start time", Unit::kUs, &R::start_skew_us, kMeanOnly,
            "latest start - earliest start among the ranks, \u00b5s");
  add_stats(schema, "end_skew_us", "skew in end time", Unit::kUs, &R::end_skew_us, kMeanOnly,
            "latest end - earliest end among the ranks, \u00b5s");
  add_stats(schema, "algo_gbps", "algo bw (GB/s)", Unit::kGBps, &R::algo_gbps, kMeanOnly,
            "full message size divided by comm_latency");
  add_stats(schema, "bus_gbps", "bus bw (GB/s)", Unit::kGBps, &R::bus_gbps, kMeanOnly,
            "algo bw multiplied by the factor of nccl-tests for this collective");
  schema.add({"count", Unit::kCount, &R::count, "number of collectives in the row"});
  schema.add({"total_latency_ms", "Total comm latency (ms)", Unit::kMs,
              [](const R& r) { return r.latency_us.sum / 1e3; },
              "sum of comm_latency over the collectives of the row"});
  return schema;
}

Schema<BatchLongRow> long_schema() {
  using R = BatchLongRow;
  const auto texts = [](const char* id, const char* label, StrId Collective::*field) {
    return Field<R>{id, label, Unit::kNone, [field](const R& r) {
                      return text_or_blank(r.rank_data->text(r.collective->*field));
                    }};
  };
  const auto count = [](const char* id, const char* label, std::int64_t Collective::*field) {
    return Field<R>{id, label, Unit::kNone,
                    [field](const R& r) { return known(r.collective->*field); }};
  };
  return Schema<R>(
      "long", "one row per collective kernel and rank",
      {{"collective_id", [](const R& r) { return text_or_blank(r.id); },
        "id of the collective in the form GROUP_INDEX, the same on all ranks"},
       {"index_in_group", &R::index, "index of the collective in its process group, from 0"},
       {"rank", &R::rank},
       {"group", "Process Group Name", Unit::kNone,
        [](const R& r) { return group_of(*r.rank_data, *r.collective); },
        "name of the process group in the trace"},
       texts("group_ranks", "Process Group Ranks", &Collective::pg_ranks),
       texts("collective", "Collective name", &Collective::name),
       count("group_size", "Group size", &Collective::group_size),
       texts("dtype", "dtype", &Collective::dtype),
       count("in_nelems", "In msg nelems", &Collective::in_nelems),
       {"in_mib", "In msg size (MB)", Unit::kMiB, &R::in_mib,
        "size of a rank's input, in units of 2^20 bytes"},
       count("out_nelems", "Out msg nelems", &Collective::out_nelems),
       {"out_mib", "Out msg size (MB)", Unit::kMiB, &R::out_mib,
        "size of a rank's output, in units of 2^20 bytes"},
       texts("in_split", "In split size", &Collective::in_split),
       texts("out_split", "Out split size", &Collective::out_split),
       {"stream", "stream", Unit::kNone, kInt,
        [](const R& r) { return r.collective->stream < 0 ? Value() : Value(r.collective->stream); },
        "GPU stream on which the kernel ran"},
       {"start_us", "ts", Unit::kNone, &R::ts_us,
        "start of the kernel on the clock of the file, \u00b5s"},
       {"dur_us", "dur", Unit::kNone, &R::dur_us, "duration of the kernel, \u00b5s"}});
}

/// Returns last start - first start. The result is known for all-to-all-v even if the waits are
/// unknown.
double start_skew(const C& c) {
  if (c.members.empty())
    return std::numeric_limits<double>::quiet_NaN();
  double first = c.members.front().ts_us;
  double last = first;
  for (const C::Member& m : c.members) {
    first = std::min(first, m.ts_us);
    last = std::max(last, m.ts_us);
  }
  return last - first;
}

Schema<C> all_to_all_v_schema() {
  Schema<C> schema = identity(
      "nccl_all2allv", "one row per all-to-all-v collective (message sizes differ between ranks)");
  schema.add({"stream", "stream", Unit::kNone, kInt,
              [](const C& c) { return c.first->stream < 0 ? Value() : Value(c.first->stream); },
              "value that the first rank of the collective recorded"});
  schema.add({"sent_mib", "total data communicated (MB)", Unit::kMiB, &C::sent_mib,
              "input sizes summed over the ranks, in units of 2^20 bytes"});
  schema.add({"sent_nelems", "total nelems communicated", Unit::kCount, &C::sent_nelems,
              "number of input elements, summed over the ranks"});
  schema.add({"start_skew_us", "skew in start time", Unit::kUs,
              [](const C& c) { return start_skew(c); },
              "latest start - earliest start among the ranks, \u00b5s"});
  schema.add({"end_skew_us", "skew in end time", Unit::kUs, &C::end_skew_us,
              "latest end - earliest end among the ranks, \u00b5s"});
  return schema;
}

} // namespace

std::vector<Table> batch_collective_tables(const BatchCollectives& facts) {
  std::vector<Table> out;
  if (facts.kernels.empty())
    return out;
  if (!facts.sums.empty())
    out.push_back(sum_schema().table(facts.sums));
  out.push_back(long_schema().table(facts.kernels));
  if (!facts.synchronous.empty()) {
    out.push_back(sync_schema("nccl_implicit_sync_cat").table(facts.synchronous));
    out.push_back(detailed_schema(facts.synchronous).table(facts.synchronous));
  }
  if (!facts.all_to_all_v.empty())
    out.push_back(all_to_all_v_schema().table(facts.all_to_all_v));
  return out;
}

std::vector<SheetInfo> batch_collective_sheets() {
  std::vector<C> example(1);
  example.front().members.emplace_back();
  return {sum_schema().info(), long_schema().info(), sync_schema("nccl_implicit_sync_cat").info(),
          detailed_schema(example).info(), all_to_all_v_schema().info()};
}

} // namespace rankscope
