// The data of one rank for the batch report (docs/reference/batch-rules.md). When they are
// extracted, the rank's trace can be released.
#pragma once

#include "analyses/collectives/collective_data.h"
#include "analyses/timeline/gpu_timeline.h"
#include "base/result.h"
#include "core/loaded_trace.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

struct BatchOptions {
  bool compat = false;      ///< reproduce the cells of the reference, including its quirks
  bool all_kernels = false; ///< add a sheet with all kernels for each rank
};

/// Groups of modelled operators, in the order of their sheets.
enum class BatchGroup : std::uint8_t { kGemm, kConv, kAttention, kUnary, kBinary };
inline constexpr std::array kBatchGroups{BatchGroup::kGemm, BatchGroup::kConv,
                                         BatchGroup::kAttention, BatchGroup::kUnary,
                                         BatchGroup::kBinary};
/// Returns "gemm", "conv", "attn", "un_elemwise" or "bin_elemwise".
[[nodiscard]] std::string_view batch_group_name(BatchGroup group);
/// Returns the operators of a group, in the documented order.
[[nodiscard]] std::span<const std::string_view> batch_operators(BatchGroup group);

/// One call of an operator.
struct BatchCall {
  double time_ns = 0;        ///< union of the call's kernels
  double compute_ns = 0;     ///< union of the kernels that do not merely move data
  double flops = 0;          ///< NaN = unknown
  double bytes = 0;          ///< NaN = unknown
  std::uint32_t kernels = 0; ///< number of this call's entries in BatchCalls::kernel_ns
};

/// The calls of an operator with the same parameters on one rank, in file order.
struct BatchCalls {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params; ///< name, Python repr ("None" = blank)
  /// Recorded arguments as normal JSON text, from the first call that has them; "" = not recorded.
  std::string input_dims, input_types, input_strides, concrete_inputs;
  std::uint32_t first_uid = 0;
  std::vector<std::pair<std::string, std::int32_t>> kernels; ///< (name, stream), from the first
                                                             ///< call with kernels
  std::vector<BatchCall> calls;
  std::vector<std::int64_t> kernel_ns; ///< durations, call after call; depth first below each call
};

/// Events of a group on one rank.
struct BatchGroupCalls {
  std::vector<BatchCalls> rows;   ///< in order of first appearance
  std::size_t events = 0;         ///< number of the group's events on this rank
  std::size_t without_kernel = 0; ///< left out: GEMM calls that launched no kernel
  std::size_t unfit = 0;          ///< left out: calls with arguments that the model does not accept
};

/// Launchers of one name: operators, or runtime calls outside of operators.
struct BatchLaunchers {
  std::string name;
  std::size_t count = 0;
  double time_ns = 0;         ///< sum of the unions of each launcher's kernels
  double without_copy_ns = 0; ///< time_ns without copies
};

/// Durations of events of one name and category.
struct BatchDurations {
  std::string name;
  std::string_view category; ///< static text
  std::size_t count = 0;
  std::int64_t min_ns = 0, max_ns = 0, sum_ns = 0;
  void add(std::int64_t ns);
};

/// Numbers of GPU events with and without an External id, and of the short events among them.
struct BatchLinks {
  std::size_t linked = 0, unlinked = 0, short_linked = 0, short_unlinked = 0;
};

/// A kernel in the sheets kernels_RANK. Texts are ids of BatchPart::texts.
struct BatchKernel {
  std::uint32_t uid = 0;
  StrId name = kEmptyStr;
  std::int64_t ts_ns = 0, dur_ns = 0;
  std::int32_t stream = -1;
  bool has_parent = false;
  std::uint32_t parent_uid = 0;
  StrId parent = kEmptyStr;
  StrId dims = kEmptyStr, types = kEmptyStr, strides = kEmptyStr, concrete = kEmptyStr; ///< JSON
  StrId kernel_file = kEmptyStr;
  double parent_ns = 0; ///< union of the GPU events below the parent
  std::size_t parent_kernels = 0;
};

/// Operators with recorded shapes below one root. They show why a group has no sheet.
struct BatchShapedRoot {
  std::string name;
  std::uint32_t uid = 0;
  double dur_ms = 0;
  double children_ms = 0;
  std::vector<std::string> children; ///< distinct names, sorted
};

struct BatchPart {
  std::int64_t rank = 0;
  std::string path;
  std::array<BatchGroupCalls, kBatchGroups.size()> groups;
  std::vector<BatchLaunchers> launchers; ///< sorted by name
  std::vector<TimelineRow> timeline;
  BatchLinks links;
  std::vector<BatchDurations> unlinked; ///< GPU events without External id, by name and category
  std::vector<std::pair<std::string, std::size_t>> short_ops; ///< in order of first appearance
  std::vector<BatchDurations> runtime;                        ///< calls, by name and category
  RankCollectives collectives;
  std::vector<BatchKernel> kernels;    ///< only if requested; file order
  std::vector<BatchShapedRoot> shaped; ///< only if a group has no events; sorted by name
  StringPool texts;
  std::size_t gpu_events = 0;
  std::size_t gpu_linked = 0; ///< number of GPU events with a launching call in the trace
};

/// Extracts the data of a trace. No content of a trace causes an error.
Result<BatchPart> extract_batch(const LoadedTrace& trace, const BatchOptions& options);

// The steps of extract_batch().
[[nodiscard]] std::array<BatchGroupCalls, kBatchGroups.size()>
batch_calls(const LoadedTrace& trace, const BatchOptions& options);
[[nodiscard]] std::vector<BatchLaunchers> batch_launchers(const LoadedTrace& trace,
                                                          const std::vector<bool>& communication,
                                                          const BatchOptions& options);
void batch_kernels(const LoadedTrace& trace, const BatchOptions& options, BatchPart& out);
[[nodiscard]] std::vector<BatchShapedRoot> batch_shaped_roots(const LoadedTrace& trace);
/// Returns the kernels of the NCCL sheets, in file order.
[[nodiscard]] RankCollectives batch_collectives(const LoadedTrace& trace, bool compat);

} // namespace rankscope
