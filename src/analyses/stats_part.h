// Writes and reads the fields of Stats in a part (core/part.h).
#pragma once

#include "analyses/group_stats.h"
#include "core/run_part.h"

namespace rankscope {

template <class Archive, PartOf<Stats> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.sum, r.mean, r.median, r.std_sample, r.std_population, r.min, r.max, r.count);
}

} // namespace rankscope
