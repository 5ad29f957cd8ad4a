// Generated runs as the records that analyses store per rank. No trace files are written, so
// thousands of runs take seconds. sweep_statements_test.cpp compares these records with those from
// trace files.
#pragma once

#include "analyses/collectives/collective_data.h"
#include "analyses/sweep/sweep_facts.h"
#include "base/interval_set.h"
#include "synth/synth_simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace rankscope::test {

/// Returns the times of one step of one rank, without idle time before it.
inline StepTimes step_times(const synth::Program& p, const synth::RankTimes& times,
                            std::size_t step, std::size_t rank) {
  std::vector<Interval> compute, comm, copy;
  for (std::size_t k = 0; k < p.kernels.size(); ++k) {
    if (!synth::is_on_rank(p.kernels[k], rank))
      continue;
    const std::size_t at = step * p.kernels.size() + k;
    const Interval i{times.kernel_start_ns[at], times.kernel_end_ns[at]};
    (p.kernels[k].kind == synth::KernelKind::kComm     ? comm
     : p.kernels[k].kind == synth::KernelKind::kMemcpy ? copy
                                                       : compute)
        .push_back(i);
  }
  const IntervalSet computes(std::move(compute)), communicates(std::move(comm)),
      copies(std::move(copy));
  const IntervalSet both = computes.unite(communicates);
  const IntervalSet busy = both.unite(copies);
  StepTimes out;
  out.step = static_cast<std::int64_t>(step);
  const auto set = [&](TimeKind kind, std::int64_t ns) {
    out.ns[static_cast<std::size_t>(kind)] = ns;
  };
  out.start_ns = busy.intervals().front().start;
  out.end_ns = busy.intervals().back().end;
  const std::int64_t total = out.end_ns - out.start_ns;
  set(TimeKind::kComputation, computes.length());
  set(TimeKind::kTotalComm, communicates.length());
  set(TimeKind::kExposedComm, communicates.minus(computes).length());
  set(TimeKind::kBusy, busy.length());
  set(TimeKind::kIdle, total - busy.length());
  set(TimeKind::kTotal, total);
  return out;
}

/// Returns the sweep record of a rank: steps and GEMM kernels, without operators.
inline RankRecord record_of(const synth::Options& o, const synth::Program& p, const synth::Run& run,
                            std::int64_t rank) {
  const auto r = static_cast<std::size_t>(rank);
  RankRecord out;
  out.key.rank = rank;
  out.key.configuration.label = synth::label_of(o, run.config);
  out.key.configuration.set(kThreads, run.config.threads);
  out.key.configuration.set(kChannels, run.config.channels);
  for (auto& ns : out.time_ns)
    ns = 0;
  std::vector<StepWindow> windows;
  for (std::size_t s = 0; s < static_cast<std::size_t>(o.steps); ++s) {
    out.steps.push_back(step_times(p, run.ranks[r], s, r));
    windows.push_back({out.steps[s].step, {out.steps[s].start_ns, out.steps[s].end_ns}});
  }
  const auto idle = idle_before_steps(windows);
  for (std::size_t s = 0; s < out.steps.size(); ++s) {
    for (const TimeKind kind : {TimeKind::kIdle, TimeKind::kTotal})
      out.steps[s].ns[static_cast<std::size_t>(kind)] += idle.ns[s].value_or(0);
    out.steps[s].complete = idle.ns[s].has_value();
    out.steps[s].counts_idle = idle.counted;
    for (std::size_t k = 0; k < kTimeKinds; ++k)
      *out.time_ns[k] += out.steps.back().ns[k];
    for (std::size_t k = 0; k < p.kernels.size(); ++k)
      if (p.kernels[k].kind == synth::KernelKind::kGemm && synth::is_on_rank(p.kernels[k], r)) {
        const std::size_t at = s * p.kernels.size() + k;
        const std::int64_t ns = run.ranks[r].kernel_end_ns[at] - run.ranks[r].kernel_start_ns[at];
        out.gemm_kernels[p.kernels[k].name].add({ns, ns, ns, 1});
      }
  }
  return out;
}

/// Returns the collectives of a rank as its trace describes them.
inline RankCollectives collectives_of(const synth::Options& o, const synth::Program& p,
                                      const synth::Groups& groups, const synth::Run& run,
                                      std::int64_t rank) {
  const auto r = static_cast<std::size_t>(rank);
  RankCollectives out;
  out.rank = rank;
  out.device_count = static_cast<std::size_t>(o.gpus_per_node);
  for (std::size_t s = 0; s < static_cast<std::size_t>(o.steps); ++s)
    for (std::size_t k = 0; k < p.kernels.size(); ++k) {
      if (p.kernels[k].kind != synth::KernelKind::kComm)
        continue;
      const synth::Collective& collective =
          p.collectives[static_cast<std::size_t>(p.kernels[k].collective)];
      const synth::Group& group =
          groups.groups[static_cast<std::size_t>(groups.group_of[collective.group_kind][r])];
      Collective c;
      c.pg_name = out.texts.intern(group.name);
      c.pg_ranks = out.texts.intern(fmt::format("[{}]", fmt::join(group.ranks, ", ")));
      c.name = out.texts.intern(collective.name);
      c.dtype = out.texts.intern(collective.dtype);
      c.kind = collective_kind(collective.name);
      c.in_nelems = collective.in_nelems;
      c.out_nelems = collective.out_nelems;
      c.group_size = static_cast<std::int64_t>(group.ranks.size());
      c.seq = static_cast<std::int64_t>(s) * p.collectives_per_kind[collective.group_kind] +
              collective.seq + 1;
      c.step = static_cast<std::int64_t>(s);
      c.stream = p.kernels[k].stream;
      c.ts_ns = run.ranks[r].kernel_start_ns[s * p.kernels.size() + k];
      c.dur_ns = run.ranks[r].kernel_end_ns[s * p.kernels.size() + k] - c.ts_ns;
      out.rows.push_back(c);
    }
  return out;
}

/// All configurations of the options.
struct GeneratedSweep {
  std::vector<RankRecord> records;                       ///< by configuration, then rank
  std::vector<std::vector<RankCollectives>> collectives; ///< per configuration, then per rank
};
inline GeneratedSweep generated_sweep(const synth::Options& o) {
  const synth::Groups groups = synth::make_groups(o);
  const synth::Program program = synth::make_program(o, groups);
  GeneratedSweep out;
  for (const std::int64_t t : o.threads)
    for (const std::int64_t c : o.channels) {
      const synth::Run run = synth::simulate(o, program, groups, {t, c});
      std::vector<RankCollectives>& ranks = out.collectives.emplace_back();
      for (std::int64_t r = 0; r < o.ranks; ++r) {
        out.records.push_back(record_of(o, program, run, r));
        ranks.push_back(collectives_of(o, program, groups, run, r));
      }
    }
  return out;
}

} // namespace rankscope::test
