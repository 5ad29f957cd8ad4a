#include "analyses/job/run_edit.h"

#include "analyses/job/contention.h"
#include "base/ascii.h"
#include "base/statistics.h"
#include "base/to_number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rankscope {
namespace {

constexpr double kLargestFactor = 1000;
constexpr double kLargestRate = 1e6; ///< GB/s
constexpr std::size_t kMostFactors = 64;
constexpr std::string_view kTimes = " x ", kAtBandwidth = " at bandwidth ",
                           kAsInRun = " as in run ";

Error no_edit(std::string_view text, std::string why) {
  return {ErrorCode::kUsage, fmt::format("--edit '{}'", text), std::move(why),
          "'kernels=REGEX x 0.5', 'collectives=REGEX x 0.7', 'collectives=REGEX at bandwidth 300', "
          "'op=REGEX x 0', 'op=REGEX as in run PATH', 'host x 0.5', 'delays x 0', 'ranks=LIST as "
          "median' or 'hide collectives'"};
}

/// Returns the error of an edit with the right form.
Error useless(std::string_view text, std::string why) {
  return {ErrorCode::kUsage, fmt::format("--edit '{}'", text), std::move(why), ""};
}

std::vector<std::string_view> separated(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    out.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return out;
}

struct EditForm {
  std::string_view name;
  RunEdit::Target target;
  bool pattern; ///< "=REGEX" may follow
};
constexpr std::array kEditForms = {EditForm{"kernels", RunEdit::Target::kKernels, true},
                                   EditForm{"collectives", RunEdit::Target::kCollectives, true},
                                   EditForm{"op", RunEdit::Target::kOperators, true},
                                   EditForm{"host", RunEdit::Target::kHost, false},
                                   EditForm{"delays", RunEdit::Target::kDelays, false}};

/// Parses "ranks=3,5: as median".
Result<RunEdit> parse_ranks(std::string_view text, RunEdit out) {
  std::string_view list = text.substr(std::string_view("ranks=").size());
  if (!list.ends_with(" as median"))
    return no_edit(text, "ranks can be taken 'as median'");
  list = trimmed(list.substr(0, list.size() - std::string_view(" as median").size()));
  if (list.ends_with(':'))
    list = trimmed(list.substr(0, list.size() - 1));
  for (const std::string_view part : separated(list, ',')) {
    const std::optional<std::int64_t> rank = to_number<std::int64_t>(part);
    if (!rank)
      return no_edit(text, fmt::format("'{}' is not a rank", part));
    out.ranks.push_back(*rank);
  }
  out.target = RunEdit::Target::kRanks;
  return out;
}

/// Returns whether the name of a node's activity or operator matches. `by_operator`: not the
/// activity's name. A collective also has its name in the library and those of its callers.
bool name_matches(const JobRun& run, NodeId n, const std::regex& pattern, bool by_operator) {
  const Activity& a = run.activity(n);
  const auto has = [&](StrId id) {
    const std::string_view text = run.text(n, id);
    // it is around all collectives of PyTorch, and "mm" is not to find it
    return text == "record_param_comms" ? std::regex_match(text.begin(), text.end(), pattern)
                                        : std::regex_search(text.begin(), text.end(), pattern);
  };
  if (has(by_operator ? a.op : a.name))
    return true;
  return a.kind == ActivityKind::kCollective &&
         (has(a.op) ||
          std::ranges::any_of(a.callers, [&](StrId id) { return id != kEmptyStr && has(id); }));
}

/// The activities of each rank that a change applies to.
class ChosenActivities {
public:
  ChosenActivities(const JobRun& run, const RunEdit& change) : run_(run), change_(change) {}

  [[nodiscard]] bool operator()(NodeId n) {
    if (!run_.is_activity(n))
      return false;
    const ActivityKind kind = run_.activity(n).kind;
    switch (change_.target) {
    case RunEdit::Target::kKernels:
      return kind == ActivityKind::kKernel && has_name(n, false);
    case RunEdit::Target::kCollectives:
    case RunEdit::Target::kBandwidth:
      return kind == ActivityKind::kCollective && has_name(n, false);
    case RunEdit::Target::kAsInRun:
      return on_gpu(kind) && kind != ActivityKind::kCollective && has_name(n, true);
    case RunEdit::Target::kOperators:
      return on_gpu(kind) && has_name(n, true);
    case RunEdit::Target::kHost:
      return !on_gpu(kind);
    case RunEdit::Target::kRanks:
      return std::ranges::find(change_.ranks, run_.ranks[run_.rank_of[n]].rank) !=
             change_.ranks.end();
    default:
      return false;
    }
  }

private:
  /// Returns whether the node's name matches. Equal activities of a rank are matched once.
  bool has_name(NodeId n, bool by_operator) {
    if (!change_.pattern)
      return true;
    const std::uint64_t key =
        (std::uint64_t{run_.rank_of[n]} << 32U) | std::uint64_t{run_.node(n).activity};
    const auto [at, added] = known_.try_emplace(key, false);
    if (added)
      at->second = name_matches(run_, n, *change_.pattern, by_operator);
    return at->second;
  }

  const JobRun& run_;
  const RunEdit& change_;
  std::unordered_map<std::uint64_t, bool> known_;
};

std::pair<std::string, std::string> operator_key(const JobRun& run, NodeId n) {
  const Activity& a = run.activity(n);
  return {std::string(run.text(n, a.op)), std::string(run.text(n, a.shapes))};
}

/// Sets kernels of an operator and its shapes to their time in the other run, whichever kernels run
/// there. Operators and shapes that only one run has do not change. Returns the number of changed
/// activities.
std::size_t as_in_run(const JobRun& run, const RunEdit& change, JobEdit& edit) {
  std::size_t out = 0;
  const TimesByOperator times = operator_times(run);
  ChosenActivities chosen(run, change);
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    if (!chosen(n))
      continue;
    const auto key = operator_key(run, n);
    const auto now = times.find(key), then = change.times.find(key);
    if (now == times.end() || then == change.times.end() || !(now->second > 0))
      continue;
    edit.dur_ns[n] = std::llround(static_cast<double>(edit.dur_ns[n]) * then->second / now->second);
    ++out;
  }
  return out;
}

/// Scales the transfers of matched collectives with known bandwidth. Returns the number of
/// transfers.
std::size_t at_bandwidth(const JobRun& run, const RunEdit& change, double gbps, JobEdit& edit) {
  std::size_t out = 0;
  ChosenActivities chosen(run, change);
  for (const JobCollective& collective : run.collectives)
    for (const NodeId n : collective.transfers)
      if (collective.bus_gbps > 0 && chosen(n)) {
        edit.dur_ns[n] =
            std::llround(static_cast<double>(edit.dur_ns[n]) * collective.bus_gbps / gbps);
        ++out;
      }
  return out;
}

/// Sets the time of collectives to 0 and removes their waits for other ranks, so nothing waits for
/// them. Returns the number of collectives.
std::size_t hide_collectives(const JobRun& run, JobEdit& edit) {
  std::size_t out = 0;
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    if (!run.is_activity(n) || run.activity(n).kind != ActivityKind::kCollective)
      continue;
    ++out;
    edit.dur_ns[n] = 0;
    edit.leave_out(run.graph, n, WaitKind::kMember);
  }
  return out;
}

/// Sets the activities of the ranks to the median duration of the other ranks at the same place of
/// the step. GEMMs are compared without contention, and have the contention of the new waits.
Result<std::size_t> as_median(const JobRun& run, const RunEdit& change,
                              const Contention& contention, JobEdit& edit) {
  for (const std::int64_t rank : change.ranks)
    if (std::ranges::none_of(run.ranks, [rank](const RankGraph& r) { return r.rank == rank; }))
      return useless(change.text, fmt::format("the run has no rank {}", rank));
  std::size_t out = 0;
  ChosenActivities chosen(run, change);
  const RunPlaces run_places = places_of(run, PlaceIn::kEachStep);
  const PlaceNodes places(run_places);
  std::vector<double> peers;
  std::unordered_set<NodeId> divided; // first nodes of the changed stretches
  for (std::uint32_t place = 0; place < places.count(); ++place) {
    peers.clear();
    for (const NodeId n : places.at(place))
      if (!chosen(n))
        peers.push_back(
            static_cast<double>(run_places.time_ns(run.graph, n) - contention.added_ns(n)));
    if (peers.empty())
      continue;
    const std::int64_t median = std::llround(quantile_of(peers, 0.5));
    for (const NodeId n : places.at(place))
      if (chosen(n) && run_places.first(n) == n) {
        edit.dur_ns[n] = median + contention.added_ns(n);
        ++out;
        if (run_places.stretch_ns.contains(n))
          divided.insert(n);
      }
  }
  for (const auto& [n, first] : run_places.first_of) // the first node has the complete time
    if (divided.contains(first))
      edit.dur_ns[n] = 0;
  contention.settle(edit);
  return out;
}

std::string answer_text(const RunEdit& change, double factor) {
  if (change.factors.size() < 2)
    return change.text;
  const std::string_view before =
      change.target == RunEdit::Target::kBandwidth ? kAtBandwidth : kTimes;
  const std::size_t at = change.text.rfind(before);
  return fmt::format("{}{}{}", trimmed(std::string_view(change.text).substr(0, at)), before,
                     factor);
}

/// Parses the optional pattern. `rest`: "" or "=REGEX".
Result<RunEdit> with_pattern(std::string_view text, std::string_view rest, const EditForm& form,
                             RunEdit out) {
  rest = trimmed(rest);
  if (rest.empty())
    return out;
  if (!form.pattern || rest.front() != '=' || rest.size() == 1)
    return no_edit(text, "is not a change");
  try {
    out.pattern.emplace(std::string(trimmed(rest.substr(1))));
  } catch (const std::regex_error& e) {
    return no_edit(text, fmt::format("regular expression: {}", e.what()));
  }
  return out;
}

} // namespace

TimesByOperator operator_times(const JobRun& run) {
  TimesByOperator out;
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.in_steps(n) && run.is_activity(n) && on_gpu(run.activity(n).kind) &&
        run.activity(n).kind != ActivityKind::kCollective && run.activity(n).op != kEmptyStr)
      out[operator_key(run, n)] += static_cast<double>(run.graph.dur_ns(n));
  for (auto& [key, ns] : out)
    ns /= static_cast<double>(run.steps() * run.ranks.size());
  return out;
}

Result<RunEdit> parse_run_edit(std::string_view text) {
  RunEdit out;
  text = trimmed(text);
  out.text = std::string(text);
  if (text == "hide collectives") {
    out.target = RunEdit::Target::kHidden;
    return out;
  }
  if (text.starts_with("ranks="))
    return parse_ranks(text, std::move(out));
  const auto form = std::ranges::find_if(kEditForms, [text](const EditForm& f) {
    return text.starts_with(f.name) && text.size() > f.name.size() &&
           (text[f.name.size()] == ' ' || (f.pattern && text[f.name.size()] == '='));
  });
  if (form == kEditForms.end())
    return no_edit(text, "is not a change");
  out.target = form->target;
  std::string_view rest = text.substr(form->name.size());
  if (const std::size_t at = rest.find(kAsInRun);
      at != std::string_view::npos && out.target == RunEdit::Target::kOperators) {
    out.target = RunEdit::Target::kAsInRun;
    out.other = std::string(trimmed(rest.substr(at + kAsInRun.size())));
    if (out.other.empty())
      return no_edit(text, "the path of the other run is missing");
    return with_pattern(text, rest.substr(0, at), *form, std::move(out));
  }
  // "= 0" at the end means the same as "x 0"
  std::string_view factors = "0";
  if (const std::size_t at = rest.rfind(kAtBandwidth);
      at != std::string_view::npos && out.target == RunEdit::Target::kCollectives) {
    out.target = RunEdit::Target::kBandwidth;
    factors = rest.substr(at + kAtBandwidth.size());
    rest = rest.substr(0, at);
  } else if (const std::size_t times = rest.rfind(kTimes); times != std::string_view::npos) {
    factors = rest.substr(times + kTimes.size());
    rest = rest.substr(0, times);
  } else if (rest.ends_with("= 0")) {
    rest = rest.substr(0, rest.size() - 3);
  } else {
    return no_edit(text, "a factor is missing");
  }
  const bool rate = out.target == RunEdit::Target::kBandwidth;
  for (const std::string_view part : separated(factors, ',')) {
    const std::optional<double> factor = to_number<double>(part);
    const bool valid = factor && (rate ? *factor > 0 && *factor <= kLargestRate
                                       : *factor >= 0 && *factor <= kLargestFactor);
    if (!valid)
      return no_edit(text, fmt::format("'{}' is not a {}", part,
                                       rate ? "bandwidth in GB/s" : "factor from 0 to 1000"));
    out.factors.push_back(*factor);
  }
  if (out.factors.size() > kMostFactors)
    return no_edit(text, "more than 64 factors");
  return with_pattern(text, rest, *form, std::move(out));
}

namespace {

/// Applies the change to `edit`. `factor`: one of the change's factors. Returns the number of
/// changed activities. Errors: kUsage if there are no such activities, or if the run does not have
/// a given rank.
Result<std::size_t> apply_run_edit(const JobRun& run, const CountedSteps& clock,
                                   const RunEdit& change, double factor, JobEdit& edit) {
  std::size_t changed = 0;
  if (change.target == RunEdit::Target::kDelays) {
    for (NodeId n = 0; n < run.graph.size(); ++n)
      if (std::int64_t& delay = edit.delay(run.graph, n);
          !run.graph.waits(n).empty() && delay != 0) {
        delay = std::llround(static_cast<double>(delay) * factor);
        ++changed;
      }
    return changed;
  }
  if (change.target == RunEdit::Target::kHidden) {
    changed = hide_collectives(run, edit);
  } else if (change.target == RunEdit::Target::kAsInRun) {
    changed = as_in_run(run, change, edit);
  } else if (change.target == RunEdit::Target::kBandwidth) {
    changed = at_bandwidth(run, change, factor, edit);
  } else if (change.target == RunEdit::Target::kRanks) {
    const Contention contention(run, clock, run.activities_by_rank());
    RS_TRY(changed, as_median(run, change, contention, edit));
  } else {
    ChosenActivities chosen(run, change);
    try {
      for (NodeId n = 0; n < run.graph.size(); ++n)
        if (chosen(n)) {
          edit.dur_ns[n] = std::llround(static_cast<double>(edit.dur_ns[n]) * factor);
          ++changed;
        }
    } catch (const std::regex_error&) { // this expression needs too much work
      return useless(change.text, "the regular expression takes too long");
    }
  }
  if (changed == 0)
    return useless(change.text, "the run has no such activity");
  return changed;
}

} // namespace

Result<std::vector<EditAnswer>> edit_answers(const JobRun& run, const CountedSteps& clock,
                                             const std::vector<RunEdit>& changes, JobEdit& last) {
  std::vector<EditAnswer> out;
  const std::vector<std::int64_t> now = step_ends(run, {});
  const auto answer = [&](std::string text, std::size_t activities) {
    EditAnswer& a = out.emplace_back();
    a.text = std::move(text);
    a.activities = activities;
    const std::vector<std::int64_t> ends = step_ends(run, last);
    a.after_ms = clock.mean_ms(ends);
    a.change_ms = a.after_ms - clock.mean_ms(now);
    if (const std::optional<MeanDifference> interval = clock.difference_ms(ends, now)) {
      a.low_ms = interval->difference - interval->half_width;
      a.high_ms = interval->difference + interval->half_width;
    }
    a.path = path_rows(run, last, clock);
  };
  for (const RunEdit& change : changes)
    for (const double factor : change.factors.empty() ? std::vector<double>{1.0} : change.factors) {
      last = JobEdit::of(run.graph);
      RS_TRY(const std::size_t activities, apply_run_edit(run, clock, change, factor, last));
      answer(answer_text(change, factor), activities);
    }
  if (changes.size() < 2)
    return out;
  last = JobEdit::of(run.graph);
  std::size_t activities = 0;
  for (const RunEdit& change : changes) {
    RS_TRY(const std::size_t changed,
           apply_run_edit(run, clock, change, change.factors.empty() ? 1.0 : change.factors.front(),
                          last));
    activities += changed;
  }
  answer("all of them", activities);
  return out;
}

} // namespace rankscope
