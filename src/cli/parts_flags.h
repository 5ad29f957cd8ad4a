// Commands whose ranks come from parts: `rankscope reduce` and rankscope-mpi.
#pragma once

#include "cli/command.h"

#include <string>
#include <vector>

namespace rankscope {

/// Variables of flags that decide what a command takes of a trace; nullptr: no such flag.
struct RankFlags {
  std::string* gpu_arch = nullptr;
  std::size_t* top_k = nullptr;
  GemmRanking* rank_by = nullptr;
  bool* legacy_gemm_layout = nullptr;
  const std::uint64_t* memory_bytes = nullptr;
  BatchNames* batch_names = nullptr;
  BatchOptions* batch = nullptr;
};

/// A run of a command over ranks, by its flags. Where its ranks come from parts, the inputs and the
/// flags become those that the parts were made of and with.
[[nodiscard]] PartialRequest run_of_ranks(const char* command, std::vector<std::string>& inputs,
                                          const DiscoverOptions& discover,
                                          const RankFlags& flags = {});
[[nodiscard]] PartialRequest run_of_ranks(const char* command, std::string& input,
                                          const DiscoverOptions& discover,
                                          const RankFlags& flags = {});

/// Of a command that without it writes into the folder of the traces.
[[nodiscard]] Result<void> check_output(const char* command, const std::string& output);

/// The command that `--as` names, whose own arguments are left: "reduce PARTS --as top -k 3" is
/// "top PARTS -k 3". nullptr, with unchanged arguments, when they ask for help
/// alone or --as does not name such a command.
[[nodiscard]] const Command* command_of_parts(std::vector<std::string>& arguments);

/// Makes the folders of parts that the command names its source. Errors: those of PartRuns::add().
Result<void> open_parts(Context& ctx, const Action& action);

} // namespace rankscope
