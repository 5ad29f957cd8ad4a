// The fields of Diagnostics as a part (core/part.h): the list of its problems, worst first. Reading
// adds each problem with merge().
#pragma once

#include "base/diagnostics.h"
#include "core/run_part.h"

#include <vector>

namespace rankscope {

template <class Archive, PartOf<Problem> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name);
  archive.choice(r.severity, static_cast<std::uint64_t>(Severity::kDataLoss) + 1);
  archive(r.count, r.where, r.sentence, r.by_place);
}

template <class Archive, PartOf<Diagnostics> Row> void part_fields(Archive& archive, Row& r) {
  std::vector<Problem> problems;
  if constexpr (!Archive::kReads)
    problems = r.problems();
  archive(problems);
  if constexpr (Archive::kReads)
    for (const Problem& problem : problems)
      r.merge(problem);
}

} // namespace rankscope
