#include "analyses/top/top_words.h"

#include "base/number_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

constexpr const char* kWhyHelp = "what makes the steps slow, the remedy and its gain";
constexpr const char* kPageHelp = "the timeline and all tables, for a browser";

bool has_gemms(const TopFacts& facts) {
  return std::any_of(facts.categories.begin(), facts.categories.end(),
                     [](const TopCategory& c) { return c.sum.category == "GEMM"; });
}

} // namespace

std::string steps_of_ranks(const TopOverview& overview) {
  if (overview.most_steps == 0)
    return {};
  const std::string most = counted(static_cast<std::size_t>(overview.most_steps), "step", "steps");
  return overview.steps < overview.most_steps ? fmt::format("{} to {}", overview.steps, most)
                                              : most;
}

std::vector<TopNext> top_next_steps(const TopFacts& facts, const TopInput& input) {
  std::vector<TopNext> out;
  if (input.paths.empty() || input.paths.front() == "-")
    return out;
  const auto add = [&](std::vector<std::string> words, std::string why) {
    words.insert(words.begin(), "rankscope");
    out.push_back({std::move(words), std::move(why)});
  };
  // commands over ranks get the folder, or the paths that the user named
  const auto add_over_ranks = [&](std::vector<std::string> words, std::vector<std::string> more,
                                  std::string why) {
    words.insert(words.end(), input.paths.begin(), input.paths.end());
    words.insert(words.end(), more.begin(), more.end());
    add(std::move(words), std::move(why));
  };
  const auto lateness = [](const TopRankRow& r) {
    constexpr double kNot = -1;
    return std::pair(r.late ? r.late_us : kNot, r.slow ? r.compute_ms : kNot);
  };
  const auto latest =
      std::max_element(facts.ranks.begin(), facts.ranks.end(),
                       [&](const auto& a, const auto& b) { return lateness(a) < lateness(b); });
  if (facts.ranks.size() < 2 || !input.folder) {
    // a folder with one rank is not a trace, so the command gets the path of the trace in the
    // folder
    const std::string& path =
        input.folder && !facts.ranks.empty() ? facts.ranks.front().path : input.paths.front();
    add({"why", path}, kWhyHelp);
    add({"page", path}, kPageHelp);
    add({"report", path}, "every sheet of this trace in a workbook");
    if (facts.overview.steps > 1)
      add({"report", path, "--per-step", "--sheets", "gpu_timeline_per_step"},
          "its timeline step by step");
    if (facts.ranks.size() == 1)
      add({"info", path}, "the content of the trace");
    return out;
  }
  add_over_ranks({"why"}, {}, kWhyHelp);
  add_over_ranks({"page"}, {}, kPageHelp);
  if (latest->late || latest->slow)
    add({"report", latest->path},
        fmt::format("every sheet of rank {}, which {}", latest->rank,
                    latest->late ? "the others wait for" : "computes longer"));
  if (!facts.collectives.empty()) {
    add_over_ranks(
        {"collectives"}, {},
        fmt::format("bandwidths, skew and waits of each collective; {:.1f} % of the time is "
                    "exposed communication",
                    facts.percent(TimeKind::kExposedComm)));
    add_over_ranks({"merge"}, {"-o", "merged.json.gz", "--align", "collectives"},
                   "all ranks in one trace for Perfetto, clocks aligned");
  }
  if (input.paths.size() == 1) { // these commands accept only one path
    const std::string& path = input.paths.front();
    if (has_gemms(facts))
      add({"gemm", "variance", path}, "which matrix products vary, and when");
    add({"analyze", path}, "all of it: reports, tables, plots, a page");
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
      out.emplace_back("' '"); // a copied line loses blanks at its end
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
