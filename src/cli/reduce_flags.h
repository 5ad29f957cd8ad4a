// The flags of `rankscope reduce`, a part of which rankscope-mpi has too, and the request that they
// make.
#pragma once

#include "app/partial.h"
#include "cli/command.h"
#include "cli/compare_flags.h"
#include "cli/figure_flags.h"
#include "cli/flag_set.h"

#include <array>
#include <string>
#include <vector>

namespace rankscope {

/// As given on the command line.
struct ReduceFlags {
  ReduceRequest request;
  std::vector<std::string> parts;
  std::vector<std::string> sweep2; ///< analyze: the parts of another sweep
  CollectiveFigures figures;
  CompareFlags compare; ///< its folders contain parts
};

void add_reduce_flags(FlagSet& app, ReduceFlags& f);
/// Errors: kUsage, also for a flag of another command than --as names; kUnreadable for a file of
/// conditions.
[[nodiscard]] Result<ReduceRequest> reduce_request(const ReduceFlags& f);

/// The names of two sweeps shown side by side.
void add_sweep_labels(FlagSet& app, std::array<std::string, 2>& labels);

/// Prints the end of the command; with --json the written files and, for a comparison, the results
/// of its conditions. `who` names the command, `by` follows the number of ranks. Errors: those of
/// show_verdict(); of analyze, why plots or page are not there.
Result<void> show_reduced(Context& ctx, const char* who, const ReduceRequest& request,
                          const ReduceResult& result, const std::string& by, bool annotate);

} // namespace rankscope
