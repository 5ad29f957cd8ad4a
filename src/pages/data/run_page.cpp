#include "pages/data/run_page.h"

#include "analyses/collectives/collective_findings.h"
#include "analyses/collectives/rank_bandwidth.h"
#include "base/statistics.h"
#include "base/units.h"
#include "pages/data/bandwidth_data.h"
#include "pages/data/page_head.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kMostMembers = 150'000; ///< of collectives, over all ranks
constexpr std::size_t kMostRanks = 256;       ///< that a page shows one by one
constexpr std::size_t kMostRows = 1000;       ///< of a table
constexpr std::size_t kMostGroups = 64;

/// The ranks that the page shows one by one, as places in the list of all.
class Shown {
public:
  explicit Shown(const TopFacts& top) : place_(top.ranks.size(), kNone) {
    const std::size_t all = top.ranks.size();
    std::vector<bool> take(all, all <= kMostRanks);
    if (all > kMostRanks) {
      for (const auto of : {&TopRankRow::total_ms, &TopRankRow::compute_ms, &TopRankRow::exposed_ms,
                            &TopRankRow::idle_ms, &TopRankRow::late_us})
        take_ends(top, of, take);
      for (std::size_t r = 0; r < all; ++r)
        take[r] = take[r] || (marked(top.ranks[r]) && count(take) < kMostRanks / 2);
      const std::size_t left = kMostRanks - count(take);
      for (std::size_t i = 0; i < left; ++i) // and some of the others, evenly
        take[i * all / left] = true;
    }
    for (std::size_t r = 0; r < all; ++r)
      if (take[r]) {
        place_[r] = static_cast<std::uint32_t>(ranks_.size());
        ranks_.push_back(r);
      }
  }
  [[nodiscard]] const std::vector<std::size_t>& ranks() const { return ranks_; }
  [[nodiscard]] bool all() const { return ranks_.size() == place_.size(); }
  /// Among those that are shown; none of a rank that is not.
  [[nodiscard]] std::optional<std::uint32_t> place(std::size_t rank) const {
    return rank < place_.size() && place_[rank] != kNone ? std::optional(place_[rank])
                                                         : std::nullopt;
  }

private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static bool marked(const TopRankRow& row) { return row.slow || row.late; }
  static std::size_t count(const std::vector<bool>& take) {
    return static_cast<std::size_t>(std::count(take.begin(), take.end(), true));
  }
  /// The ranks with the most and the least of a time.
  static void take_ends(const TopFacts& top, double TopRankRow::*of, std::vector<bool>& take) {
    constexpr std::size_t kEach = 8;
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < top.ranks.size(); ++r)
      if (std::isfinite(top.ranks[r].*of))
        order.push_back(r);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return top.ranks[a].*of < top.ranks[b].*of;
    });
    for (std::size_t i = 0; i < std::min(kEach, order.size()); ++i)
      take[order[i]] = take[order[order.size() - 1 - i]] = true;
  }

  std::vector<std::size_t> ranks_;
  std::vector<std::uint32_t> place_;
};

const char* name_of(Severity severity) {
  return severity == Severity::kDataLoss  ? "loss"
         : severity == Severity::kWarning ? "warning"
                                          : "note";
}

std::string plural(std::int64_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

PageHead head_of(const RunPageInput& input, const Shown& shown) {
  const TopFacts& top = *input.top;
  PageHead out;
  out.kind = "run";
  out.title = top.overview.title;
  out.subtitle = top.overview.device.empty() ? "GPU" : top.overview.device;
  out.subtitle += " x " + plural(top.overview.ranks, "rank");
  if (top.overview.steps > 0)
    out.subtitle += " x " + plural(top.overview.steps, "step");
  out.command = input.command;
  out.links = input.links;
  for (const RankPage& r : input.ranks)
    if (r.base_ns != 0 && (out.begun_ns == 0 || r.base_ns + r.start_ns < out.begun_ns))
      out.begun_ns = r.base_ns + r.start_ns;
  for (const TopProblem& p : top.problems)
    out.badges.push_back({name_of(p.severity), p.text, p.where});
  double communication_ms = 0; // operators do not account for it
  for (const TopCommunication& c : top.communication)
    communication_ms += c.ms;
  const double work_ms = top.overview.kernel_ms - communication_ms;
  if (work_ms > 0) {
    const double without = 100 * (work_ms - top.overview.operator_ms) / work_ms;
    if (without >= 0.1)
      out.badges.push_back({without >= 5 ? "warning" : "note",
                            fmt::format("{:.1f} % of kernel time has no operator", without),
                            "of kernels other than collectives: no row of unified_perf_summary "
                            "accounts for it"});
  }
  out.findings = top.findings;
  for (const TopNext& n : top.next)
    out.next.push_back({shell_text(n.command), n.why});
  for (const std::size_t r : shown.ranks())
    out.files.push_back(top.ranks[r].path);
  if (!shown.all())
    out.badges.push_back(
        {"note",
         fmt::format("{} of {} ranks are shown one by one", shown.ranks().size(), top.ranks.size()),
         "the slow and the late ones, those with the most and the least of each "
         "time, and others evenly; figures over ranks are of all"});
  return out;
}

void add_times(PageBlob& page, const TopFacts& top) {
  JsonWriter& json = page.json;
  json.begin_object("overview");
  json.integer("ranks", top.overview.ranks);
  json.integer("steps", top.overview.steps);
  json.number("total_ms", top.overview.total_ms);
  json.integer("launches", top.overview.kernel_launches);
  json.number("kernel_ms", top.overview.kernel_ms);
  json.number("operator_ms", top.overview.operator_ms);
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
    json.integer("gaps", i.gaps);
    json.end_object();
  }
  json.end_list();
}

/// A distance of clocks that leaves room to add times to it.
std::int64_t bounded(std::int64_t ns) {
  return std::clamp(ns, -kMaxTimeNs / 2, kMaxTimeNs / 2);
}

/// What to add to the times of a rank's file so that all ranks have one clock.
std::map<std::int64_t, std::int64_t> shifts_of(const RunPageInput& input) {
  std::map<std::int64_t, std::int64_t> out;
  std::int64_t lowest = 0;
  for (const RankPage& r : input.ranks)
    lowest = lowest == 0 ? r.base_ns : std::min(lowest, r.base_ns);
  for (const RankPage& r : input.ranks)
    out[r.rank] = bounded(r.base_ns - lowest);
  if (input.collectives == nullptr)
    return out;
  std::map<std::int64_t, bool> known;
  for (const TimedCollective& c : input.collectives->collectives)
    for (std::size_t m = 0; m < c.match.members.size(); ++m) {
      const auto [place, row] = c.match.members[m];
      const RankCollectives& rank = input.collectives->ranks[place];
      if (!known[rank.rank])
        out[rank.rank] = bounded(c.start_ns[m] - rank.rows[row].ts_ns);
      known[rank.rank] = true;
    }
  return out;
}

std::uint32_t share_of(std::int64_t ns, std::int64_t width) {
  return static_cast<std::uint32_t>(
      std::lround(255.0 * static_cast<double>(ns) / static_cast<double>(width)));
}

void add_columns(PageBlob& page, const PageLane& lane, const std::vector<std::uint32_t>& texts) {
  const LaneColumns& c = *lane.columns;
  constexpr std::array<const char*, kLaneKinds> kKeys = {"compute", "exposed", "hidden", "copy"};
  page.json.begin_object("columns");
  page.json.integer("width", c.width_ns);
  std::vector<std::uint32_t> values(c.ns.size());
  for (std::size_t k = 0; k < kLaneKinds; ++k) {
    for (std::size_t i = 0; i < c.ns.size(); ++i)
      values[i] = share_of(c.ns[i][k], c.width_ns);
    page.whole(kKeys[k], values);
  }
  for (std::size_t i = 0; i < lane.longest.size(); ++i)
    values[i] = texts[lane.longest[i]];
  page.whole("longest", values);
  page.whole("begun", c.begun);
  page.json.end_object();
}

/// One array of a lane's events.
template <class Get>
void add_event_array(PageBlob& page, const char* key, const PageLane& lane, Get get) {
  std::vector<std::uint32_t> values;
  values.reserve(lane.events.size());
  for (const PageEvent& e : lane.events)
    values.push_back(get(e));
  page.whole(key, values);
}

template <class Get>
void add_event_times(PageBlob& page, const char* key, const PageLane& lane, Get get) {
  std::vector<std::int64_t> values;
  values.reserve(lane.events.size());
  for (const PageEvent& e : lane.events)
    values.push_back(get(e));
  page.times(key, values);
}

void add_lane(PageBlob& page, const RankPage& rank, const PageLane& lane, bool with_rows,
              const std::vector<std::uint32_t>& texts) {
  JsonWriter& json = page.json;
  json.begin_object();
  json.integer("device", lane.device);
  json.integer("stream", lane.stream);
  json.integer("in_trace", static_cast<std::int64_t>(lane.in_trace));
  json.begin_object("events");
  json.integer("n", static_cast<std::int64_t>(lane.events.size()));
  const auto text = [&](StrId PageEvent::*id) {
    return [&texts, id](const PageEvent& e) { return texts[e.*id]; };
  };
  add_event_times(page, "start", lane,
                  [&](const PageEvent& e) { return e.at.start_ns - rank.start_ns; });
  add_event_times(page, "dur", lane, [](const PageEvent& e) { return e.at.dur_ns; });
  add_event_array(page, "kind", lane,
                  [](const PageEvent& e) { return static_cast<std::uint32_t>(e.at.kind); });
  add_event_array(page, "name", lane, text(&PageEvent::name));
  add_event_array(page, "op", lane, text(&PageEvent::op));
  add_event_array(page, "about", lane, text(&PageEvent::about));
  if (with_rows)
    add_event_array(page, "row", lane, [](const PageEvent& e) {
      return e.operator_row == kNoDetail ? 0 : e.operator_row + 1;
    });
  // in 0.1 us, 0 = unknown
  add_event_array(page, "delay", lane, [](const PageEvent& e) {
    return e.delay_ns < 0 ? 0U
                          : static_cast<std::uint32_t>(
                                std::min<std::int64_t>(e.delay_ns / 100, 0xfffffffeLL) + 1);
  });
  add_event_array(page, "hidden", lane, [](const PageEvent& e) { // percent
    return e.at.dur_ns > 0 ? static_cast<std::uint32_t>(100 * (static_cast<double>(e.hidden_ns) /
                                                               static_cast<double>(e.at.dur_ns)))
                           : 0U;
  });
  json.end_object();
  if (lane.columns)
    add_columns(page, lane, texts);
  json.end_object();
}

void add_rank(PageBlob& page, const RankPage& rank, std::int64_t shift_ns, bool alone) {
  std::vector<std::uint32_t> texts; // of the rank's ids
  for (StrId id = 0; id < rank.texts.size(); ++id)
    texts.push_back(page.text(rank.texts.view(id)));
  JsonWriter& json = page.json;
  json.begin_object();
  json.integer("rank", rank.rank);
  json.integer("at", shift_ns); // of its first GPU event on the page's clock
  json.integer("span", rank.end_ns - rank.start_ns);
  json.begin_list("lanes");
  for (const PageLane& lane : rank.lanes)
    add_lane(page, rank, lane, alone, texts);
  json.end_list();
  json.begin_list("steps");
  for (const ProfilerStep& s : rank.steps) {
    json.begin_object();
    json.integer("step", s.number);
    json.integer("start", s.start_ns - rank.start_ns);
    json.integer("end", s.end_ns - rank.start_ns);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

void add_board(PageBlob& page, const GpuArch& board) {
  JsonWriter& json = page.json;
  json.begin_object("board");
  json.text("name", board.name);
  json.number("gbps", board.mem_bw_gbps);
  json.begin_list("peaks");
  for (const auto& [spec, tflops] : board.tflops) {
    json.begin_object();
    json.text("spec", spec);
    json.number("tflops", tflops);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

Schema<PageOperator> page_operator_schema() {
  using R = PageOperator;
  constexpr CellKind kInt = CellKind::kInt;
  constexpr CellKind kDouble = CellKind::kDouble;
  constexpr CellKind kText = CellKind::kText;
  return {"operators",
          "operators that account for GPU work, as in unified_perf_summary",
          {{"name", "operator", Unit::kNone, kText, [](const R& r) { return Value(r.name); },
            "operator; for kernels that none covers, what launched them and the kernel"},
           {"shapes", "shapes", Unit::kNone, kText,
            [](const R& r) { return text_or_blank(r.shapes); }, "recorded shapes of the inputs"},
           {"category", "category", Unit::kNone, kText,
            [](const R& r) { return Value(r.category); }, "what kind of work the operator does"},
           {"calls", "calls", Unit::kCount, kInt, [](const R& r) { return Value(r.count); },
            "calls with these shapes and types"},
           {"kernel_ms", "kernel time (ms)", Unit::kMs, kDouble,
            [](const R& r) { return Value(r.kernel_ns / 1e6); }, "sum over the calls"},
           {"percent", "share (%)", Unit::kPercent, kDouble,
            [](const R& r) { return Value(r.percent); }, "of the kernel time of all rows"},
           {"min_us", "min (us)", Unit::kUs, kDouble, [](const R& r) { return Value(r.min_us); },
            "kernel time of the shortest call"},
           {"median_us", "median (us)", Unit::kUs, kDouble,
            [](const R& r) { return Value(r.median_us); }, "kernel time of a call"},
           {"mean_us", "mean (us)", Unit::kUs, kDouble, [](const R& r) { return Value(r.mean_us); },
            "kernel time of a call"},
           {"max_us", "max (us)", Unit::kUs, kDouble, [](const R& r) { return Value(r.max_us); },
            "kernel time of the longest call"},
           {"tflops", "TFLOPS/s", Unit::kTflops, kDouble,
            [](const R& r) { return Value(r.tflops); }, "mean over the calls"},
           {"tbps", "TB/s", Unit::kTBps, kDouble, [](const R& r) { return Value(r.tbps); },
            "mean over the calls"},
           {"roofline_percent", "of roofline (%)", Unit::kPercent, kDouble,
            [](const R& r) { return Value(100 * r.roofline_us / r.mean_us); },
            "least time that the board could take over the mean of a call"},
           {"bound", "bound", Unit::kNone, kText,
            [](const R& r) {
              return std::isnan(r.roofline_us) ? Value()
                                               : Value(r.compute_bound ? "compute" : "memory");
            },
            "what the roofline says limits it"},
           {"flops", "FLOP of a call", Unit::kNone, kDouble,
            [](const R& r) { return Value(r.flops); }, "by the operator's model"},
           {"bytes", "bytes of a call", Unit::kBytes, kDouble,
            [](const R& r) { return Value(r.bytes); }, "by the operator's model"},
           {"spec", "peak", Unit::kNone, kText, [](const R& r) { return text_or_blank(r.spec); },
            "which peak of the board its work is held against"},
           {"types", "types", Unit::kNone, kText, [](const R& r) { return text_or_blank(r.types); },
            "recorded types of the inputs"},
           {"one_kernel", "one kernel", Unit::kNone, CellKind::kBool,
            [](const R& r) { return Value(r.one_kernel); }, "a call is one kernel"}}};
}

void add_queue(PageBlob& page, const LaunchQueue& queue) {
  page.json.begin_object("queue");
  page.json.integer("width", queue.width_ns);
  page.reals("depth", queue.depth);
  page.whole("most", queue.most);
  page.json.begin_list("causes");
  std::vector<double> share(queue.idle_ns.size());
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    for (std::size_t i = 0; i < share.size(); ++i)
      share[i] =
          100 * static_cast<double>(queue.idle_ns[i][cause]) / static_cast<double>(queue.width_ns);
    page.json.begin_object();
    page.json.text("cause", idle_cause_name(static_cast<IdleCause>(cause)));
    page.json.text("help", idle_cause_help(static_cast<IdleCause>(cause)));
    page.reals("percent", share);
    page.json.end_object();
  }
  page.json.end_list();
  page.json.end_object();
}

/// Of one trace: what a page of many ranks leaves out.
void add_details(PageBlob& page, const RankPage& rank) {
  if (rank.board)
    add_board(page, *rank.board);
  page.table("operators", page_operator_schema().table(rank.operators));
  const double total = std::accumulate(
      rank.kernels.begin(), rank.kernels.end(), 0.0,
      [](double sum, const KernelSpread& k) { return sum + static_cast<double>(k.sum_ns); });
  page.table("kernels", kernel_spread_schema(rank.texts, total).table(rank.kernels));
  add_queue(page, rank.queue);
}

/// The steps of all ranks, an array for each kind of time: rank by rank, NaN where a rank lacks
/// one.
void add_steps(PageBlob& page, const std::vector<RankRecord>& all, const Shown& shown) {
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

/// Collectives by the largest wait, then the latency, until the page has enough members.
std::vector<const TimedCollective*> chosen(const CollectiveFacts& facts, const Shown& shown) {
  const auto size = [&shown](const TimedCollective& c) {
    return std::min(c.match.members.size(), shown.ranks().size());
  };
  std::vector<const TimedCollective*> out;
  std::size_t members = 0;
  for (const TimedCollective& c : facts.collectives)
    if (c.match.members.size() > 1) {
      out.push_back(&c);
      members += size(c);
    }
  if (members <= kMostMembers)
    return out;
  const auto weight = [](const TimedCollective* c) {
    return c->latest_start_ns - *std::min_element(c->start_ns.begin(), c->start_ns.end());
  };
  std::stable_sort(out.begin(), out.end(), [&](const TimedCollective* a, const TimedCollective* b) {
    return weight(a) > weight(b);
  });
  std::size_t kept = 0;
  members = 0;
  while (kept < out.size() && members + size(*out[kept]) <= kMostMembers)
    members += size(*out[kept++]);
  out.resize(kept);
  return out;
}

void add_members(PageBlob& page, const CollectiveFacts& facts, std::int64_t origin_ns,
                 const Shown& shown) {
  const std::vector<const TimedCollective*> list = chosen(facts, shown);
  std::vector<std::uint32_t> name, group, members, rank;
  std::vector<std::int64_t> start, dur;
  std::vector<double> mib, bus;
  for (const TimedCollective* c : list) {
    const std::size_t before = rank.size();
    for (std::size_t m = 0; m < c->match.members.size(); ++m) {
      const std::optional<std::uint32_t> place = shown.place(c->match.members[m].first);
      if (!place)
        continue;
      rank.push_back(*place);
      start.push_back(std::clamp(c->start_ns[m], -2 * kMaxTimeNs, 2 * kMaxTimeNs) - origin_ns);
      dur.push_back(c->end_ns[m] - c->start_ns[m]);
    }
    if (rank.size() == before)
      continue;
    name.push_back(page.text(c->first_rank->text(c->first->name)));
    group.push_back(page.text(c->match.pg));
    members.push_back(static_cast<std::uint32_t>(rank.size() - before));
    mib.push_back(c->full_mib);
    bus.push_back(c->bus_gbps);
  }
  page.json.begin_object("matched");
  page.json.integer("in_run", static_cast<std::int64_t>(facts.collectives.size()));
  page.whole("name", name);
  page.whole("group", group);
  page.whole("members", members);
  page.reals("mib", mib);
  page.reals("bus", bus);
  page.whole("rank", rank); // place in the list of ranks
  page.times("start", start);
  page.times("dur", dur);
  page.json.end_object();
}

/// Bandwidth against size: a mark for each kind of collective.
void add_bandwidths(PageBlob& page, const CollectiveFacts& facts) {
  page.json.begin_list("bandwidths");
  const std::vector<SyncSummary> like = over_like_groups(facts.summary);
  for (const SyncSummary& s : facts.summary.size() > kMostRows ? like : facts.summary) {
    page.json.begin_object();
    add_bandwidth(page.json, s);
    page.json.end_object();
  }
  page.json.end_list();
}

/// Bandwidth by rank: classes of collectives, and cells of a class and a rank.
void add_rank_bandwidths(PageBlob& page, const CollectiveFacts& facts, const Shown& shown) {
  constexpr std::size_t kMostClasses = 32;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::vector<BandwidthClass> classes = bandwidth_by_rank(facts);
  classes.resize(std::min(classes.size(), kMostClasses));
  std::vector<std::uint32_t> of_class, rank, count;
  std::vector<double> bus, others, difference, half;
  page.json.begin_object("rank_bandwidth");
  page.json.begin_list("classes");
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const BandwidthClass& one = classes[c];
    page.json.begin_object();
    page.json.text("name", one.name);
    page.json.text("dtype", one.dtype);
    page.json.integer("size", one.group_size == kNoId ? 0 : one.group_size);
    page.json.number("mib", one.full_mib);
    page.json.end_object();
    for (const RankBandwidth& r : one.ranks) {
      const std::optional<std::uint32_t> place = shown.place(r.rank);
      if (!place)
        continue;
      of_class.push_back(static_cast<std::uint32_t>(c));
      rank.push_back(*place);
      count.push_back(static_cast<std::uint32_t>(r.collectives));
      bus.push_back(r.bus_gbps);
      others.push_back(r.others_bus_gbps);
      difference.push_back(r.difference ? r.difference->difference : kNaN);
      half.push_back(r.difference ? r.difference->half_width : kNaN);
    }
  }
  page.json.end_list();
  page.whole("class", of_class);
  page.whole("rank", rank);
  page.whole("count", count);
  page.reals("bus", bus);
  page.reals("others", others);
  page.reals("difference", difference);
  page.reals("half", half);
  page.json.end_object();
}

/// Who is late: mean over the steps of how much later a rank comes, with its interval; together the
/// intervals hold at 95 %.
void add_skew(PageBlob& page, const CollectiveFacts& facts, const Shown& shown) {
  std::set<std::int64_t> ranks;
  for (const std::size_t r : shown.ranks())
    ranks.insert(facts.ranks[r].rank);
  page.json.begin_list("skew");
  for (const Straggler& s : facts.stragglers) {
    if (ranks.count(s.rank) == 0)
      continue;
    page.json.begin_object();
    page.json.integer("rank", s.rank);
    page.json.integer("collectives", s.collectives);
    page.json.number("last_percent", s.percent_of(s.last));
    page.json.number("wait_ms", ns_to_ms(s.wait_ns));
    const std::optional<MeanDifference> late =
        mean_interval(s.late_us, corrected_alpha(facts.stragglers.size()));
    if (late) {
      page.json.number("late_us", late->difference);
      page.json.number("low", late->difference - late->half_width);
      page.json.number("high", late->difference + late->half_width);
    } else {
      page.json.null("late_us");
    }
    page.json.end_object();
  }
  page.json.end_list();
}

/// Which ranks have met in which group, and how long.
void add_groups(PageBlob& page, const CollectiveFacts& facts, const Shown& shown) {
  std::map<std::string, std::set<std::uint32_t>> members;
  for (const TimedCollective& c : facts.collectives)
    for (const auto& [rank, row] : c.match.members)
      if (const std::optional<std::uint32_t> place = shown.place(rank))
        members[c.match.pg].insert(*place);
  page.json.begin_list("groups");
  std::size_t listed = 0;
  for (const GroupSummary& g : facts.groups) { // most time first
    if (members[g.name].empty() || listed++ >= kMostGroups)
      continue;
    page.json.begin_object();
    page.json.text("name", g.name);
    page.json.text("description", g.description);
    page.json.text("span", g.node_span);
    page.json.integer("size", g.size == kNoId ? 0 : g.size);
    page.json.integer("collectives", g.collectives);
    page.json.number("mib", g.mib);
    page.json.number("ms", ns_to_ms(g.dur_ns));
    page.json.number("bus", g.median_bus_gbps);
    const std::set<std::uint32_t>& of = members[g.name];
    page.whole("members", std::vector<std::uint32_t>(of.begin(), of.end()));
    page.json.end_object();
  }
  page.json.end_list();
}

/// The lists of `top` that a page of many ranks shows as tables.
void add_tables(PageBlob& page, const TopFacts& top, const Shown& shown) {
  Report report = top_report(top);
  for (Table& table : report.tables) {
    const std::string name = table.name();
    if (name == "top_ranks")
      table.reorder(shown.ranks());
    else if (name != "top_kernels" && name != "top_operators" && name != "top_collectives")
      continue;
    if (table.rows() > kMostRows) { // the largest come first
      std::vector<std::size_t> first(kMostRows);
      std::iota(first.begin(), first.end(), std::size_t{0});
      table.reorder(first);
    }
    if (table.rows() > 0)
      page.table(name, table);
  }
}

} // namespace

Schema<KernelSpread> kernel_spread_schema(const StringPool& texts, double total_ns) {
  using R = KernelSpread;
  constexpr CellKind kText = CellKind::kText;
  Schema<R> out{"kernels",
                "kernels, copies and fills by name, with the spread of their durations",
                {{"name", "kernel", Unit::kNone, kText,
                  [&texts](const R& r) { return Value(texts.view(r.name)); }, "its whole name"},
                 {"kind", "kind", Unit::kNone, kText,
                  [](const R& r) {
                    return Value(r.kind == LaneKind::kCompute ? "computation"
                                 : r.kind == LaneKind::kCopy  ? "copy"
                                                              : "communication");
                  },
                  "as gpu_timeline counts it"},
                 {"count", "count", Unit::kCount, CellKind::kInt,
                  [](const R& r) { return Value(r.count); }, "how often it ran"},
                 {"sum_ms", "sum (ms)", Unit::kMs, CellKind::kDouble,
                  [](const R& r) { return Value(ns_to_ms(r.sum_ns)); }, "sum of the durations"},
                 {"percent", "share (%)", Unit::kPercent, CellKind::kDouble,
                  [total_ns](const R& r) {
                    return Value(total_ns > 0 ? 100 * static_cast<double>(r.sum_ns) / total_ns : 0);
                  },
                  "of the durations of all rows"}}};
  const auto add = [&out](const char* id, const char* label, std::int64_t R::*ns,
                          const char* help) {
    out.add({id, label, Unit::kUs, CellKind::kDouble,
             [ns](const R& r) { return Value(ns_to_us(r.*ns)); }, help});
  };
  add("min_us", "min (us)", &R::min_ns, "shortest");
  add("p25_us", "p25 (us)", &R::p25_ns, "a quarter of them are not longer");
  add("median_us", "median (us)", &R::median_ns, "half of them are not longer");
  add("p75_us", "p75 (us)", &R::p75_ns, "three quarters of them are not longer");
  add("p95_us", "p95 (us)", &R::p95_ns, "95 of 100 are not longer");
  add("max_us", "max (us)", &R::max_ns, "longest");
  return out;
}

std::string run_page_data(const RunPageInput& input) {
  PageBlob page;
  const Shown shown(*input.top);
  add_head(page, head_of(input, shown));
  add_times(page, *input.top);
  const bool alone = input.ranks.size() == 1;
  const std::map<std::int64_t, std::int64_t> shifts = shifts_of(input);
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  for (const RankPage& r : input.ranks)
    origin = std::min(origin, r.start_ns + shifts.at(r.rank));
  page.json.begin_list("ranks");
  for (const std::size_t at : shown.ranks()) {
    const RankPage& r = input.ranks[at];
    add_rank(page, r, r.start_ns + shifts.at(r.rank) - origin, alone);
  }
  page.json.end_list();
  add_steps(page, input.parts->records, shown);
  if (alone) {
    add_details(page, input.ranks.front());
  } else {
    add_tables(page, *input.top, shown);
    if (input.collectives != nullptr) {
      add_members(page, *input.collectives, origin, shown);
      add_bandwidths(page, *input.collectives);
      add_rank_bandwidths(page, *input.collectives, shown);
      add_skew(page, *input.collectives, shown);
      add_groups(page, *input.collectives, shown);
    }
  }
  return page.take();
}

} // namespace rankscope
