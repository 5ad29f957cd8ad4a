#include "app/command_parts.h"

#include "analyses/collectives/collective_part.h"
#include "analyses/collectives/identity_part.h"
#include "analyses/gemm/gemm_data.h"
#include "analyses/gemm/gemm_part.h"
#include "analyses/graph/graph_attribution.h"
#include "analyses/sweep/sweep_part.h"
#include "analyses/top/top_part.h"
#include "app/analyze_parts.h"
#include "app/graph_note.h"
#include "app/unlinked_note.h"
#include "core/diagnostics_part.h"
#include "pages/data/rank_page_part.h"
#include "writers/writer.h"

#include <utility>

namespace rankscope {

/// What analyze keeps of a rank beside what all commands keep.
struct AnalyzeExtras {
  RankRecord record;
  GemmFacts gemms;
  ComparedRank compared;
  Diagnostics remarks;
  bool whole = false;
};
struct CompareExtras {
  std::vector<KindRecord> timeline;
  OperatorTimes operators;
  StepWork work;
  Diagnostics of_report, of_trace;
};
struct TopExtras {
  TopRank rank;
  RankRecord record;
  Diagnostics diagnostics;
};
struct SweepPageExtras {
  RankRecord record;
  GemmFacts gemms;
};

template <class Archive, PartOf<TraceNotes> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.header_rank, r.diagnostics);
}
template <class Archive, PartOf<AnalyzeExtras> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.record, r.gemms, r.compared, r.remarks, r.whole);
}
template <class Archive, PartOf<CompareExtras> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.timeline, r.operators, r.work, r.of_report, r.of_trace);
}
template <class Archive, PartOf<TopExtras> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.record, r.diagnostics);
}
template <class Archive, PartOf<SweepPageExtras> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.record, r.gemms);
}

namespace {

constexpr PartName kNotes{"trace", 1};
constexpr PartName kCollectives{"collectives", kRankCollectivesVersion};
constexpr PartName kIdentity{"identity", kRankIdentityVersion};
constexpr PartName kAnalyze{"analyze", 1000 * kStateVersion + 1};
constexpr PartName kCompare{"compare", 1000 * kComparePartVersion + 1};
// Workbooks know when they were made: they are apart, so that the rest is the same at any time.
constexpr PartName kAnalyzeWorkbook{"analyze workbook", 1};
constexpr PartName kCompareWorkbook{"compare workbook", 1};
constexpr PartName kTop{"top", 1000 * kTopRankVersion + 100 * kRankRecordVersion + 1};
constexpr PartName kPage{"page", kRankPageVersion};
constexpr PartName kSweepPage{"sweep page", 1000 * kGemmFactsVersion + kRankRecordVersion};

RunKey key_of(const RankItem& item) {
  return {item.plan.configuration, item.file.rank};
}

} // namespace

bool same_but_workbooks(const RankParts& a, const RankParts& b) {
  std::map<std::string, std::string> mine = a.held, theirs = b.held;
  for (const PartName& name : {kAnalyzeWorkbook, kCompareWorkbook}) {
    mine.erase(name.name);
    theirs.erase(name.name);
  }
  return mine == theirs;
}

CollectivesPart collectives_part(const RankItem& item, const LoadedTrace& trace) {
  CollectivesPart out{extract_collectives(trace), identity_of(trace.trace, item.file.rank), {}};
  out.notes.header_rank = trace.trace.header.rank;
  out.notes.diagnostics.merge(trace.trace.diagnostics);
  return out;
}

void hold(RankParts& held, const CollectivesPart& part) {
  held.put(kCollectives, part.collectives);
  held.put(kIdentity, part.identity);
  held.put(kNotes, part.notes);
}

Result<CollectivesPart> held_collectives(const RankParts& held) {
  CollectivesPart out;
  RS_TRY(out.collectives, held.get<RankCollectives>(kCollectives));
  RS_TRY(out.identity, held.get<RankIdentity>(kIdentity));
  RS_TRY(out.notes, held.get<TraceNotes>(kNotes));
  return out;
}

Result<AnalyzePart> analyze_part(const RankItem& item, const LoadedTrace& trace,
                                 const AnalyzeLook& look, const std::string& workbook) {
  AnalyzePart part;
  const RunKey key = key_of(item);
  part.record = make_record(trace, look.report);
  part.record.key = key;
  if (workbook.empty()) {
    part.remarks.merge(trace.trace.diagnostics);
  } else {
    RS_TRY(const Report report, build_report(trace, look.report));
    part.remarks.merge(report.diagnostics);
    RS_CHECK(find_writer("xlsx_plain")->write(report, workbook));
  }
  part.whole = !part.remarks.data_lost() && !trace.trace.diagnostics.data_lost();
  note_unlinked(trace, look.report, part.remarks);
  note_graphs(trace, look.report, kNotedPercent, part.remarks);
  part.compared = {trace.shared(TimelineKey{look.report}),
                   trace.shared(OpsSummaryKey{look.report})};
  std::vector<RankGemms> gemms(1);
  gemms[0] = extract_gemms(trace, look.report);
  gemms[0].key = key;
  RS_CHECK(attach_sheet(gemms[0], trace, look.report));
  part.gemms = gemm_facts(gemms, look.top_k, look.ranking);
  part.collectives = extract_collectives(trace);
  part.identity = identity_of(trace.trace, item.file.rank);
  return part;
}

void hold(RankParts& held, const AnalyzePart& part) {
  held.put(kCollectives, part.collectives);
  held.put(kIdentity, part.identity);
  held.put(kAnalyze,
           AnalyzeExtras{part.record, part.gemms, part.compared, part.remarks, part.whole});
  held.put(kAnalyzeWorkbook, part.workbook);
}

Result<AnalyzePart> held_analyze(const RankParts& held, const RankItem& item) {
  RS_TRY(AnalyzeExtras extras, held.get<AnalyzeExtras>(kAnalyze));
  AnalyzePart out;
  out.record = std::move(extras.record);
  out.record.key = key_of(item); // a sweep numbers equal labels, which its parts do not know
  out.gemms = std::move(extras.gemms);
  for (GemmRow& row : out.gemms.rows)
    row.key = out.record.key;
  out.compared = std::move(extras.compared);
  out.remarks = extras.remarks;
  out.whole = extras.whole;
  RS_TRY(out.workbook, held.get<std::string>(kAnalyzeWorkbook));
  RS_TRY(out.collectives, held.get<RankCollectives>(kCollectives));
  RS_TRY(out.identity, held.get<RankIdentity>(kIdentity));
  return out;
}

ReportOptions compare_report_options() {
  ReportOptions options;
  options.include_unlinked_kernels = true; // as the single-configuration scripts asked for
  options.short_kernel_threshold_us = 50;
  options.per_step = true;
  return options;
}

Result<CompareRankPart> compare_part(const RankItem& item, const LoadedTrace& trace,
                                     const std::string& workbook, bool collective) {
  const ReportOptions options = compare_report_options();
  CompareRankPart out;
  if (!workbook.empty()) {
    RS_TRY(const Report report, build_report(trace, options));
    RS_CHECK(find_writer("xlsx_plain")->write(report, workbook));
    out.remarks = report.diagnostics;
  } else {
    out.remarks = trace.trace.diagnostics;
  }
  note_unlinked(trace, options, out.remarks);
  out.part.rank = item.file.rank;
  out.part.timeline = rank_timeline(trace, options);
  out.part.operators = operator_times(trace, options);
  out.part.work = step_work_of(trace, options);
  if (collective)
    out.part.collectives = extract_collectives(trace);
  else
    out.described = described_collectives(trace.trace, item.file.rank);
  out.identity = identity_of(trace.trace, item.file.rank);
  return out;
}

void hold(RankParts& held, const CompareRankPart& part, const LoadedTrace& trace) {
  Diagnostics of_trace = trace.trace.diagnostics;
  note_unlinked(trace, compare_report_options(), of_trace);
  held.put(kCollectives, part.part.collectives);
  held.put(kIdentity, part.identity);
  held.put(kCompare, CompareExtras{kind_records(part.part.timeline), part.part.operators,
                                   part.part.work, part.remarks, of_trace});
  held.put(kCompareWorkbook, part.workbook);
}

Result<CompareRankPart> held_compare(const RankParts& held, bool workbook, bool collective) {
  RS_TRY(CompareExtras extras, held.get<CompareExtras>(kCompare));
  CompareRankPart out;
  out.part.rank = held.rank;
  out.part.timeline = timeline_of_records(extras.timeline);
  out.part.operators = std::move(extras.operators);
  out.part.work = std::move(extras.work);
  out.remarks = workbook ? extras.of_report : extras.of_trace;
  if (workbook) {
    RS_TRY(out.workbook, held.get<std::string>(kCompareWorkbook));
  }
  RS_TRY(out.identity, held.get<RankIdentity>(kIdentity));
  RS_TRY(RankCollectives collectives, held.get<RankCollectives>(kCollectives));
  (collective ? out.part.collectives : out.described) = std::move(collectives);
  return out;
}

void hold(RankParts& held, const TopPart& part) {
  held.put(kCollectives, part.collectives);
  held.put(kIdentity, part.identity);
  held.put(kTop, TopExtras{part.rank, part.record, part.diagnostics});
}

Result<TopPart> held_top(const RankParts& held, const RankItem& item) {
  RS_TRY(TopExtras extras, held.get<TopExtras>(kTop));
  TopPart out;
  out.rank = std::move(extras.rank);
  out.record = std::move(extras.record);
  out.record.key = key_of(item);
  out.diagnostics = extras.diagnostics;
  RS_TRY(out.collectives, held.get<RankCollectives>(kCollectives));
  RS_TRY(out.identity, held.get<RankIdentity>(kIdentity));
  return out;
}

void hold(RankParts& held, const RankPage& page) {
  held.put(kPage, page);
}

Result<RankPage> held_page(const RankParts& held) {
  return held.get<RankPage>(kPage);
}

SweepPagePart sweep_page_part(const RankItem& item, const LoadedTrace& trace,
                              const ReportOptions& options) {
  SweepPagePart out;
  const RunKey key = key_of(item);
  out.record = make_record(trace, options);
  out.record.key = key;
  std::vector<RankGemms> gemms(1);
  gemms[0] = extract_gemms(trace, options);
  gemms[0].key = key;
  out.gemms = gemm_facts(gemms, kGemmsOfPage, GemmRanking::kRange);
  out.collectives = extract_collectives(trace);
  return out;
}

void hold(RankParts& held, const SweepPagePart& part) {
  held.put(kCollectives, part.collectives);
  held.put(kSweepPage, SweepPageExtras{part.record, part.gemms});
}

Result<SweepPagePart> held_sweep_page(const RankParts& held, const RankItem& item) {
  RS_TRY(SweepPageExtras extras, held.get<SweepPageExtras>(kSweepPage));
  SweepPagePart out;
  out.record = std::move(extras.record);
  out.record.key = key_of(item);
  out.gemms = std::move(extras.gemms);
  for (GemmRow& row : out.gemms.rows)
    row.key = out.record.key;
  RS_TRY(out.collectives, held.get<RankCollectives>(kCollectives));
  return out;
}

} // namespace rankscope
