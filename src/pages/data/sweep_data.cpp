#include "pages/data/sweep_data.h"

#include "analyses/collectives/like_groups.h"
#include "analyses/sweep/sweep_compare.h"
#include "base/number_text.h"
#include "pages/data/bandwidth_data.h"
#include "pages/data/page_head.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

PageHead head_of(const SweepPageInput& input) {
  const SweepFacts& facts = *input.facts;
  PageHead out;
  out.kind = "sweep";
  out.title = input.title;
  out.command = input.command;
  out.links = input.links;
  std::set<std::string> labels;
  std::set<std::int64_t> ranks;
  std::size_t fewest = SIZE_MAX, steps = 0, lost = 0; // steps of the ranks that could be read
  for (const RankRecord& r : facts.records) {
    labels.insert(r.key.configuration.label);
    ranks.insert(r.key.rank);
    if (r.error.empty()) {
      fewest = std::min(fewest, r.steps.size());
      steps = std::max(steps, r.steps.size());
      continue;
    }
    ++lost;
    out.badges.push_back({"loss", to_text(r.key) + " could not be read", r.error});
  }
  out.subtitle =
      fmt::format("{} x {} x {}", counted(labels.size(), "configuration", "configurations"),
                  counted(ranks.size(), "rank", "ranks"),
                  (fewest < steps ? fmt::format("{} to ", fewest) : std::string()) +
                      counted(steps, "step", "steps"));
  if (steps < 2)
    out.badges.push_back(
        {"warning", "fewer than two steps: noise is unknown", "a difference may be noise"});
  out.findings = facts.findings;
  return out;
}

struct Measure {
  const char* id;
  const char* label;
  TimeKind kind;
};
constexpr std::array kMeasuresOfSweep = {
    Measure{"total", "step time", TimeKind::kTotal},
    Measure{"compute", "computation", TimeKind::kComputation},
    Measure{"exposed", "exposed communication", TimeKind::kExposedComm},
    Measure{"comm", "communication", TimeKind::kTotalComm},
    Measure{"idle", "idle", TimeKind::kIdle}};

/// Adds one measure of one configuration, in ms per step (without steps: of the complete trace).
void add_cell(PageBlob& page, const ConfigurationRanks& group, const Measure& measure,
              const std::optional<StepRanking>& ranking) {
  JsonWriter& json = page.json;
  const std::vector<double> steps = step_means_ms(group, measure.kind);
  json.begin_object();
  const SampleStats stats = sample_stats(steps);
  json.number("ms", steps.empty() ? group.mean_ms(measure.kind) : stats.mean);
  json.integer("steps", static_cast<std::int64_t>(steps.size()));
  if (const auto interval = mean_interval(steps, 0.05)) {
    json.number("low", interval->difference - interval->half_width);
    json.number("high", interval->difference + interval->half_width);
  }
  const auto is = [&](const ConfigurationRanks* candidate) {
    return candidate != nullptr && candidate->configuration == group.configuration;
  };
  if (ranking && is(ranking->best)) {
    json.boolean("best", true);
  } else if (ranking) {
    for (const AgainstBest& other : ranking->others)
      if (is(other.group)) {
        json.number("worse", other.difference.difference);
        json.number("worse_low", other.difference.difference - other.difference.half_width);
        json.number("worse_high", other.difference.difference + other.difference.half_width);
        json.boolean("told", other.significant());
      }
  }
  json.end_object();
}

void add_configurations(PageBlob& page, const std::vector<ConfigurationRanks>& groups) {
  JsonWriter& json = page.json;
  json.begin_list("configurations");
  for (const ConfigurationRanks& g : groups) {
    json.begin_object();
    json.text("label", g.configuration.label);
    json.integer("ranks", static_cast<std::int64_t>(g.ranks.size()));
    json.begin_list("parameters");
    for (const Parameter& p : g.configuration.parameters) {
      json.begin_object();
      json.text("name", p.name);
      json.text("value", p.value);
      json.end_object();
    }
    json.end_list();
    json.end_object();
  }
  json.end_list();
  json.begin_list("measures");
  for (const Measure& m : kMeasuresOfSweep) {
    const std::optional<StepRanking> ranking = rank_by_steps(groups, m.kind);
    json.begin_object();
    json.text("id", m.id);
    json.text("label", m.label);
    json.begin_list("cells");
    for (const ConfigurationRanks& g : groups)
      add_cell(page, g, m, ranking);
    json.end_list();
    json.end_object();
  }
  json.end_list();
}

/// Adds the bandwidths of each configuration by size and by the varied parameters.
void add_bandwidths(PageBlob& page, const SweepPageInput& input,
                    const std::vector<ConfigurationRanks>& groups) {
  constexpr std::size_t kMostRows = 2000;
  std::size_t rows = 0;
  for (const ConfigurationCollectives& collectives : input.facts->collectives)
    rows += collectives.summary.size();
  page.json.begin_list("bandwidths");
  for (const ConfigurationCollectives& collectives : input.facts->collectives) {
    const auto group = std::ranges::find_if(groups, [&](const ConfigurationRanks& g) {
      return g.configuration == collectives.configuration;
    });
    if (group == groups.end())
      continue;
    for (const SyncSummary& s :
         rows > kMostRows ? over_like_groups(collectives.summary) : collectives.summary) {
      page.json.begin_object();
      page.json.integer("configuration", group - groups.begin());
      add_bandwidth(page.json, s);
      page.json.end_object();
    }
  }
  page.json.end_list();
}

/// Adds the calls over time of the products with the most variation. `first` contains the index of
/// each row's first call, and the total number at the end.
void add_gemm_calls(PageBlob& page, const std::vector<GemmRow>& rows) {
  constexpr std::size_t kRowsWithCalls = 256;
  std::vector<std::uint32_t> first = {0};
  std::vector<std::int64_t> at, dur, overlap;
  for (std::size_t r = 0; r < std::min(rows.size(), kRowsWithCalls); ++r) {
    for (const GemmCall& call : rows[r].calls) {
      at.push_back(call.at_ns);
      dur.push_back(call.dur_ns);
      overlap.push_back(call.overlap_ns);
    }
    first.push_back(static_cast<std::uint32_t>(at.size()));
  }
  page.json.begin_object("gemm_calls");
  page.integers("first", first);
  page.times("at", at);
  page.times("dur", dur);
  page.times("overlap", overlap);
  page.json.end_object();
}

} // namespace

std::string sweep_page_data(const SweepPageInput& input) {
  PageBlob page;
  add_head(page, head_of(input));
  const std::vector<ConfigurationRanks> groups = by_configuration(input.facts->records);
  add_configurations(page, groups);
  add_bandwidths(page, input, groups);
  if (!input.facts->gemms.rows.empty()) {
    GemmFacts shown;
    shown.rows = input.facts->gemms.rows; // without the columns of the GEMM sheet
    page.table("gemms", gemm_table(shown, GemmTable::kOverlap, input.facts->top_k));
    add_gemm_calls(page, shown.rows);
  }
  for (const Table& table : summary_tables(input.facts->records, 0))
    if (table.name() == "configurations" || table.name() == "ranks")
      page.table("table_" + table.name(), table);
  if (!input.facts->collectives.empty())
    page.table("collectives", nccl_master(input.facts->collectives));
  return page.take();
}

} // namespace rankscope
