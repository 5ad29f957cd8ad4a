// Flags that decide how metrics are counted, for every command that computes metrics: from traces,
// from parts, or in the processes of a job.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/gemm/gemm_facts.h"
#include "cli/flag_set.h"
#include "engine/shard_file.h"

#include <optional>
#include <string>

namespace rankscope {

/// Declares --gpu-arch, --top-k, --rank-by and --layout.
void add_gemm_metric_flags(FlagSet& app, std::string& gpu_arch, std::size_t& top_k,
                           GemmRanking& rank_by, bool& legacy_layout);

/// Declares --rank-pattern, --extension and --filter.
void add_batch_names(FlagSet& app, BatchNames& names);

/// Options for the collectives of a run, for ranks from any source.
struct CollectiveMetricFlags {
  CollectiveOptions options;
  std::optional<AlignMode> align;

  /// Returns the options with --align applied. Without --align, --compat uses raw times, as the
  /// reference does.
  [[nodiscard]] CollectiveOptions chosen() const;
};

/// Declares --align, --gpus-per-node, --agg-metrics, --compat and --all2allv-heatmap.
void add_collective_metric_flags(FlagSet& app, CollectiveMetricFlags& metrics);

} // namespace rankscope
