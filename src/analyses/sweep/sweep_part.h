// Writes and reads the fields of a rank's sweep record in a part (core/part.h). Raise
// kRankRecordVersion when fields change.
#pragma once

#include "analyses/stats_part.h"
#include "analyses/sweep/sweep.h"

namespace rankscope {

inline constexpr std::uint32_t kRankRecordVersion = 12;

template <class Archive, PartOf<RankRecord::Kernel> Row>
void part_fields(Archive& archive, Row& r) {
  archive(r.sum_ns, r.min_ns, r.max_ns, r.count);
}

template <class Archive, PartOf<StepTimes> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.step, r.start_ns, r.end_ns, r.complete, r.counts_idle);
  for (auto& ns : r.ns)
    archive(ns);
}

template <class Archive, PartOf<Interval> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.start, r.end);
}

template <class Archive, PartOf<CallBlock> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.calls, r.us, r.share, r.share_share, r.speed, r.share_speed, r.alone, r.alone_us,
          r.alone_speed);
}

template <class Archive, PartOf<CallGroup> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.key, r.gemm, r.blocks);
}

template <class Archive, PartOf<RankRecord::GraphTime> Row>
void part_fields(Archive& archive, Row& r) {
  archive(r.gpu_ns, r.graph_ns, r.unattributed_ns);
}

template <class Archive, PartOf<RankRecord> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.key);
  for (auto& ns : r.time_ns)
    archive(ns);
  for (auto& ns : r.idle_ns)
    archive(ns);
  for (auto& gaps : r.idle_gaps)
    archive(gaps);
  for (auto& longest : r.longest_idle)
    archive(longest);
  archive(r.gemm_kernels, r.steps, r.calls, r.error, r.graphs);
}

template <class Archive, PartOf<SyncSummary> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.dtype, r.group, r.group_ranks, r.node_span, r.in_nelems, r.group_size,
          r.full_mib);
  archive(r.latency_us, r.start_skew_us, r.end_skew_us, r.algo_gbps, r.bus_gbps);
  archive(r.count, r.total_latency_ms);
}

} // namespace rankscope
