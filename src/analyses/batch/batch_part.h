// The data of one rank for the batch report (docs/reference/batch-rules.md), so that its trace can
// be released.
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
  bool compat = false;      ///< the cells of the reference, its quirks included
  bool all_kernels = false; ///< a sheet of every kernel for each rank
};

/// Groups of modelled operators, each a sheet, in their order.
enum class BatchGroup : std::uint8_t { kGemm, kConv, kAttention, kUnary, kBinary };
inline constexpr std::array kBatchGroups{BatchGroup::kGemm, BatchGroup::kConv,
                                         BatchGroup::kAttention, BatchGroup::kUnary,
                                         BatchGroup::kBinary};
/// "gemm", "conv", "attn", "un_elemwise", "bin_elemwise".
[[nodiscard]] std::string_view batch_group_name(BatchGroup group);
/// The operators of a group, in the documented order.
[[nodiscard]] std::span<const std::string_view> batch_operators(BatchGroup group);

/// One call of an operator.
struct BatchCall {
  double time_ns = 0;        ///< union of its kernels
  double compute_ns = 0;     ///< of those that do not merely move data
  double flops = 0;          ///< NaN = unknown
  double bytes = 0;          ///< NaN = unknown
  std::uint32_t kernels = 0; ///< how many of BatchCalls::kernel_ns are its own
};

/// The calls of an operator with the same parameters on one rank, in file order.
struct BatchCalls {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params; ///< name, Python repr ("None" = blank)
  /// Recorded arguments as normal JSON text, of the first call that has them; "" = none.
  std::string input_dims, input_types, input_strides, concrete_inputs;
  std::uint32_t first_uid = 0;
  std::vector<std::pair<std::string, std::int32_t>> kernels; ///< name, stream: first call with any
  std::vector<BatchCall> calls;
  std::vector<std::int64_t> kernel_ns; ///< call after call, depth first below each
};

/// Events of a group on one rank.
struct BatchGroupCalls {
  std::vector<BatchCalls> rows;   ///< by first appearance
  std::size_t events = 0;         ///< that the group has on this rank
  std::size_t without_kernel = 0; ///< GEMM calls that launched nothing: left out
  std::size_t unfit = 0;          ///< calls whose arguments the model does not take: left out
};

/// Launchers of one name: operators, or runtime calls outside of operators.
struct BatchLaunchers {
  std::string name;
  std::size_t count = 0;
  double time_ns = 0;         ///< sum of the unions of each launcher's kernels
  double without_copy_ns = 0; ///< the same without copies
};

/// Durations of events of one name and category.
struct BatchDurations {
  std::string name;
  std::string_view category; ///< static text
  std::size_t count = 0;
  std::int64_t min_ns = 0, max_ns = 0, sum_ns = 0;
  void add(std::int64_t ns);
};

/// GPU events by whether they carry an External id, and whether they are short.
struct BatchLinks {
  std::size_t linked = 0, unlinked = 0, short_linked = 0, short_unlinked = 0;
};

/// A kernel of the sheets kernels_RANK. Ids of BatchPart::texts.
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

/// Operators with recorded shapes below one root: they explain why a group has no sheet.
struct BatchShapedRoot {
  std::string name;
  std::uint32_t uid = 0;
  double dur_ms = 0;
  double children_ms = 0;
  std::vector<std::string> children; ///< names, each once, sorted
};

struct BatchPart {
  std::int64_t rank = 0;
  std::string path;
  std::array<BatchGroupCalls, kBatchGroups.size()> groups;
  std::vector<BatchLaunchers> launchers; ///< by name
  std::vector<TimelineRow> timeline;
  BatchLinks links;
  std::vector<BatchDurations> unlinked; ///< GPU events without External id, by name and category
  std::vector<std::pair<std::string, std::size_t>> short_ops; ///< by first appearance
  std::vector<BatchDurations> runtime;                        ///< calls, by name and category
  RankCollectives collectives;
  std::vector<BatchKernel> kernels;    ///< only where asked for, file order
  std::vector<BatchShapedRoot> shaped; ///< only where a group has no events; by name
  StringPool texts;
  std::size_t gpu_events = 0;
  std::size_t gpu_linked = 0; ///< launched by a call that the trace has
};

/// Errors: none that a trace can cause.
Result<BatchPart> extract_batch(const LoadedTrace& trace, const BatchOptions& options);

// The parts of extract_batch.
[[nodiscard]] std::array<BatchGroupCalls, kBatchGroups.size()>
batch_calls(const LoadedTrace& trace, const BatchOptions& options);
[[nodiscard]] std::vector<BatchLaunchers> batch_launchers(const LoadedTrace& trace,
                                                          const std::vector<bool>& communication,
                                                          const BatchOptions& options);
void batch_kernels(const LoadedTrace& trace, const BatchOptions& options, BatchPart& out);
[[nodiscard]] std::vector<BatchShapedRoot> batch_shaped_roots(const LoadedTrace& trace);
/// The kernels of the NCCL sheets, in file order.
[[nodiscard]] RankCollectives batch_collectives(const LoadedTrace& trace, bool compat);

} // namespace rankscope
