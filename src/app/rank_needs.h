// The facts that each command over ranks needs of a trace (engine/rank_facts.h). One declaration
// serves the command itself, `partial`, `reduce`, rankscope-mpi and facts cached between runs.
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

/// Facts from the trace header of a rank, and the diagnostics of the trace.
struct TraceNotes {
  std::optional<std::int64_t> header_rank;
  std::int64_t devices = 0; ///< number of devices in the header
  Diagnostics diagnostics;
};

/// Declares the problems that the loader found in a trace.
FactOf<TraceNotes> need_notes(Needs& needs);

struct CollectivesNeeds {
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<TraceNotes> notes;
  explicit CollectivesNeeds(Needs& needs);
};

/// The options with which analyze extracts the facts of a rank.
struct AnalyzeOptions {
  ReportOptions report;
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
};
struct AnalyzeNeeds {
  FactOf<RankRecord> record; ///< name_rank() sets its key and the keys of the GEMMs
  FactOf<GemmFacts> gemms;
  FactOf<ComparedRank> compared;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> diagnostics;
  AnalyzeNeeds(Needs& needs, const AnalyzeOptions& given);
};

/// Declares the GEMMs of a rank, with the columns of the sheet GEMM.
[[nodiscard]] FactOf<GemmFacts> need_gemms(Needs& needs, const AnalyzeOptions& options);

/// Returns the options of compare's individual reports.
[[nodiscard]] ReportOptions compare_report_options();
struct CompareNeeds {
  FactOf<ComparePart> part; ///< without collectives
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> diagnostics;
  explicit CompareNeeds(Needs& needs);
};

/// Returns whether top, page and query look for causes in a run with this number of ranks. For
/// larger runs only `why` does.
[[nodiscard]] constexpr bool seeks_causes(std::size_t ranks) {
  constexpr std::size_t kMostRanksOfCauses = 64;
  return ranks <= kMostRanksOfCauses;
}

/// Returns a text that contains all options on which the facts of `top` depend.
[[nodiscard]] std::string top_options_text(const ReportOptions& options);
/// Returns the options of the metrics of `top`: rooflines of the GPU, and all GPU work counted.
[[nodiscard]] ReportOptions top_options(const LoadedTrace& trace, ReportOptions options);
struct TopNeeds {
  FactOf<TopRank> rank;
  FactOf<RankRecord> record;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> diagnostics;
  std::optional<FactOf<RankGraph>> graph;
  /// `causes`: also extract the job graph for causes; the traces are then read with Python frames.
  TopNeeds(Needs& needs, const ReportOptions& options, bool causes);
  /// Moves the facts of a rank from `facts` to `parts`.
  void put(const RankItem& item, RankFacts& facts, TopParts& parts) const;
};

/// The facts that `why` needs; the traces are read with their Python frames.
struct WhyNeeds {
  FactOf<RankGraph> graph;
  FactOf<RankRecord> record;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<Diagnostics> diagnostics;
  explicit WhyNeeds(Needs& needs);
};

/// Declares the page data of a rank, for a run with this number of ranks.
[[nodiscard]] FactOf<RankPage> need_page(Needs& needs, const ReportOptions& options,
                                         std::size_t ranks);
/// Encodes the page data of a rank to bytes, for pages that wait on disk.
[[nodiscard]] std::string page_bytes(const RankPage& page);
[[nodiscard]] Result<RankPage> page_of_bytes(std::string_view bytes);

inline constexpr std::size_t kGemmsOfPage = 5; ///< GEMMs per rank
struct SweepPageNeeds {
  FactOf<RankRecord> record;
  FactOf<GemmFacts> gemms;
  FactOf<RankCollectives> collectives;
  FactOf<RankIdentity> identity;
  FactOf<TraceNotes> notes;
  SweepPageNeeds(Needs& needs, const ReportOptions& options);
};

/// Declares the facts that collectives, top and compare need with their default options. A command
/// that has the traces in memory also stores these facts in the cache, for later commands.
/// `causes`: also those for the causes of top, from traces without Python frames: reading frames
/// takes a third more time, and only this fact needs them.
void add_default_needs(Needs& needs, bool causes);

struct BatchNeeds {
  FactOf<BatchPart> part;
  FactOf<TraceNotes> notes;
  BatchNeeds(Needs& needs, const BatchOptions& options);
};

/// The rows of a rank in the tables `ranks`, `steps` and `idle`; their `place` is not set yet.
struct TraceRows {
  RankRecordRow row;
  std::vector<StepRecord> steps;
  std::vector<IdleRecord> idle;
};
/// The facts from which the SQL tables named in a query are made.
struct QueryFacts {
  bool rows = false, collectives = false, gemms = false, top = false;
  bool causes = false; ///< also the causes; only with `top`
  bool sweep = false;  ///< also the findings of a sweep; only with `top`
  [[nodiscard]] bool any() const { return rows || collectives || gemms || top; }
};
struct QueryNeeds {
  FactOf<TraceNotes> notes;
  std::optional<FactOf<TraceRows>> rows;
  std::optional<FactOf<RankCollectives>> collectives; ///< with `top`: the fact of `top`
  std::optional<FactOf<GemmFacts>> gemms;             ///< all GEMMs
  std::optional<TopNeeds> top;
  std::optional<SweepPageNeeds> sweep;
  QueryNeeds(Needs& needs, const ReportOptions& options, const QueryFacts& wanted);
};

/// Sets the key in the record or the GEMMs of a rank. A sweep adds numbers to equal labels; a part
/// does not contain the number.
void name_rank(const RankItem& item, RankRecord& record);
void name_rank(const RankItem& item, GemmFacts& gemms);

} // namespace rankscope
