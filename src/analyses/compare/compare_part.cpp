#include "analyses/compare/compare_part.h"

#include <utility>

namespace rankscope {

std::vector<KindRecord> kind_records(const RankTimeline& timeline) {
  std::map<TimeKind, KindRecord> records;
  for (const auto& [kind, time] : timeline.kinds) {
    records[kind].time_ns = time.time_ns;
    records[kind].percent = time.percent;
  }
  for (const auto& [kind, steps] : timeline.step_ns)
    records[kind].step_ns = steps;
  std::vector<KindRecord> out;
  for (auto& [kind, record] : records) {
    record.kind = kind;
    out.push_back(std::move(record));
  }
  return out;
}

RankTimeline timeline_of_records(const std::vector<KindRecord>& records) {
  RankTimeline out;
  for (const KindRecord& record : records) {
    if (record.time_ns)
      out.kinds.emplace(record.kind, KindTime{*record.time_ns, record.percent});
    if (!record.step_ns.empty())
      out.step_ns.emplace(record.kind, record.step_ns);
  }
  return out;
}

ComparedRun run_of_parts(const std::string& label, std::vector<ComparePart> parts,
                         std::vector<RankCollectives>& collectives) {
  ComparedRun out;
  out.label = label;
  std::vector<StepWork> work;
  for (ComparePart& part : parts) {
    work.push_back(std::move(part.work));
    out.ranks.emplace(part.rank, std::move(part.timeline));
    for (const auto& [name, time] : part.operators)
      out.operators[name] += time;
    if (!part.collectives.rows.empty())
      collectives.push_back(std::move(part.collectives));
  }
  out.work = join_step_work(std::move(work));
  return out;
}

} // namespace rankscope
