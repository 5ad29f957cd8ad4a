// The facts that each command over ranks needs of a trace (engine/rank_facts.h): one declaration
// for the command itself, `partial`, `reduce`, rankscope-mpi and facts cached between runs.
#pragma once

#include "analyses/batch/batch_part.h"
#include "analyses/collectives/run_consistency.h"
#include "analyses/compare/compare_part.h"
#include "analyses/gemm/gemm_facts.h"
#include "analyses/job/rank_graph.h"
#include "analyses/records/records.h"
#include "analyses/sweep/sweep.h"
#include "analyses/top/top_facts.h"
#include "app/analyze_state.h"
#include "base/diagnostics.h"
#include "engine/rank_facts.h"
#include "pages/data/rank_page.h"

#include <optional>
#include <string>

namespace rankscope {

/// What the trace of a rank says of itself.
struct TraceNotes {
  std::optional<std::int64_t> header_rank;
  std::int64_t devices = 0; ///< that its header names
  Diagnostics diagnostics;
};

struct CollectivesNeeds {
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<TraceNotes> notes;
  explicit CollectivesNeeds(Needs& needs);
};

/// How analyze looks at a rank.
struct AnalyzeLook {
  ReportOptions report;
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
};
struct AnalyzeNeeds {
  FactOf<RankRecord> record; ///< its key and those of the GEMMs: see name_rank()
  FactOf<GemmFacts> gemms;
  FactOf<ComparedRank> compared;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> remarks;
  AnalyzeNeeds(Needs& needs, const AnalyzeLook& look);
};

/// The GEMMs of a rank, with the columns of the sheet GEMM.
[[nodiscard]] FactOf<GemmFacts> need_gemms(Needs& needs, const AnalyzeLook& look);

/// The options of compare's individual reports.
[[nodiscard]] ReportOptions compare_report_options();
struct CompareNeeds {
  FactOf<ComparePart> part; ///< without collectives
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> remarks;
  explicit CompareNeeds(Needs& needs);
};

/// Whether top, page and query look for the causes of a run of so many ranks; with more, `why`
/// does.
[[nodiscard]] constexpr bool looks_for_causes(std::size_t ranks) {
  constexpr std::size_t kMostRanksOfCauses = 64;
  return ranks <= kMostRanksOfCauses;
}

/// Returns the options of the metrics of `top`: the GPU's rooflines; all of the GPU work.
[[nodiscard]] ReportOptions top_options(const LoadedTrace& trace, const ReportOptions& given);
struct TopNeeds {
  FactOf<TopRank> rank;
  FactOf<RankRecord> record;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> remarks;
  std::optional<FactOf<RankGraph>> graph;
  /// `causes`: are looked for; the traces are read with their Python frames then.
  TopNeeds(Needs& needs, const ReportOptions& options, bool causes);
  /// Moves them out of `facts` to `parts`.
  void put(const RankItem& item, RankFacts& facts, TopParts& parts) const;
};

/// What `why` needs; the traces are read with their Python frames.
struct WhyNeeds {
  FactOf<RankGraph> graph;
  FactOf<RankRecord> record;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> remarks;
  explicit WhyNeeds(Needs& needs);
};

/// A rank of the page of a run of so many ranks.
[[nodiscard]] FactOf<RankPage> need_page(Needs& needs, const ReportOptions& options,
                                         std::size_t ranks);
/// Bytes of such a page, for one that waits on disk.
[[nodiscard]] std::string page_bytes(const RankPage& page);
[[nodiscard]] Result<RankPage> page_of_bytes(std::string_view bytes);

inline constexpr std::size_t kGemmsOfPage = 5; ///< of a rank
struct SweepPageNeeds {
  FactOf<RankRecord> record;
  FactOf<GemmFacts> gemms;
  FactOf<RankCollectives> collectives;
  SweepPageNeeds(Needs& needs, const ReportOptions& options);
};

/// What collectives and top need with their default options: a command that has the traces in
/// memory anyway fills the cache for them.
void add_default_needs(Needs& needs);

struct BatchNeeds {
  FactOf<BatchPart> part;
  FactOf<TraceNotes> notes;
  BatchNeeds(Needs& needs, const BatchOptions& options);
};

/// The rows of `ranks`, `steps` and `idle` of a rank, without their place.
struct TraceRows {
  RankRecordRow row;
  std::vector<StepRecord> steps;
  std::vector<IdleRecord> idle;
};
/// Of which facts the tables of SQL that a query names are made.
struct QueryFacts {
  bool rows = false, collectives = false, gemms = false, top = false;
  bool causes = false; ///< with those of top
  [[nodiscard]] bool any() const { return rows || collectives || gemms || top; }
};
struct QueryNeeds {
  FactOf<TraceNotes> notes;
  std::optional<FactOf<TraceRows>> rows;
  std::optional<FactOf<RankCollectives>> collectives; ///< those of `top`, where both are wanted
  std::optional<FactOf<GemmFacts>> gemms;             ///< all of them
  std::optional<TopNeeds> top;
  QueryNeeds(Needs& needs, const ReportOptions& options, const QueryFacts& wanted);
};

/// Gives the record or the GEMMs of a rank their key: a sweep numbers equal labels, which a part
/// does not know.
void name_rank(const RankItem& item, RankRecord& record);
void name_rank(const RankItem& item, GemmFacts& gemms);

} // namespace rankscope
