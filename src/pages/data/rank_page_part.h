// The fields of RankPage as a part (core/part.h). If they change, increase kRankPageVersion.
#pragma once

#include "core/run_part.h"
#include "pages/data/rank_page.h"

namespace rankscope {

inline constexpr std::uint32_t kRankPageVersion = 2;

template <class Archive, PartOf<LaneColumns> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.start_ns, r.width_ns);
  archive.list(r.ns, [&](auto& column) {
    for (auto& ns : column)
      archive(ns);
  });
  archive(r.longest, r.begun);
  if constexpr (Archive::kReads)
    if (r.longest.size() != r.ns.size() || r.begun.size() != r.ns.size())
      archive.fail("columns of a lane are not as many as their events");
}

template <class Archive, PartOf<RankPage> Page> void part_fields(Archive& archive, Page& p) {
  archive(p.rank, p.start_ns, p.end_ns, p.base_ns, p.texts);
  const std::size_t texts = p.texts.size();
  archive.list(p.operators, [&](auto& o) {
    archive(o.name, o.category, o.shapes, o.types, o.spec, o.count, o.kernel_ns, o.percent,
            o.min_us, o.median_us, o.mean_us, o.max_us, o.flops, o.bytes, o.tflops, o.tbps,
            o.roofline_us, o.compute_bound, o.one_kernel);
  });
  const auto event = [&](auto& e) {
    archive(e.at.start_ns, e.at.dur_ns);
    archive.choice(e.at.kind, kLaneKinds);
    archive.below(e.name, texts);
    archive.below(e.op, texts);
    archive.below(e.about, texts);
    archive(e.operator_row, e.delay_ns, e.hidden_ns);
    if constexpr (Archive::kReads)
      if (e.operator_row != kNoDetail && e.operator_row >= p.operators.size())
        archive.fail("an event of an operator that is not there");
  };
  archive.list(p.lanes, [&](auto& lane) {
    archive(lane.device, lane.stream, lane.in_trace);
    archive.list(lane.events, event);
    archive(lane.columns);
    archive.list(lane.longest, [&](auto& name) { archive.below(name, texts); });
    if constexpr (Archive::kReads)
      if (lane.longest.size() != (lane.columns ? lane.columns->ns.size() : 0))
        archive.fail("names of columns are not as many as those");
  });
  archive.list(p.steps, [&](auto& s) { archive(s.number, s.start_ns, s.end_ns); });
  archive.list(p.kernels, [&](auto& k) {
    archive.below(k.name, texts);
    archive.choice(k.kind, kLaneKinds);
    archive(k.count, k.sum_ns, k.min_ns, k.p25_ns, k.median_ns, k.p75_ns, k.p95_ns, k.max_ns);
  });
  archive(p.queue.width_ns, p.queue.depth, p.queue.most);
  archive.list(p.queue.idle_ns, [&](auto& causes) {
    for (auto& ns : causes)
      archive(ns);
  });
  archive(p.gpu);
}

template <class Archive, PartOf<GpuArch> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.mem_bw_gbps, r.tflops, r.sources, r.source);
}

} // namespace rankscope
