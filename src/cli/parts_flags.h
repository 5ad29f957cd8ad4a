// Commands that read ranks from parts: `rankscope reduce` and rankscope-mpi.
#pragma once

#include "cli/command.h"

#include <string>
#include <vector>

namespace rankscope {

/// Variables of flags that decide which data a command extracts from a trace; nullptr: no such
/// flag.
struct RankFlags {
  std::string* gpu_arch = nullptr;
  std::size_t* top_k = nullptr;
  GemmRanking* rank_by = nullptr;
  bool* legacy_gemm_layout = nullptr;
  const std::uint64_t* memory_bytes = nullptr;
  BatchNames* batch_names = nullptr;
  BatchOptions* batch = nullptr;
};

/// Returns a run of a command over ranks, from its flags. If its ranks come from parts, the inputs
/// and the flags become those with which the parts were made.
[[nodiscard]] PartialRequest run_of_ranks(const char* command, std::vector<std::string>& inputs,
                                          const DiscoverOptions& discover,
                                          const RankFlags& flags = {});
[[nodiscard]] PartialRequest run_of_ranks(const char* command, std::string& input,
                                          const DiscoverOptions& discover,
                                          const RankFlags& flags = {});

/// Checks that --output is given if a command with inputs would otherwise write into the folder of
/// the traces.
[[nodiscard]] Result<void> check_output(const char* command, const std::vector<std::string>& inputs,
                                        const std::string& output);

/// Returns the command that `--as` names and leaves the arguments of that command: "reduce PARTS
/// --as top -k 3" becomes "top PARTS -k 3". Returns nullptr, with unchanged arguments, when the
/// arguments only ask for help or --as does not name such a command.
[[nodiscard]] const Command* command_of_parts(std::vector<std::string>& arguments);

/// Opens the folders of parts that the command names, and sets them as the source of its ranks.
/// Errors: those of PartRuns::add().
Result<void> open_parts(Context& ctx, const Action& action);

} // namespace rankscope
