// What each command over ranks takes of one trace: extracted while the trace is in memory, and the
// same from the parts of a rank's file. The commands do not know which of the two they were given.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "analyses/compare/compare_part.h"
#include "analyses/gemm/gemm_facts.h"
#include "analyses/sweep/sweep.h"
#include "app/analyze_state.h"
#include "app/top_parts.h"
#include "base/diagnostics.h"
#include "core/loaded_trace.h"
#include "engine/rank_parts.h"
#include "engine/run_ranks.h"
#include "pages/data/rank_page.h"

#include <optional>
#include <string>

namespace rankscope {

/// Whether both hold the same. Workbooks aside: they know when they were made.
[[nodiscard]] bool same_but_workbooks(const RankParts& a, const RankParts& b);

/// What the trace of a rank says of itself.
struct TraceNotes {
  std::optional<std::int64_t> header_rank;
  Diagnostics diagnostics;
};

struct CollectivesPart {
  RankCollectives collectives;
  RankIdentity identity;
  TraceNotes notes;
};
[[nodiscard]] CollectivesPart collectives_part(const RankItem& item, const LoadedTrace& trace);
void hold(RankParts& held, const CollectivesPart& part);
[[nodiscard]] Result<CollectivesPart> held_collectives(const RankParts& held);

/// How analyze looks at a rank.
struct AnalyzeLook {
  ReportOptions report;
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
};
struct AnalyzePart {
  RankRecord record;
  RankCollectives collectives;
  RankIdentity identity;
  GemmFacts gemms;
  ComparedRank compared;
  Diagnostics remarks;  ///< of the trace and of its report
  bool whole = false;   ///< neither an event nor a figure was lost
  std::string workbook; ///< bytes of the individual report; "": it is written already
};
/// Writes the individual report to `workbook`; "": makes none. Errors: those of the report,
/// kOutput.
Result<AnalyzePart> analyze_part(const RankItem& item, const LoadedTrace& trace,
                                 const AnalyzeLook& look, const std::string& workbook);
void hold(RankParts& held, const AnalyzePart& part);
[[nodiscard]] Result<AnalyzePart> held_analyze(const RankParts& held, const RankItem& item);

/// The options of compare's individual reports.
[[nodiscard]] ReportOptions compare_report_options();
struct CompareRankPart {
  ComparePart part;
  RankIdentity identity;
  RankCollectives described; ///< where no report of the collectives is asked for
  Diagnostics remarks;       ///< of the report, or of the trace without one
  std::string workbook;      ///< as of AnalyzePart
};
/// `workbook` empty: no individual report. `collective`: the collectives with all that is known.
Result<CompareRankPart> compare_part(const RankItem& item, const LoadedTrace& trace,
                                     const std::string& workbook, bool collective);
/// `part`: with a workbook and collectives.
void hold(RankParts& held, const CompareRankPart& part, const LoadedTrace& trace);
/// `workbook`: whether the report is wanted, and its remarks.
[[nodiscard]] Result<CompareRankPart> held_compare(const RankParts& held, bool workbook,
                                                   bool collective);

void hold(RankParts& held, const TopPart& part);
[[nodiscard]] Result<TopPart> held_top(const RankParts& held, const RankItem& item);
void hold(RankParts& held, const RankPage& page);
[[nodiscard]] Result<RankPage> held_page(const RankParts& held);

/// What the page of a sweep needs of a rank.
struct SweepPagePart {
  RankRecord record;
  GemmFacts gemms;
  RankCollectives collectives;
};
inline constexpr std::size_t kGemmsOfPage = 5; ///< of a rank
[[nodiscard]] SweepPagePart sweep_page_part(const RankItem& item, const LoadedTrace& trace,
                                            const ReportOptions& options);
void hold(RankParts& held, const SweepPagePart& part);
[[nodiscard]] Result<SweepPagePart> held_sweep_page(const RankParts& held, const RankItem& item);

} // namespace rankscope
