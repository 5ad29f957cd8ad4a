// Writes and reads the fields of TopRank in a part (core/part.h). Raise kTopRankVersion when fields
// change.
#pragma once

#include "analyses/top/top_rank.h"
#include "core/run_part.h"

namespace rankscope {

inline constexpr std::uint32_t kTopRankVersion = 6;

template <class Archive, PartOf<KernelTotal> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.sum_ns, r.count, r.max_ns);
}

template <class Archive, PartOf<OperatorTotal> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.category, r.dims, r.types, r.count, r.kernel_ns, r.flops.amount, r.flops.ns,
          r.bytes.amount, r.bytes.ns, r.roofline_ns, r.rated_ns, r.compute_bound);
}

template <class Archive, PartOf<CategoryTotal> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.category, r.count, r.direct_ns);
}

template <class Archive, PartOf<TopRank> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.path, r.device, r.gpu, r.kernels, r.operators, r.unlinked_ns, r.categories);
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
    archive(r.idle.ns[cause], r.idle.gaps[cause]);
}

} // namespace rankscope
