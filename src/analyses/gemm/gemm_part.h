// Writes and reads the fields of GEMM facts in a part (core/part.h). Raise kGemmFactsVersion when
// the fields change.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "analyses/stats_part.h"

namespace rankscope {

inline constexpr std::uint32_t kGemmFactsVersion = 6;

template <class Archive, PartOf<SheetColumn> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.id, r.label);
}

template <class Archive, PartOf<SheetCell> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.kind, static_cast<std::uint64_t>(CellKind::kText) + 1);
  archive(r.i, r.d, r.text);
}

template <class Archive, PartOf<GemmExtreme> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.start_ns, r.end_ns, r.dur_ns, r.step, r.overlap_ns, r.measured_ns);
}

template <class Archive, PartOf<GemmCall> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.at_ns, r.dur_ns, r.overlap_ns);
}

template <class Archive, PartOf<ServedCalls> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.kernel, r.calls);
}

template <class Archive, PartOf<GemmRow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.key, r.kernel, r.served, r.op, r.dims, r.types, r.strides, r.stream, r.device,
          r.first_uid);
  archive(r.calls_us, r.calls_p95_us, r.range_us, r.total_excess_us, r.gemm_share_percent);
  archive(r.kernel_us, r.kernel_p95_us, r.shortest, r.longest, r.longest_is_first);
  archive(r.trace_start_ns, r.neighbour_count, r.neighbour_names, r.most_neighbour);
  archive(r.most_neighbour_ns, r.longest_busy, r.longest_memcpy_ns, r.median_overlap_percent);
  archive(r.overlap_correlation, r.slowdown_us, r.slowdown_half_us, r.slowdown_degrees, r.calls,
          r.sheet);
}

template <class Archive, PartOf<GemmFacts> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.sheet_columns, r.rows);
  if constexpr (Archive::kReads)
    for (const GemmRow& row : r.rows)
      if (!row.sheet.empty() && row.sheet.size() != r.sheet_columns.size())
        archive.fail("a row does not have the columns of its sheet");
}

} // namespace rankscope
