// Input: two traces, separated by NUL, as two runs of one rank. Aborts if a value compared with
// itself is reported as changed.
#include "analyses/compare/compare_runs.h"
#include "engine/loader.h"
#include "fuzz/fuzz_target.h"

#include <cstdlib>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace rankscope;

std::optional<ComparedRun> run_of(std::string_view bytes, const char* label) {
  const int fd = ::memfd_create("fuzz", 0);
  if (fd < 0)
    return std::nullopt;
  const bool written =
      ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  Result<LoadedTrace> loaded = load_trace("/proc/self/fd/" + std::to_string(fd), LoadOptions{});
  ::close(fd);
  if (!written || !loaded)
    return std::nullopt;
  ReportOptions options;
  options.per_step = true;
  ComparedRun run;
  run.label = label;
  run.ranks[0] = rank_timeline(*loaded, options);
  run.operators = operator_times(*loaded, options);
  run.work = join_step_work({step_work_of(*loaded, options)});
  std::vector<RankCollectives> collectives;
  collectives.push_back(extract_collectives(*loaded));
  if (const Result<CollectiveFacts> facts = collective_facts(collectives, CollectiveOptions{}))
    run.collectives = run_collectives(*facts);
  return run;
}

void expect_no_change(const MetricChange& change) {
  if (const std::optional<double> difference = change.difference(); difference && *difference != 0)
    std::abort();
}

} // namespace

RS_FUZZ_TARGET(compare) {
  std::string parts[2];
  rankscope::test::split_parts(bytes, parts);
  const std::optional<ComparedRun> base = run_of(parts[0], "A");
  if (!base)
    return;
  if (const std::optional<ComparedRun> test = run_of(parts[1], "B"))
    (void)compare_runs(*base, {*test}, JudgeRule{});
  const Comparison same = compare_runs(*base, {*base}, JudgeRule{});
  for (const TimelineChange& change : same.timelines.at(0).by_rank)
    expect_no_change(change.ms);
  const WhatChanged& changed = same.changes.at(0);
  for (const ChangeList* list : {&changed.work, &changed.operators})
    for (const Change& row : list->rows)
      if (row.reported || row.difference_ms != 0)
        std::abort();
}
