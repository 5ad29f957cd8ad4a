#include "analyses/top/top_words.h"

#include "analyses/sweep/slow_rank_words.h"
#include "analyses/sweep/slowdown.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kTopWordsWorthSaying =
    5; ///< percent of the time from which it is a thing to look at

void exposed_said(const TopFacts& facts, std::vector<std::string>& out) {
  const double percent = facts.percent(TimeKind::kExposedComm);
  if (percent < kTopWordsWorthSaying)
    return;
  out.push_back(fmt::format("communication is exposed for {:.3f} ms, {:.1f} % of the time: nothing "
                            "computes beside it",
                            facts.ms(TimeKind::kExposedComm), percent));
}

void idle_said(const TopFacts& facts, std::vector<std::string>& out) {
  const double percent = facts.percent(TimeKind::kIdle);
  if (percent < kTopWordsWorthSaying || facts.idle.empty())
    return;
  const TopIdle& most = facts.idle.front();
  out.push_back(fmt::format(
      "the GPU is idle for {:.3f} ms, {:.1f} % of the time; {:.1f} % of that is {} ({})",
      facts.ms(TimeKind::kIdle), percent, most.percent_of_idle, idle_cause_name(most.cause),
      idle_cause_help(most.cause)));
}

/// Of the operators shown the one whose calls lose most time against their roofline.
void roofline_said(const TopFacts& facts, std::vector<std::string>& out) {
  const TopOperator* most = nullptr;
  const auto lost = [](const TopOperator& o) { return o.sum.rated_ns - o.sum.roofline_ns; };
  for (const TopOperator& o : facts.operators)
    if (o.sum.rated_ns > 0 && (most == nullptr || lost(o) > lost(*most)))
      most = &o;
  if (most == nullptr || most->percent < kTopWordsWorthSaying || !(lost(*most) > 0))
    return;
  out.push_back(fmt::format(
      "{} {} runs at {:.1f} % of the roofline of {} ({} bound) and takes {:.1f} "
      "% of the kernel time: the largest headroom listed",
      most->sum.name, short_shapes(most->sum.dims), most->percent_of_roofline,
      facts.overview.gpu.empty() ? "the GPU" : facts.overview.gpu, most->bound, most->percent));
}

void contention_said(const ConfigurationRanks& run, std::vector<std::string>& out) {
  const std::optional<Estimate> contention = contention_of(run);
  if (!contention)
    return;
  const MeanDifference d = contention->interval(corrected_alpha(1));
  if (d.difference - d.half_width <= kLeastSlowdown)
    return;
  out.push_back(
      fmt::format("GEMM calls that collectives overlap fully take {:.2f} % longer ({:.2f} "
                  "to {:.2f} %; 95 %, {} calls) than calls of the same shape beside none",
                  d.difference * 100, (d.difference - d.half_width) * 100,
                  (d.difference + d.half_width) * 100, contention->calls));
}

bool has_gemms(const TopFacts& facts) {
  return std::any_of(facts.categories.begin(), facts.categories.end(),
                     [](const TopCategory& c) { return c.sum.category == "GEMM"; });
}

} // namespace

std::vector<std::string> top_findings(const TopFacts& facts, const ConfigurationRanks& run,
                                      const SlowRanks& slow, const CollectiveFacts* collectives) {
  std::vector<std::string> out;
  if (run.ranks.size() > 1)
    out = slow_rank_findings(slow, false);
  exposed_said(facts, out);
  if (collectives != nullptr && run.ranks.size() > 1)
    for (const CollectiveSentence& finding : collectives->findings)
      out.push_back(finding.text);
  idle_said(facts, out);
  contention_said(run, out);
  roofline_said(facts, out);
  return out;
}

std::vector<TopNext> top_next_steps(const TopFacts& facts, const TopInput& input) {
  std::vector<TopNext> out;
  if (input.paths.empty() || input.paths.front() == "-")
    return out;
  const auto add = [&](std::vector<std::string> words, std::string why) {
    words.insert(words.begin(), "rankscope");
    out.push_back({std::move(words), std::move(why)});
  };
  // commands over ranks take the folder, or what was named one by one
  const auto add_over_ranks = [&](std::vector<std::string> words, std::vector<std::string> more,
                                  std::string why) {
    words.insert(words.end(), input.paths.begin(), input.paths.end());
    words.insert(words.end(), more.begin(), more.end());
    add(std::move(words), std::move(why));
  };
  const auto marked = std::find_if(facts.ranks.begin(), facts.ranks.end(),
                                   [](const TopRankRow& r) { return r.slow || r.late; });
  if (facts.ranks.size() < 2 || !input.folder) {
    // a folder of one rank is no trace
    const std::string& path =
        input.folder && !facts.ranks.empty() ? facts.ranks.front().path : input.paths.front();
    add({"report", path}, "every sheet of this trace in a workbook");
    if (facts.overview.steps > 1)
      add({"report", path, "--per-step", "--sheets", "gpu_timeline_per_step"},
          "its time line step by step");
    if (facts.ranks.size() == 1)
      add({"info", path}, "what the trace holds");
    return out;
  }
  if (marked != facts.ranks.end())
    add({"report", marked->path},
        fmt::format("every sheet of rank {}, which the others wait for or which computes longer",
                    marked->rank));
  if (!facts.collectives.empty()) {
    add_over_ranks(
        {"collectives"}, {},
        fmt::format("bandwidths, skew and waits of each collective; {:.1f} % of the time is "
                    "exposed communication",
                    facts.percent(TimeKind::kExposedComm)));
    add_over_ranks({"merge"}, {"-o", "merged.json.gz"},
                   "all ranks in one trace for Perfetto, clocks aligned");
  }
  if (input.paths.size() == 1) { // these take one
    const std::string& path = input.paths.front();
    if (has_gemms(facts))
      add({"gemm", "variance", path}, "which matrix products vary, and when");
    add({"analyze", path}, "all of it: reports, tables, plots, a page");
  }
  return out;
}

std::string short_shapes(const std::string& dims) {
  std::string out;
  std::string numbers;
  for (const char c : dims) {
    if ((c >= '0' && c <= '9') || c == '-') {
      numbers += c;
    } else if (c == ',' && !numbers.empty() && numbers.back() != 'x') {
      numbers += 'x';
    } else if (c == '(' || c == ')' || c == '[' || c == ']') {
      while (!numbers.empty() && numbers.back() == 'x')
        numbers.pop_back();
      if (!numbers.empty())
        out += (out.empty() ? "" : " ") + numbers;
      numbers.clear();
    }
  }
  return out;
}

std::vector<std::string> shell_pieces(std::string_view word) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-./:,+@%=";
  std::vector<std::string> out;
  if (word.empty())
    out.emplace_back("''");
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos)
      out.emplace_back(1, c);
    else if (c == ' ')
      out.emplace_back("' '"); // who copies a line loses blanks at its end
    else if (byte < 0x20 || byte >= 0x7f)
      out.push_back(fmt::format("$'\\x{:02x}'", byte));
    else
      out.push_back({'\\', c});
  }
  return out;
}

std::string shell_text(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    out += out.empty() ? "" : " ";
    for (const std::string& piece : shell_pieces(word))
      out += piece;
  }
  return out;
}

} // namespace rankscope
