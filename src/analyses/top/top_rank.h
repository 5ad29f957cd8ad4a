// The data of one rank that `top` stores: sums by kernel, operator and category, idle time by
// cause, and the data for findings over ranks. Small, so that the trace can be released.
#pragma once

#include "analyses/analysis.h"
#include "analyses/collectives/collective_data.h"
#include "analyses/collectives/run_consistency.h"
#include "analyses/group_stats.h"
#include "analyses/job/rank_graph.h"
#include "analyses/sweep/sweep_facts.h"
#include "analyses/timeline/idle_causes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// All launches of kernels with one name: the sum of the kernel_summary rows with that name.
struct KernelTotal {
  std::string name;
  std::int64_t sum_ns = 0, count = 0, max_ns = 0;
};

/// All calls of an operator with the same shapes and types: the sum of the matching rows of
/// unified_perf_summary.
struct OperatorTotal {
  std::string name, category;
  std::string dims, types; ///< Python tuples; "" = not recorded
  std::int64_t count = 0;
  double kernel_ns = 0;
  TimedWork flops, bytes;
  /// Sums of minimum time and of kernel time, over the calls with a roofline.
  double roofline_ns = 0, rated_ns = 0;
  bool compute_bound = false; ///< value of the last row with a roofline
};

/// A row of ops_summary_by_category.
struct CategoryTotal {
  std::string category;
  std::int64_t count = 0;
  double direct_ns = 0;
};

struct TopRank {
  std::string path, device; ///< "" if the trace names no device
  std::string gpu;          ///< GPU of the rooflines; "" without rooflines
  std::vector<KernelTotal> kernels;
  std::vector<OperatorTotal> operators;
  std::int64_t unlinked_ns = 0; ///< UnifiedPerf::unlinked_ns
  std::vector<CategoryTotal> categories;
  IdleTime idle;
};

/// The data of all ranks, ascending by rank, as parallel lists. The functions that combine ranks
/// need separate lists.
struct TopParts {
  std::vector<TopRank> ranks;
  std::vector<RankRecord> records;
  std::vector<RankCollectives> collectives;
  std::vector<RankIdentity> identities;
  std::vector<RankGraph> graphs; ///< only for runs with a search for causes, else empty

  /// Inserts or replaces a rank. Either all calls pass a graph, or no call does.
  void put(TopRank rank, RankRecord record, RankCollectives rank_collectives, RankIdentity identity,
           std::optional<RankGraph> graph = std::nullopt);
  /// Removes a rank if it is present.
  void drop(std::int64_t rank);
};

/// Returns the data of a rank. options.gpu_arch is used as in UnifiedPerfKey. Errors: those of
/// load_gpu_arch.
[[nodiscard]] Result<TopRank> top_rank_of(const LoadedTrace& trace, const ReportOptions& options);

/// Adds `more` to the sums in `to`, in order of first appearance. Operators with the same name,
/// category, shapes and types become one row; kernels and categories become one row per name.
void add_totals(std::vector<KernelTotal>& to, const std::vector<KernelTotal>& more);
void add_totals(std::vector<OperatorTotal>& to, const std::vector<OperatorTotal>& more);
void add_totals(std::vector<CategoryTotal>& to, const std::vector<CategoryTotal>& more);

} // namespace rankscope
