// The fields of what analyze keeps, as parts (core/part.h). Change them and raise kStateVersion.
#pragma once

#include "app/analyze_state.h"
#include "core/part.h"

#include <concepts>
#include <type_traits>

namespace rankscope {

inline constexpr std::uint32_t kStateVersion = 1;

template <class Row, class T>
concept PartOf = std::same_as<std::remove_const_t<Row>, T>;

template <class Archive, PartOf<Parameter> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.value);
}

template <class Archive, PartOf<Configuration> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.label, r.parameters);
}

template <class Archive, PartOf<RunKey> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.configuration, r.rank);
}

template <class Archive, PartOf<Stats> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.sum, r.mean, r.median, r.std_sample, r.std_population, r.min, r.max, r.count);
}

template <class Archive, PartOf<RankRecord::Kernel> Row>
void part_fields(Archive& archive, Row& r) {
  archive(r.sum_ns, r.min_ns, r.max_ns, r.count);
}

template <class Archive, PartOf<RankRecord> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.key);
  for (auto& ns : r.time_ns)
    archive(ns);
  archive(r.gemm_kernels, r.error);
}

template <class Archive, PartOf<SheetColumn> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.id, r.label);
}

template <class Archive, PartOf<SheetCell> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.kind, static_cast<std::uint64_t>(CellKind::kText) + 1);
  archive(r.i, r.d, r.text);
}

template <class Archive, PartOf<GemmExtreme> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.start_ns, r.dur_ns, r.step, r.overlap_ns, r.measured_ns);
}

template <class Archive, PartOf<GemmRow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.key, r.kernel, r.op, r.dims, r.types, r.strides, r.stream, r.first_uid);
  archive(r.calls_us, r.calls_p95_us, r.range_us, r.total_excess_us, r.gemm_share_percent);
  archive(r.kernel_us, r.kernel_p95_us, r.shortest, r.longest, r.longest_is_first);
  archive(r.trace_start_ns, r.neighbour_count, r.neighbour_names, r.most_neighbour);
  archive(r.most_neighbour_ns, r.longest_memcpy_ns, r.median_overlap_percent);
  archive(r.overlap_correlation, r.slowdown_us, r.slowdown_half_us, r.sheet);
}

template <class Archive, PartOf<GemmFacts> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.sheet_columns, r.rows);
  if constexpr (Archive::kReads)
    for (const GemmRow& row : r.rows)
      if (!row.sheet.empty() && row.sheet.size() != r.sheet_columns.size())
        archive.fail("a row does not have the columns of its sheet");
}

template <class Archive, PartOf<TimelineRow> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.kind, kTimeKinds);
  archive(r.time_ns, r.percent, r.recompute);
}

template <class Archive, PartOf<OpsSummaryRow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.recompute, r.count, r.direct_ns, r.subtree_ns, r.categories, r.percent,
          r.cumulative_percent);
}

template <class Archive, PartOf<ComparedRank> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.timeline, r.ops);
}

template <class Archive, PartOf<SyncSummary> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.dtype, r.group, r.in_nelems, r.group_size, r.full_mib);
  archive(r.latency_us, r.start_skew_us, r.end_skew_us, r.algo_gbps, r.bus_gbps);
  archive(r.count, r.total_latency_ms);
}

template <class Archive, PartOf<ConfigResult> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.configuration, r.records, r.gemms, r.compared, r.collectives, r.collective_file,
          r.outputs, r.whole);
}

template <class Archive, PartOf<SweepState> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.top_k);
  archive.choice(r.ranking, static_cast<std::uint64_t>(GemmRanking::kTotalExcess) + 1);
  archive(r.labels);
}

} // namespace rankscope
