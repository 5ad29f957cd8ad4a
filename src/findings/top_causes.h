// The part of a run's causes (CauseFacts) that `top` and a page show. It is small, so that the
// cache can store it.
#pragma once

#include "analyses/job/causes.h"
#include "analyses/top/top_facts.h"
#include "core/part.h"
#include "findings/rules.h"

#include <algorithm>
#include <string>
#include <vector>

namespace rankscope {

struct TopCauses {
  /// The causes with the largest gain, at most three, then the steps that are left out.
  std::vector<Finding> listed;
  ExposedTime exposed;
  std::string exposed_action; ///< action of exposed_time_finding(); "": no advice
  std::vector<PathPart> path; ///< the critical path, for a page
  std::vector<TopNext> next;  ///< cause_commands()
};
[[nodiscard]] TopCauses top_causes(const CauseFacts& facts, std::vector<PathPart> path = {});

/// Raise it if the fields or their contents change.
inline constexpr std::uint32_t kTopCausesVersion = 7;

template <class Archive, PartOf<FindingPlace> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.start_ns, r.end_ns);
}

template <class Archive, PartOf<Finding> Row> void part_fields(Archive& archive, Row& r) {
  std::string rule(r.rule);
  archive(rule);
  if constexpr (Archive::kReads) {
    const auto known = std::ranges::find(finding_rules(), rule, &FindingRule::id);
    if (known == finding_rules().end())
      return archive.fail("a rule that is not known");
    r.rule = known->id;
  }
  archive.choice(r.kind, static_cast<std::uint64_t>(FindingKind::kNote) + 1);
  archive(r.subject_kind, r.subject, r.value);
  archive.choice(r.unit, static_cast<std::uint64_t>(Unit::kWatt) + 1);
  archive(r.low, r.high, r.steps);
  archive.choice(r.scope, static_cast<std::uint64_t>(FindingScope::kThisHardware) + 1);
  archive(r.cost_ms, r.detectable, r.place, r.headline, r.evidence, r.action);
}

template <class Archive, PartOf<RankWait> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.ms, r.start_ms);
}

template <class Archive, PartOf<ExposedTime> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.wait_ms, r.pair_wait_ms, r.transfer_ms, r.unmatched_ms, r.wait_for);
}

template <class Archive, PartOf<PathPart> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.begin_ns, r.end_ns, r.kind, r.what);
}

template <class Archive, PartOf<TopNext> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.command, r.why);
}

template <class Archive, PartOf<TopCauses> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.listed, r.exposed, r.exposed_action, r.path, r.next);
}

} // namespace rankscope
