#include "pages/data/run_page.h"

#include "analyses/collectives/run_clock.h"
#include "analyses/top/top_words.h"
#include "base/sort.h"
#include "base/units.h"
#include "pages/data/lane_data.h"
#include "pages/data/page_head.h"
#include "pages/data/rank_details.h"
#include "pages/data/run_collectives.h"
#include "pages/data/shown_ranks.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string_view>

namespace rankscope {
namespace {

constexpr std::size_t kRunPageMostRows = 1000; ///< rows per table

std::string plural(std::int64_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// Returns whether a rank has GPU work. Without it, its times are 0 and have no meaning.
bool has_work(const RankPage& rank) {
  return rank.start_ns != 0 || rank.end_ns != 0;
}

PageHead head_of(const RunPageInput& input, const ShownRanks& shown) {
  const TopFacts& top = *input.top;
  PageHead out;
  out.kind = "run";
  out.title = top.overview.title;
  out.subtitle = top.overview.device.empty() ? "GPU" : top.overview.device;
  out.subtitle += " x " + plural(top.overview.ranks, "rank");
  if (const std::string steps = steps_of_ranks(top.overview); !steps.empty())
    out.subtitle += " x " + steps;
  out.command = input.command;
  out.links = input.links;
  for (const RankPage& r : input.ranks)
    if (r.base_ns != 0 && has_work(r) &&
        (out.begun_ns == 0 || r.base_ns + r.start_ns < out.begun_ns))
      out.begun_ns = r.base_ns + r.start_ns;
  for (const Problem& p : top.problems)
    out.badges.push_back({severity_name(p.severity), p.sentence, p.where});
  const double without = percent_of(top.overview.no_operator_ms, top.overview.work_ms);
  if (without >= 0.1)
    out.badges.push_back(
        {without >= 5 ? "warning" : "note",
         fmt::format("{:.1f} % of the GPU time without communication has no operator", without),
         "no operator is above the launch of this work, or its launch is not in the trace"});
  out.findings = top.findings;
  for (const TopNext& n : top.next)
    if (n.command.at(1) != "page") // this is that page
      out.next.push_back({shell_text(n.command), n.why});
  for (const std::size_t r : shown.ranks())
    out.files.push_back(top.ranks[r].path);
  if (!shown.all())
    out.badges.push_back(
        {"note",
         fmt::format("{} of {} ranks are shown one by one", shown.ranks().size(), top.ranks.size()),
         "slow and late ranks, the ranks with the highest and the lowest value of each time, and "
         "an even choice of the others; values over ranks include all ranks"});
  return out;
}

void add_times(PageBlob& page, const TopFacts& top) {
  JsonWriter& json = page.json;
  json.begin_object("overview");
  json.integer("ranks", top.overview.ranks);
  json.integer("steps", top.overview.steps);
  json.number("total_ms", top.overview.total_ms);
  json.end_object();
  json.begin_object("times_ms");
  for (const TopTime& t : top.times)
    json.number(time_kind_name(t.kind), t.ms);
  json.end_object();
  json.begin_list("idle");
  for (const TopIdle& i : top.idle) {
    json.begin_object();
    json.text("cause", idle_cause_name(i.cause));
    json.text("help", idle_cause_help(i.cause));
    json.number("ms", i.ms);
    json.end_object();
  }
  json.end_list();
}

RunClock clock_of(const RunPageInput& input) {
  std::vector<RankTimes> ranks;
  for (const RankPage& r : input.ranks)
    ranks.push_back({r.rank, r.base_ns, has_work(r) ? std::optional(r.start_ns) : std::nullopt});
  return RunClock(std::move(ranks), input.collectives);
}

/// Adds the steps of the shown ranks. There is one array per kind of time, rank by rank, with NaN
/// for missing steps. "slow" has the places of the slow ranks among the shown ones.
void add_steps(PageBlob& page, const TopFacts& top, const std::vector<RankRecord>& all,
               const ShownRanks& shown) {
  std::vector<std::reference_wrapper<const RankRecord>> records;
  for (const std::size_t r : shown.ranks())
    records.emplace_back(all[r]);
  std::map<std::int64_t, std::size_t> column;
  for (const RankRecord& r : records)
    for (const StepTimes& s : r.steps)
      column.emplace(s.step, 0);
  std::size_t next = 0;
  for (auto& [step, at] : column)
    at = next++;
  JsonWriter& json = page.json;
  json.begin_object("steps");
  std::vector<double> numbers;
  for (const auto& [step, at] : column)
    numbers.push_back(static_cast<double>(step));
  page.reals("number", numbers);
  numbers.clear();
  for (const RankRecord& r : records)
    numbers.push_back(static_cast<double>(r.key.rank));
  page.reals("rank", numbers);
  std::vector<std::uint32_t> slow;
  for (std::size_t r = 0; r < shown.ranks().size(); ++r)
    if (top.ranks[shown.ranks()[r]].slow)
      slow.push_back(static_cast<std::uint32_t>(r));
  page.integers("slow", slow);
  for (const TimeKind kind : {TimeKind::kTotal, TimeKind::kComputation, TimeKind::kExposedComm,
                              TimeKind::kExposedMemcpy, TimeKind::kIdle}) {
    std::vector<double> ms(records.size() * column.size(),
                           std::numeric_limits<double>::quiet_NaN());
    for (std::size_t r = 0; r < records.size(); ++r)
      for (const StepTimes& s : records[r].get().steps)
        ms[r * column.size() + column[s.step]] =
            static_cast<double>(s.ns[static_cast<std::size_t>(kind)]) / 1e6;
    page.reals(time_kind_name(kind), ms);
  }
  json.end_object();
}

/// Adds the lists from `top` that a page of many ranks shows as tables.
void add_tables(PageBlob& page, const TopFacts& top, const ShownRanks& shown) {
  Report report = top_report(top);
  for (Table& table : report.tables) {
    const std::string name = table.name();
    if (name == "top_ranks")
      table.reorder(shown.ranks());
    else if (name != "top_kernels" && name != "top_operators" && name != "top_collectives")
      continue;
    if (table.rows() > kRunPageMostRows) { // the largest values come first
      std::vector<std::size_t> first(kRunPageMostRows);
      std::iota(first.begin(), first.end(), std::size_t{0});
      table.reorder(first);
    }
    if (table.rows() > 0)
      page.table(name, table);
  }
}

/// Adds the critical path as events of one lane.
void add_path(PageBlob& page, const RunPageInput& input, const RunClock& clock) {
  // kinds of a lane, then the host; 5: between activities
  static const std::map<std::string_view, std::uint32_t> kinds = {
      {"kernel", 0}, {"collective", 1}, {"copy", 3}, {"set", 3}, {"host", 4}, {"call", 4}};
  struct Event {
    std::int64_t start, dur;
    const PathPart* part;
  };
  std::vector<Event> events;
  for (const PathPart& part : input.path) {
    const auto rank = std::ranges::find(input.ranks, part.rank, &RankPage::rank);
    if (rank == input.ranks.end() || !has_work(*rank))
      continue;
    const std::int64_t end = clock.since_start(part.rank, part.end_ns);
    const std::int64_t start = std::max<std::int64_t>(0, end - (part.end_ns - part.begin_ns));
    if (start < end) // else it is before the first GPU work
      events.push_back({start, end - start, &part});
  }
  if (events.empty())
    return;
  sort_stably(events, {}, &Event::start); // clocks of ranks differ a little
  page.json.begin_object("path");
  page.times_of("start", events, [](const Event& e) { return e.start; });
  page.times_of("dur", events, [](const Event& e) { return e.dur; });
  page.integers_of("kind", events, [](const Event& e) {
    const auto known = kinds.find(e.part->kind);
    return known == kinds.end() ? 5U : known->second;
  });
  page.integers_of("name", events, [&](const Event& e) { return page.text(e.part->kind); });
  page.integers_of("what", events, [&](const Event& e) { return page.text(e.part->what); });
  page.integers_of("rank", events,
                   [](const Event& e) { return static_cast<std::uint32_t>(e.part->rank); });
  page.json.end_object();
}

} // namespace

Result<std::string> run_page_data(const RunPageInput& input) {
  PageBlob page;
  const ShownRanks shown(*input.top);
  add_head(page, head_of(input, shown));
  add_times(page, *input.top);
  // if only one of several ranks is left, it has no more detail than the others
  const bool alone = input.ranks.size() == 1 && !input.ranks.front().queue.depth.empty();
  const RunClock clock = clock_of(input);
  page.json.begin_list("ranks");
  for (const std::size_t at : shown.ranks()) {
    const RankPage& r = input.ranks[at];
    const auto page_ns = [&](std::int64_t ts_ns) {
      return has_work(r) ? clock.since_start(r.rank, ts_ns) : 0;
    };
    if (input.load_rank) {
      RS_TRY(const RankPage loaded, input.load_rank(at));
      add_rank(page, loaded, page_ns, alone);
    } else {
      add_rank(page, r, page_ns, alone);
    }
  }
  page.json.end_list();
  add_path(page, input, clock);
  add_steps(page, *input.top, input.parts->records, shown);
  if (alone) {
    add_details(page, input.ranks.front());
  } else {
    add_tables(page, *input.top, shown);
    if (input.collectives != nullptr)
      add_run_collectives(page, *input.collectives, clock.origin_ns(), shown);
  }
  return page.take();
}

} // namespace rankscope
