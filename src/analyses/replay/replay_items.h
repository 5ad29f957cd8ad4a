// The matrix products and convolutions of a trace that can be run again, and the sheets
// gemm_node_replay and conv_node_replay with the results. This file runs nothing.
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
/// Returns "gemm" or "conv".
[[nodiscard]] const char* replay_group_name(ReplayGroup group);

/// The calls of an operator with the same arguments.
struct ReplayItem {
  ReplayGroup group = ReplayGroup::kGemm;
  std::string name;                           ///< operator
  std::string dims, types, strides, concrete; ///< recorded arguments, as JSON
  std::int64_t count = 0;                     ///< calls
  double profile_us = 0;                      ///< mean kernel time of a call
  std::optional<double> share_pct;            ///< percentage of the GPU's busy time
  ReplayRequest request;
};

/// An item with its measurements.
struct ReplayRow {
  ReplayItem item;
  std::size_t number = 0;   ///< 0-based number in the group and in the command file
  std::string command_file; ///< file name without folder; "" without a file
  std::vector<std::string> commands;
  ReplayTime bench; ///< measured with a bench program or the library itself
  ReplayTime torch; ///< measured with PyTorch
};

/// Returns the `top` groups of calls (0 = all) with the most kernel time in the families GEMM and
/// CONV, most first. Errors: those of FamiliesKey.
Result<std::vector<ReplayItem>> replay_items(const LoadedTrace& trace, const ReportOptions& options,
                                             std::size_t top);

/// Returns rows for the items, numbered per group, with the commands of the bench programs.
[[nodiscard]] std::vector<ReplayRow> replay_rows(std::vector<ReplayItem> items);

/// Returns the number of leading rows to replay: the fewest rows whose running share of the kernel
/// time (0 to 1, ascending) reaches 99 %. `compat`: without the row that reaches 99 %, as in the
/// reference; all rows if the first row reaches it.
[[nodiscard]] std::size_t replay_selection(std::span<const double> running_share, bool compat);

/// Returns the eight documented columns of gemm_node_replay or conv_node_replay. With `all`: also
/// the columns that describe the item and how it was run, or why it was not run.
[[nodiscard]] Schema<ReplayRow> replay_schema(ReplayGroup group, bool all);

/// Returns the rows of the group as a sheet.
[[nodiscard]] Table replay_table(std::span<const ReplayRow> rows, ReplayGroup group, bool all);

} // namespace rankscope
