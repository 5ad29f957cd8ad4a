// Sheets with one row per collective or per kernel.
#include "analyses/collectives/collective_schemas.h"

#include "analyses/collectives/collective_sums.h"
#include "base/not_negative.h"
#include "base/units.h"
#include "core/reference_time.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

using enum CellKind;
constexpr const char* kSpanHelp =
    "intra_node: all members are on one node; inter_node: members are on several nodes";
constexpr const char* kStepHelp =
    "number of the profiler step in which the collective was launched; if the trace does not "
    "contain the launch, the step of the launched work before it on its stream";

std::optional<std::int64_t> step_of(const Collective& c) {
  return not_negative(c.step);
}

} // namespace

Schema<CollectiveKernel> collective_kernel_schema(const ReferenceForm& reference) {
  using R = CollectiveKernel;
  const auto text = [](StrId Collective::*id) {
    return [id](const R& r) { return text_or_blank(r.rank->text(r.collective->*id)); };
  };
  const auto count = [](std::int64_t Collective::*n) {
    return [n](const R& r) { return known(r.collective->*n); };
  };
  const auto mib = [](std::int64_t Collective::*n) {
    return [n](const R& r) { return mib_of(*r.rank, *r.collective, r.collective->*n); };
  };
  Schema<R> schema(
      "nccl_long", "one row per collective kernel and rank",
      {{"collective_id", [](const R& r) { return std::string_view(r.timed->id); },
        "id of the collective, the same on all ranks that took part"},
       {"index_in_group", [](const R& r) { return r.timed->match.index; }},
       {"rank", [](const R& r) { return r.rank->rank; }},
       {"group", "Process Group Name", Unit::kNone, text(&Collective::pg_name)},
       {"group_ranks", "Process Group Ranks", Unit::kNone, text(&Collective::pg_ranks), "",
        ColumnStyle{.nested = true}},
       {"collective", "Collective name", Unit::kNone, text(&Collective::name)},
       {"group_size", "Group size", Unit::kNone, count(&Collective::group_size)},
       {"dtype", text(&Collective::dtype)},
       {"in_nelems", "In msg nelems", Unit::kNone, count(&Collective::in_nelems)},
       {"in_mib", "In msg size (MB)", Unit::kNone, mib(&Collective::in_nelems)},
       {"out_nelems", "Out msg nelems", Unit::kNone, count(&Collective::out_nelems)},
       {"out_mib", "Out msg size (MB)", Unit::kNone, mib(&Collective::out_nelems)},
       {"in_split", "In split size", Unit::kNone, text(&Collective::in_split)},
       {"out_split", "Out split size", Unit::kNone, text(&Collective::out_split)},
       {"stream", [](const R& r) { return r.collective->stream; }},
       {"start_us", "ts", Unit::kNone, [](const R& r) { return reference_us(r.collective->ts_ns); },
        "start of the kernel on the clock of the file, \u00b5s"},
       {"dur_us", "dur", Unit::kNone, [](const R& r) { return ns_to_us(r.collective->dur_ns); },
        "duration of the kernel, \u00b5s"}});
  if (reference.on) {
    if (reference.per_node > 0) {
      schema.add({"node", "node_id", Unit::kNone,
                  [n = reference.per_node](const R& r) { return r.rank->rank / n; },
                  "number of the node: rank divided by the number of GPUs per node"});
      schema.add({"node_span",
                  [n = reference.per_node](const R& r) {
                    return node_span(r.rank->text(r.collective->pg_ranks), n);
                  },
                  kSpanHelp});
    }
    return schema;
  }
  schema.add({"step", [](const R& r) { return step_of(*r.collective); }, kStepHelp});
  const auto us = [&schema](const char* id, const char* label, const char* help, auto ns) {
    schema.add({id, label, Unit::kUs, [ns](const R& r) { return ns_to_us(ns(r)); }, help});
  };
  schema.add(
      {"wait_us", "wait (\u00b5s)", Unit::kUs, kDouble,
       [](const R& r) { return r.timed->waits_known ? Value(ns_to_us(r.wait_ns)) : Value(); },
       "time from the start on this rank to the start of the last member; blank if a member "
       "is missing, or if members of this kind of collective (send, broadcast, unknown) do "
       "not wait for all others"});
  schema.add({"transfer_us", "transfer (\u00b5s)", Unit::kUs, kDouble,
              [](const R& r) {
                return r.timed->waits_known ? Value(ns_to_us(r.collective->dur_ns - r.wait_ns))
                                            : Value();
              },
              "duration of the kernel - wait"});
  us("hidden_compute_us", "hidden by compute (\u00b5s)",
     "part of the duration in which compute kernels ran on this rank",
     [](const R& r) { return r.collective->hidden_compute_ns; });
  us("hidden_memcpy_us", "hidden by memcpy (\u00b5s)",
     "part of the duration in which copies, but no compute kernels, ran on this rank",
     [](const R& r) { return r.collective->hidden_memcpy_ns; });
  us("exposed_us", "exposed (\u00b5s)",
     "part of the duration in which neither compute nor copies ran on this rank", [](const R& r) {
       return r.collective->dur_ns - r.collective->hidden_compute_ns -
              r.collective->hidden_memcpy_ns;
     });
  return schema;
}

bool has_rank_columns(std::span<const RankCollectives> ranks) {
  constexpr std::size_t kMost = 256; // 768 columns; the number of cells grows with the square of
                                     // the number of ranks
  return ranks.size() <= kMost;
}

Schema<SyncCollective> sync_collective_schema(std::span<const RankCollectives> ranks,
                                              const ReferenceForm& reference) {
  using R = SyncCollective;
  const auto text = [](StrId Collective::*id) {
    return
        [id](const R& r) { return text_or_blank(r.timed->first_rank->text(r.timed->first->*id)); };
  };
  const auto count = [](std::int64_t Collective::*n) {
    return [n](const R& r) { return known(r.timed->first->*n); };
  };
  const auto mib = [](std::int64_t Collective::*n) {
    return [n](const R& r) {
      return mib_of(*r.timed->first_rank, *r.timed->first, r.timed->first->*n);
    };
  };
  Schema<R> schema(
      "nccl_implicit_sync", "one row per synchronizing collective, with the times of its ranks",
      {{"collective_id", [](const R& r) { return std::string_view(r.timed->id); }},
       {"group", "Process Group Name", Unit::kNone, text(&Collective::pg_name)},
       {"group_ranks", "Process Group Ranks", Unit::kNone, text(&Collective::pg_ranks), "",
        ColumnStyle{.nested = true}},
       {"collective", "Collective name", Unit::kNone, kText,
        [](const R& r) { return Value(r.timed->first_rank->text(r.timed->first->name)); }},
       {"group_size", "Group size", Unit::kNone, count(&Collective::group_size)},
       {"dtype", text(&Collective::dtype)},
       {"in_nelems", "In msg nelems", Unit::kNone, count(&Collective::in_nelems)},
       {"out_nelems", "Out msg nelems", Unit::kNone, count(&Collective::out_nelems)},
       {"in_mib", "In msg size (MB)", Unit::kNone, mib(&Collective::in_nelems)},
       {"out_mib", "Out msg size (MB)", Unit::kNone, mib(&Collective::out_nelems)},
       {"full_mib", "Full msg size (MB)", Unit::kNone,
        [](const R& r) { return r.timed->full_mib; }},
       {"comm_latency_us", "comm_latency", Unit::kNone,
        [](const R& r) { return ns_to_us(r.timed->latency_ns); },
        "shortest kernel duration among the ranks, \u00b5s"},
       {"start_skew_us", "skew in start time", Unit::kNone, kDouble,
        [](const R& r) {
          return r.timed->waits_known ? Value(ns_to_us(r.start_skew_ns)) : Value();
        },
        "latest start - earliest start among the ranks, \u00b5s; blank if a member is missing"},
       {"earliest_rank", "earliest arrival rank", Unit::kNone, &R::earliest_rank},
       {"wait_us_mean", "avg_wait_time", Unit::kNone, kDouble,
        [](const R& r) { return r.timed->waits_known ? Value(r.mean_wait_us()) : Value(); },
        "time from a rank's start to the last member's start, mean over the ranks, \u00b5s"},
       {"end_skew_us", "skew in end time", Unit::kNone,
        [](const R& r) { return ns_to_us(r.timed->end_skew_ns); },
        "latest end - earliest end among the ranks, \u00b5s"},
       {"algo_bw_gbps", "algo bw (GB/s)", Unit::kNone,
        [](const R& r) { return r.timed->algo_gbps; }, "full message size divided by comm_latency"},
       {"bus_bw_gbps", "bus bw (GB/s)", Unit::kNone, [](const R& r) { return r.timed->bus_gbps; },
        "bus bandwidth: algorithm bandwidth x the factor of nccl-tests for this collective"}});
  if (!reference.on)
    schema.add({"step", [](const R& r) { return step_of(*r.timed->first); }, kStepHelp});
  using Times = Value (*)(const TimedCollective&, std::size_t);
  const std::pair<const char*, Times> kinds[] = {
      {"ts",
       [](const TimedCollective& t, std::size_t k) { return Value(reference_us(t.start_ns[k])); }},
      {"dur", [](const TimedCollective& t,
                 std::size_t k) { return Value(ns_to_us(t.end_ns[k] - t.start_ns[k])); }},
      {"wait_time", [](const TimedCollective& t, std::size_t k) {
         return t.waits_known ? Value(ns_to_us(t.wait_ns[k])) : Value();
       }}};
  for (std::size_t position = 0; has_rank_columns(ranks) && position < ranks.size(); ++position)
    for (const auto& [what, time] : kinds) {
      const std::string label = fmt::format("rank_{}_{}", ranks[position].rank, what);
      schema.add({label + "_us",
                  label,
                  Unit::kUs,
                  kDouble,
                  [position, time = time](const R& r) {
                    const auto& members = r.timed->match.members; // ascending by position
                    const auto at = std::lower_bound(members.begin(), members.end(),
                                                     std::pair(position, std::size_t{0}));
                    if (at != members.end() && at->first == position)
                      return time(*r.timed, static_cast<std::size_t>(at - members.begin()));
                    return Value();
                  },
                  {}});
    }
  if (reference.on && reference.per_node > 0)
    schema.add({"node_span",
                [n = reference.per_node](const R& r) {
                  return node_span(r.timed->first_rank->text(r.timed->first->pg_ranks), n);
                },
                kSpanHelp});
  return schema;
}

Schema<AllToAllV> all_to_all_v_schema() {
  using R = AllToAllV;
  return {"nccl_all2allv",
          "one row per all-to-all-v collective",
          {{"collective_id", [](const R& r) { return std::string_view(r.timed->id); }},
           {"group", "Process Group Name", Unit::kNone,
            [](const R& r) { return std::string_view(r.timed->match.pg); }},
           {"group_ranks", "Process Group Ranks", Unit::kNone, kText,
            [](const R& r) { return Value(r.timed->first_rank->text(r.timed->first->pg_ranks)); },
            "", ColumnStyle{.nested = true}},
           {"dtype", "dtype", Unit::kNone, kText,
            [](const R& r) { return Value(r.timed->first_rank->text(r.timed->first->dtype)); }},
           {"group_size", "Group size", Unit::kNone,
            [](const R& r) { return known(r.timed->first->group_size); }},
           {"sent_mib", "total data communicated (MB)", Unit::kNone, &R::sent_mib},
           {"nelems", "total nelems", Unit::kNone, &R::nelems},
           {"wall_us", "wall_time (us)", Unit::kNone, &R::wall_us,
            "time from the first start to the last end of a member"},
           {"max_us", "max_rank_dur (us)", Unit::kNone, &R::max_us},
           {"min_us", "min_rank_dur (us)", Unit::kNone, &R::min_us},
           {"mean_us", "avg_rank_dur (us)", Unit::kNone, &R::mean_us},
           {"throughput_gbps", "throughput (GB/s)", Unit::kNone, &R::throughput_gbps},
           {"imbalance", "size_imbalance", Unit::kNone, &R::imbalance,
            "largest amount of data that a rank sent, divided by the mean amount per rank"},
           {"start_skew_us", "skew in start time", Unit::kNone, &R::start_skew_us,
            "latest start - earliest start among the ranks, \u00b5s"},
           {"end_skew_us", "skew in end time", Unit::kNone,
            [](const R& r) { return ns_to_us(r.timed->end_skew_ns); },
            "latest end - earliest end among the ranks, \u00b5s"}}};
}

} // namespace rankscope
