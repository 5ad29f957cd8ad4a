#include "app/rank_commands.h"

#include "app/analyze.h"
#include "app/individual_report.h"
#include "app/rank_needs.h"

#include <algorithm>
#include <array>

namespace rankscope {
namespace {

ReportOptions sweep_options_of(const PartOptions& options) {
  ReportOptions out = sweep_report_options();
  out.gpu_arch = options.gpu_arch;
  out.legacy_gemm_layout = options.legacy_gemm_layout;
  return out;
}

ReportOptions compare_options_of(const PartOptions&) {
  return compare_report_options();
}

ReportOptions top_options_of(const PartOptions& options) {
  ReportOptions out;
  out.gpu_arch = options.gpu_arch;
  return out;
}

void collectives_needs(Needs& needs, const ShardFile&) {
  (void)CollectivesNeeds(needs);
}

void top_needs(Needs& needs, const ShardFile& shard) {
  (void)TopNeeds(needs, top_options_of(shard.options), seeks_causes(shard.page_ranks));
}

void why_needs(Needs& needs, const ShardFile&) {
  (void)WhyNeeds(needs);
}

/// Declares the facts for a page of a run and, if the inputs may be a sweep, of a sweep. A node
/// cannot decide this from its traces, because it does not see all configurations.
void page_needs(Needs& needs, const ShardFile& shard) {
  const ReportOptions report = top_options_of(shard.options);
  (void)TopNeeds(needs, report, seeks_causes(shard.page_ranks));
  (void)need_page(needs, report, shard.page_ranks);
  if (shard.of_a_sweep())
    (void)SweepPageNeeds(needs, report);
}

void sweep_needs(Needs& needs, const ShardFile& shard) {
  (void)AnalyzeNeeds(needs,
                     {sweep_options_of(shard.options), shard.options.top_k, shard.options.rank_by});
}

void compare_needs(Needs& needs, const ShardFile&) {
  (void)CompareNeeds(needs);
}

void gemm_needs(Needs& needs, const ShardFile& shard) {
  (void)need_gemms(needs, {{}, shard.options.top_k, shard.options.rank_by});
}

void batch_needs(Needs& needs, const ShardFile& shard) {
  (void)BatchNeeds(needs, shard.options.batch);
}

void query_needs(Needs& needs, const ShardFile& shard) {
  (void)QueryNeeds(needs, top_options_of(shard.options),
                   {true, true, true, true, seeks_causes(shard.page_ranks), shard.of_a_sweep()});
}

constexpr std::array kRankCommands{
    RankCommand{"collectives", RanksOf::kRun, collectives_needs},
    RankCommand{"top", RanksOf::kRun, top_needs},
    RankCommand{"why", RanksOf::kRun, why_needs},
    RankCommand{"whatif", RanksOf::kRun, why_needs},
    RankCommand{"page", RanksOf::kRunOrSweep, page_needs},
    RankCommand{"analyze", RanksOf::kSweep, sweep_needs, kAnalyzeReport, sweep_options_of},
    RankCommand{"html", RanksOf::kSweep, sweep_needs},
    RankCommand{"gemm", RanksOf::kSweep, gemm_needs},
    RankCommand{"compare", RanksOf::kRun, compare_needs, kCompareReport, compare_options_of},
    RankCommand{"baseline", RanksOf::kRun, compare_needs},
    RankCommand{"query", RanksOf::kRunOrSweep, query_needs},
    RankCommand{"batch", RanksOf::kBatchFolders, batch_needs}};

} // namespace

std::span<const RankCommand> rank_commands() {
  return kRankCommands;
}

const RankCommand* find_rank_command(std::string_view name) {
  const auto at = std::ranges::find_if(
      kRankCommands, [name](const RankCommand& command) { return command.name == name; });
  return at == kRankCommands.end() ? nullptr : &*at;
}

Needs needs_of(const std::vector<std::string>& commands, const ShardFile& shard) {
  Needs out;
  for (const std::string& name : commands)
    if (const RankCommand* const command = find_rank_command(name))
      command->needs(out, shard);
  return out;
}

bool serves(const ShardFile& shard, const RankCommand& command, bool workbooks) {
  const std::vector<std::string>& wanted = shard.options.wanted;
  const bool has_workbooks =
      shard.options.workbooks && std::ranges::find(wanted, command.name) != wanted.end();
  return (has_workbooks || !workbooks || command.workbook == nullptr) &&
         needs_of(wanted, shard).cover(needs_of({command.name}, shard));
}

} // namespace rankscope
