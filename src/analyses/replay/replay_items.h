// The matrix products and convolutions of a trace that are worth running again, and the sheets
// gemm_node_replay and conv_node_replay of what came of it. Nothing is run here.
#pragma once

#include "analyses/analysis.h"
#include "model/replay/replay_request.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

enum class ReplayGroup : std::uint8_t { kGemm, kConv };
inline constexpr int kReplayGroups = 2;
/// "gemm", "conv".
[[nodiscard]] const char* replay_group_name(ReplayGroup group);

/// The calls of an operator with the same arguments.
struct ReplayItem {
  ReplayGroup group = ReplayGroup::kGemm;
  std::string name;                           ///< operator
  std::string dims, types, strides, concrete; ///< its arguments as the trace has them: JSON
  std::int64_t count = 0;                     ///< calls
  double profile_us = 0;                      ///< mean time of its kernels
  std::optional<double> share_pct;            ///< of the time in which the GPU was busy
  ReplayRequest request;
};

/// An item and what was measured.
struct ReplayRow {
  ReplayItem item;
  std::size_t number = 0;   ///< in its group, from 0; of its command file too
  std::string command_file; ///< without its folder; "" = none
  std::vector<std::string> commands;
  ReplayTime bench; ///< by a bench program or the library itself
  ReplayTime torch; ///< by PyTorch
};

/// The `top` groups of calls (0 = all) with the most kernel time among the families GEMM and CONV,
/// most first. Errors: those of FamiliesKey.
Result<std::vector<ReplayItem>> replay_items(const LoadedTrace& trace, const ReportOptions& options,
                                             std::size_t top);

/// Rows from the items, numbered in their group, with the commands of the bench programs.
[[nodiscard]] std::vector<ReplayRow> replay_rows(std::vector<ReplayItem> items);

/// How many leading rows of a sheet are replayed: the fewest whose running share of the kernel time
/// (0 to 1, ascending) reaches 99 %. `compat`: as the reference has it, without the row that
/// reaches 99 %; all rows when the first one does.
[[nodiscard]] std::size_t replay_selection(std::span<const double> running_share, bool compat);

/// The documented eight columns, `all`: with those that say what was run, and why not. Sheet
/// gemm_node_replay or conv_node_replay.
[[nodiscard]] Schema<ReplayRow> replay_schema(ReplayGroup group, bool all);

/// The rows of the group as its sheet.
[[nodiscard]] Table replay_table(std::span<const ReplayRow> rows, ReplayGroup group, bool all);

} // namespace rankscope
