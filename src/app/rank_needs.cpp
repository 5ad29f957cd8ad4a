#include "app/rank_needs.h"

#include "analyses/collectives/collective_part.h"
#include "analyses/collectives/identity_part.h"
#include "analyses/gemm/gemm_data.h"
#include "analyses/gemm/gemm_part.h"
#include "analyses/job/rank_graph_part.h"
#include "analyses/sweep/sweep_part.h"
#include "analyses/top/top_part.h"
#include "app/batch_fields.h"
#include "app/choose_gpu.h"
#include "app/graph_note.h"
#include "app/page.h"
#include "app/unlinked_note.h"
#include "core/diagnostics_part.h"
#include "pages/data/rank_page_part.h"

#include <fmt/format.h>
#include <utility>

namespace rankscope {

template <class Archive, PartOf<TraceNotes> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.header_rank, r.devices, r.diagnostics);
}

template <class Archive, PartOf<RankRecordRow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.path, r.vendor, r.device, r.backend, r.world_size, r.base_time_ns, r.events,
          r.gpu_events, r.linked, r.steps, r.input_bytes);
  for (auto& ns : r.ns)
    archive(ns);
}

template <class Archive, PartOf<StepRecord> Row> void part_fields(Archive& archive, Row& r) {
  bool has_work = r.ns.has_value();
  KindTimes times = r.ns.value_or(KindTimes{});
  archive(r.step, r.start_ns, r.dur_ns, has_work);
  for (std::int64_t& ns : times)
    archive(ns);
  if constexpr (Archive::kReads)
    if (has_work)
      r.ns = times;
}

template <class Archive, PartOf<IdleRecord> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.cause, kIdleCauses);
  archive(r.idle_ns, r.gaps, r.total_ns);
}

template <class Archive, PartOf<TraceRows> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.row, r.steps, r.idle);
}

namespace {

constexpr PartName kNotesFact{"trace", 2};
constexpr PartName kRowsFact{"rows", 1};
constexpr PartName kDiagnosticsFact{"remarks", 1};
constexpr PartName kCollectivesFact{"collectives", kRankCollectivesVersion};
constexpr PartName kIdentityFact{"identity", kRankIdentityVersion};
constexpr PartName kRecordFact{"record", kRankRecordVersion};
constexpr PartName kGemmsFact{"gemms", kGemmFactsVersion};
constexpr PartName kComparedFact{"compared", kStateVersion};
constexpr PartName kCompareFact{"compare", kComparePartVersion};
constexpr PartName kTopFact{"top", kTopRankVersion};
constexpr PartName kBatchFact{"batch", kBatchPartVersion};
constexpr PartName kPageFact{"page", kRankPageVersion};
constexpr PartName kJobFact{"job", kRankGraphVersion};

/// Returns the options that determine the timeline as text, for facts of one trace inside its
/// report; "" if they are the defaults.
std::string counting_text(const ReportOptions& options) {
  const TimelineKey key{options};
  return key == TimelineKey{ReportOptions{}}
             ? ""
             : fmt::format("unlinked={} recompute={} compat={} micro_idle_us={} memset={}",
                           key.launchers.unlinked, key.launchers.recompute, key.launchers.compat,
                           key.micro_idle_us, key.memset_as_memory);
}

/// Returns the GPU name in the options, with a mark of the content if it names a file.
std::string gpu_arch_text(const std::string& gpu_arch) {
  const std::string mark = gpu_arch.empty() ? "" : content_mark(gpu_arch);
  return fmt::format("gpu_arch={}{}", gpu_arch, mark.empty() ? "" : " content=" + mark);
}

FactOf<RankCollectives> need_collectives(Needs& needs) {
  return needs.add<RankCollectives>(
      kCollectivesFact, "",
      [](const RankItem&, const LoadedTrace& trace) { return extract_collectives(trace); });
}

FactOf<RankIdentity> need_identity(Needs& needs) {
  return needs.add<RankIdentity>(kIdentityFact, "",
                                 [](const RankItem& item, const LoadedTrace& trace) {
                                   return identity_of(trace.trace, item.file.rank);
                                 });
}

FactOf<RankRecord> need_record(Needs& needs, const ReportOptions& options) {
  return needs.add<RankRecord>(
      kRecordFact, counting_text(options),
      [options](const RankItem&, const LoadedTrace& trace) { return make_record(trace, options); });
}

/// Declares the diagnostics of the trace, and notes on GPU work without a launch. Adds notes on
/// graph launches if they take at least `least_percent` of the GPU time; no such notes if it is not
/// set.
FactOf<Diagnostics> need_diagnostics(Needs& needs, const ReportOptions& options,
                                     std::optional<double> least_percent) {
  return needs.add<Diagnostics>(
      kDiagnosticsFact,
      counting_text(options) +
          (least_percent ? fmt::format("graphs from {} %", *least_percent) : ""),
      [options, least_percent](const RankItem&, const LoadedTrace& trace) {
        Diagnostics out;
        out.merge(trace.trace.diagnostics);
        note_unlinked(trace, options, out);
        if (least_percent)
          note_graphs(trace, options, *least_percent, out);
        return out;
      });
}

Result<GemmFacts> gemms_of(const LoadedTrace& trace, const AnalyzeOptions& options, bool sheet) {
  std::vector<RankGemms> gemms(1);
  gemms[0] = extract_gemms(trace, options.report);
  if (sheet)
    RS_CHECK(attach_sheet(gemms[0], trace, options.report));
  return gemm_facts(gemms, options.top_k, options.ranking);
}

/// Declares the GEMMs of a rank. `sheet`: with the columns of the sheet GEMM.
FactOf<GemmFacts> need_gemms(Needs& needs, const AnalyzeOptions& options, bool sheet) {
  std::string text =
      fmt::format("top_k={} ranking={}", options.top_k, static_cast<int>(options.ranking));
  if (sheet)
    text += fmt::format(" {} legacy={}", gpu_arch_text(options.report.gpu_arch),
                        options.report.legacy_gemm_layout);
  return needs.add<GemmFacts>(kGemmsFact, text,
                              [options, sheet](const RankItem&, const LoadedTrace& trace) {
                                return gemms_of(trace, options, sheet);
                              });
}

/// Declares the job graph of a rank, which needs the Python frames.
FactOf<RankGraph> need_graph(Needs& needs) {
  const auto extract = [](const RankItem& item, const LoadedTrace& trace) {
    RankGraph out = rank_graph_of(trace);
    out.rank = item.file.rank;
    ReportOptions options;
    choose_gpu(trace.trace, options);
    out.gpu_model = options.gpu_arch;
    return out;
  };
  return needs.add<RankGraph>(kJobFact, "", extract, true);
}

} // namespace

FactOf<TraceNotes> need_notes(Needs& needs) {
  return needs.add<TraceNotes>(kNotesFact, "", [](const RankItem&, const LoadedTrace& trace) {
    TraceNotes out{
        trace.trace.header.rank, static_cast<std::int64_t>(trace.trace.header.devices.size()), {}};
    out.diagnostics.merge(trace.trace.diagnostics);
    return out;
  });
}

FactOf<GemmFacts> need_gemms(Needs& needs, const AnalyzeOptions& options) {
  return need_gemms(needs, options, true);
}

CollectivesNeeds::CollectivesNeeds(Needs& needs)
    : collectives(need_collectives(needs)), identity(need_identity(needs)),
      notes(need_notes(needs)) {}

BatchNeeds::BatchNeeds(Needs& needs, const BatchOptions& options)
    : part(needs.add<BatchPart>(
          kBatchFact, fmt::format("compat={} kernels={}", options.compat, options.all_kernels),
          [options](const RankItem&, const LoadedTrace& trace) {
            return extract_batch(trace, options);
          })),
      notes(need_notes(needs)) {}

AnalyzeNeeds::AnalyzeNeeds(Needs& needs, const AnalyzeOptions& given)
    : record(need_record(needs, {})), gemms(need_gemms(needs, given)),
      compared(needs.add<ComparedRank>(kComparedFact, "",
                                       [](const RankItem&, const LoadedTrace& trace) {
                                         const ReportOptions options;
                                         return ComparedRank{trace.shared(TimelineKey{options}),
                                                             trace.shared(OpsSummaryKey{options})};
                                       })),
      collectives(need_collectives(needs)), identity(need_identity(needs)),
      diagnostics(need_diagnostics(needs, {}, kNotedPercent)) {}

ReportOptions compare_report_options() {
  ReportOptions options; // as in the single-configuration scripts
  options.short_kernel_threshold_us = 50;
  options.per_step = true;
  return options;
}

CompareNeeds::CompareNeeds(Needs& needs)
    : part(needs.add<ComparePart>(kCompareFact, "",
                                  [](const RankItem& item, const LoadedTrace& trace) {
                                    const ReportOptions options;
                                    return ComparePart{item.file.rank,
                                                       rank_timeline(trace, options),
                                                       operator_times(trace, options),
                                                       step_work_of(trace, options),
                                                       {}};
                                  })),
      collectives(need_collectives(needs)), identity(need_identity(needs)),
      diagnostics(need_diagnostics(needs, {}, std::nullopt)) {}

ReportOptions top_options(const LoadedTrace& trace, ReportOptions options) {
  choose_gpu(trace.trace, options);
  return options;
}

std::string top_options_text(const ReportOptions& options) {
  return counting_text(options) + gpu_arch_text(options.gpu_arch);
}

TopNeeds::TopNeeds(Needs& needs, const ReportOptions& options, bool causes)
    : rank(needs.add<TopRank>(kTopFact, top_options_text(options),
                              [options](const RankItem&, const LoadedTrace& trace) {
                                return top_rank_of(trace, top_options(trace, options));
                              })),
      record(need_record(needs, options)), collectives(need_collectives(needs)),
      identity(need_identity(needs)), diagnostics(need_diagnostics(needs, options, 0)) {
  if (causes)
    graph = need_graph(needs);
}

void TopNeeds::put(const RankItem& item, RankFacts& facts, TopParts& parts) const {
  name_rank(item, facts[record]);
  parts.put(std::move(facts[rank]), std::move(facts[record]), std::move(facts[collectives]),
            std::move(facts[identity]),
            graph ? std::optional(std::move(facts[*graph])) : std::nullopt);
}

WhyNeeds::WhyNeeds(Needs& needs)
    : graph(need_graph(needs)), record(need_record(needs, {})),
      collectives(need_collectives(needs)), identity(need_identity(needs)),
      diagnostics(need_diagnostics(needs, {}, 0)) {}

FactOf<RankPage> need_page(Needs& needs, const ReportOptions& options, std::size_t ranks) {
  return needs.add<RankPage>(
      kPageFact, fmt::format("{} ranks={}", gpu_arch_text(options.gpu_arch), ranks),
      [options, detail = page_detail(ranks)](const RankItem&, const LoadedTrace& trace) {
        return rank_page_of(trace, top_options(trace, options), detail);
      });
}

std::string page_bytes(const RankPage& page) {
  return encode_part(kPageFact.name, kPageFact.version, page);
}

Result<RankPage> page_of_bytes(std::string_view bytes) {
  return decode_part<RankPage>(kPageFact.name, kPageFact.version, bytes);
}

SweepPageNeeds::SweepPageNeeds(Needs& needs, const ReportOptions& options)
    : record(need_record(needs, {})),
      gemms(need_gemms(needs, {options, kGemmsOfPage, GemmRanking::kRange}, false)),
      collectives(need_collectives(needs)), identity(need_identity(needs)),
      notes(need_notes(needs)) {}

QueryNeeds::QueryNeeds(Needs& needs, const ReportOptions& options, const QueryFacts& wanted)
    : notes(need_notes(needs)) {
  if (wanted.rows)
    rows = needs.add<TraceRows>(kRowsFact, "", [](const RankItem&, const LoadedTrace& trace) {
      const RecordPlace place;
      return TraceRows{rank_record(trace, place), step_records(trace, place),
                       idle_records(trace, place)};
    });
  if (wanted.top)
    top.emplace(needs, options, wanted.causes);
  if (wanted.sweep)
    sweep.emplace(needs, options);
  if (wanted.collectives)
    collectives = top ? top->collectives : need_collectives(needs);
  constexpr std::size_t kAll = 1'000'000;
  if (wanted.gemms)
    gemms = needs.add<GemmFacts>(
        kGemmsFact, "all " + gpu_arch_text(options.gpu_arch),
        [options](const RankItem&, const LoadedTrace& trace) {
          return gemms_of(trace, {top_options(trace, options), kAll, GemmRanking::kRange}, true);
        });
}

void add_default_needs(Needs& needs, bool causes) {
  const CollectivesNeeds collectives(needs);
  const TopNeeds top(needs, {}, causes);
  const CompareNeeds compare(needs);
  needs.spare_frames();
}

void name_rank(const RankItem& item, RankRecord& record) {
  record.key = {item.plan.configuration, item.file.rank};
}

void name_rank(const RankItem& item, GemmFacts& gemms) {
  for (GemmRow& row : gemms.rows)
    row.key = {item.plan.configuration, item.file.rank};
}

} // namespace rankscope
