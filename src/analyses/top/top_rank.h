// What `top` keeps of one rank's trace: sums by kernel, operator and category, idle time by cause,
// and what the statements over ranks need. Small, so that the trace can be released.
#pragma once

#include "analyses/analysis.h"
#include "analyses/collectives/collective_data.h"
#include "analyses/collectives/run_consistency.h"
#include "analyses/job/rank_graph.h"
#include "analyses/sweep/sweep_facts.h"
#include "analyses/timeline/idle_causes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// All launches of a kernel, by its name alone: kernel_summary's rows of that name together.
struct KernelTotal {
  std::string name;
  std::int64_t sum_ns = 0, count = 0, max_ns = 0;
};

/// All calls of an operator with the same shapes and types: unified_perf_summary's rows of these
/// together.
struct OperatorTotal {
  std::string name, category;
  std::string dims, types; ///< Python tuples; "" = not recorded
  std::int64_t count = 0;
  double kernel_ns = 0;
  double tflops_sum = 0, tbps_sum = 0; ///< over the calls that have a rate
  std::int64_t tflops_calls = 0, tbps_calls = 0;
  double roofline_ns = 0, rated_ns = 0; ///< of calls with a roofline: minimum time, kernel time
  bool compute_bound = false;           ///< of the row with a roofline that came last
};

/// A row of ops_summary_by_category.
struct CategoryTotal {
  std::string category;
  std::int64_t count = 0;
  double direct_ns = 0;
};

struct TopRank {
  std::string path, device; ///< "" = no device is named
  std::string gpu;          ///< of the rooflines; "" = no rooflines
  std::vector<KernelTotal> kernels;
  std::vector<OperatorTotal> operators;
  std::vector<CategoryTotal> categories;
  IdleTime idle;
};

/// The parts of ranks, ascending by rank, as parallel lists: functions that combine ranks take
/// single lists.
struct TopParts {
  std::vector<TopRank> ranks;
  std::vector<RankRecord> records;
  std::vector<RankCollectives> collectives;
  std::vector<RankIdentity> identities;
  std::vector<RankGraph> graphs; ///< of runs whose causes are looked for, else empty

  /// Inserts a rank, or replaces it. All calls pass a graph, or all leave it out.
  void put(TopRank rank, RankRecord record, RankCollectives of, RankIdentity identity,
           std::optional<RankGraph> graph = std::nullopt);
  /// Takes it out, if it is there.
  void drop(std::int64_t rank);
};

/// options.gpu_arch: as UnifiedPerfKey has it. Errors: those of load_gpu_arch.
[[nodiscard]] Result<TopRank> top_rank_of(const LoadedTrace& trace, const ReportOptions& options);

/// Operators with the same name, category, shapes and types are one from here on; so are kernels
/// and categories by name. In order of first appearance.
void add_totals(std::vector<KernelTotal>& to, const std::vector<KernelTotal>& more);
void add_totals(std::vector<OperatorTotal>& to, const std::vector<OperatorTotal>& more);
void add_totals(std::vector<CategoryTotal>& to, const std::vector<CategoryTotal>& more);

} // namespace rankscope
