// Command lines for every command over ranks (app/rank_commands.h).
#pragma once

#include "app/rank_commands.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope::test {

using RankWords = std::vector<std::string>;

/// A command line: RUN and SWEEP are replaced by its inputs, OUT by a folder. A command without an
/// entry gets its input and -o FOLDER.
struct RankCase {
  RankWords words;
  /// options that determine what is read from a trace; also passed to `partial`
  RankWords partial = {};
};
inline std::vector<RankCase> rank_cases(const RankCommand& command) {
  const std::map<std::string, std::vector<RankCase>> special{
      {"collectives", {{{"RUN", "-o", "OUT/c.json"}}}},
      {"top", {{{"RUN", "--width", "100", "-k", "3"}}, {{"RUN", "--json"}}}},
      {"why", {{{"RUN", "--width", "100"}}, {{"RUN", "--json"}}}},
      {"whatif", {{{"RUN", "--width", "100"}}, {{"RUN", "--edit", "kernels x 0.5", "--json"}}}},
      {"page", {{{"RUN", "-o", "OUT/p.html"}}, {{"SWEEP", "-o", "OUT/p.html"}}}},
      {"analyze", {{{"SWEEP", "-o", "OUT", "--no-merge", "--no-plots"}, {"--top-k", "3"}}}},
      {"html", {{{"SWEEP", "-o", "OUT/h.html", "--label", "one"}}}},
      {"gemm",
       {{{"variance", "SWEEP", "-o", "OUT"}},
        {{"overlap", "SWEEP", "-o", "OUT"}, {"--rank-by", "cv", "--top-k", "2"}}}},
      {"query",
       {{{"FROM slow_ranks", "RUN"}},
        {{"FROM steps; FROM idle; FROM collectives_by_size; FROM findings", "RUN", "--json"}},
        {{"FROM ranks; FROM gemm_variance; FROM top_operators; FROM nccl_long", "SWEEP", "--rows",
          "1000"}}}},
      {"compare", {{{"--baseline", "RUN", "--test", "RUN", "-o", "OUT", "--no-plots"}}}},
      {"baseline", {{{"save", "RUN", "-o", "OUT/b.rsb"}}}},
      {"batch",
       {{{"-b", "RUN", "-o", "OUT/b.json"}, {"-f", "rank_"}},
        {{"-b", "RUN", "-o", "OUT/b.xlsx"},
         {"-f", "rank_", "--all-kernels", "--compat", "tracelens"}}}}};
  const auto at = special.find(command.name);
  if (at != special.end())
    return at->second;
  return {{{command.ranks == RanksOf::kSweep ? "SWEEP" : "RUN", "-o", "OUT"}}};
}

} // namespace rankscope::test
