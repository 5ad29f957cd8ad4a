#include "app/query_views.h"

#include <array>

namespace rankscope {
namespace {

constexpr std::array kViews = std::to_array<QueryView>({
    {"kernels_by_time", "which kernels take the most time, over all ranks?",
     R"(SELECT run, name, any_value(work) AS work, any_value(family) AS family, count(*) AS launches,
  sum(dur_ns) / 1e6 AS total_ms, avg(dur_ns) / 1e3 AS mean_us, max(dur_ns) / 1e3 AS max_us,
  100 * sum(dur_ns) / sum(sum(dur_ns)) OVER (PARTITION BY run) AS percent
FROM kernels WHERE work IN ('computation', 'communication')
GROUP BY run, name ORDER BY run, sum(dur_ns) DESC, name)"},
    {"work_by_family", "what kinds of kernels does the GPU run, rank by rank?",
     R"(SELECT run, rank, family, count(*) AS launches, sum(dur_ns) / 1e6 AS total_ms
FROM kernels WHERE work IN ('computation', 'communication')
GROUP BY run, rank, family ORDER BY run, rank, sum(dur_ns) DESC, family)"},
    {"operators_by_time", "which operators launch the most GPU time (outermost ones)?",
     R"(SELECT run, name, count(*) AS calls, sum(kernels)::BIGINT AS kernels,
  sum(kernel_ns) / 1e6 AS kernel_ms
FROM operators WHERE outermost GROUP BY run, name ORDER BY run, sum(kernel_ns) DESC, name)"},
    {"exposed_by_step", "how much communication is exposed, per rank and step?",
     R"(SELECT run, rank, step, exposed_comm_ns / 1e6 AS exposed_ms, total_ns / 1e6 AS total_ms,
  100.0 * exposed_comm_ns / nullif(total_ns, 0) AS exposed_percent
FROM steps WHERE total_ns IS NOT NULL ORDER BY run, rank, step)"},
    {"time_by_rank", "how does each rank's GPU time divide?",
     R"(SELECT run, rank, total_ns / 1e6 AS total_ms, computation_ns / 1e6 AS compute_ms,
  exposed_comm_ns / 1e6 AS exposed_ms, exposed_memcpy_ns / 1e6 AS memcpy_ms,
  idle_ns / 1e6 AS idle_ms
FROM ranks ORDER BY run, rank)"},
    {"slow_ranks",
     "which rank computes longest per step, and how far above the mean of the others?",
     R"(SELECT run, rank, compute_ms, (sum(compute_ms) OVER of_run - compute_ms)
    / nullif(count(*) OVER of_run - 1, 0) AS others_ms,
  100 * (compute_ms / others_ms - 1) AS above_percent
FROM (SELECT run, rank, coalesce(any_value(step_ns), any_value(computation_ns)) / 1e6 AS compute_ms
  FROM ranks LEFT JOIN (SELECT run, rank, avg(computation_ns) AS step_ns FROM steps
    WHERE computation_ns IS NOT NULL GROUP BY run, rank) USING (run, rank) GROUP BY run, rank)
WINDOW of_run AS (PARTITION BY run) ORDER BY run, compute_ms DESC, rank)"},
    {"late_ranks", "who makes the others wait in collectives (least wait first)?",
     R"(SELECT run, rank, count(*) AS collectives, sum(wait_ns) / 1e6 AS wait_ms,
  sum(dur_ns) / 1e6 AS total_ms
FROM collectives WHERE wait_ns IS NOT NULL GROUP BY run, rank ORDER BY run, sum(wait_ns), rank)"},
    {"collectives_by_size", "which bandwidth do collectives reach, by size?",
     R"(SELECT run, name, dtype, mib, group_size, count(DISTINCT collective_id) AS collectives,
  median(bus_gbps) AS bus_gbps, median(dur_ns - wait_ns) / 1e3 AS transfer_us,
  sum(exposed_ns) / 1e6 AS exposed_ms
FROM collectives GROUP BY run, name, dtype, mib, group_size
ORDER BY run, name, dtype, mib, group_size)"},
    {"exposed_by_collective", "which collectives are exposed most?",
     R"(SELECT run, name, count(*) AS kernels, sum(dur_ns) / 1e6 AS total_ms,
  sum(exposed_ns) / 1e6 AS exposed_ms, 100.0 * sum(exposed_ns) / nullif(sum(dur_ns), 0)
  AS exposed_percent
FROM collectives GROUP BY run, name ORDER BY run, sum(exposed_ns) DESC, name)"},
    {"idle_by_cause", "why is the GPU idle?",
     R"(SELECT run, cause, any_value(meaning) AS meaning, avg(idle_ns) / 1e6 AS idle_ms,
  100.0 * sum(idle_ns) / nullif(sum(total_ns), 0) AS percent, avg(gaps) AS gaps
FROM idle GROUP BY run, cause ORDER BY run, sum(idle_ns) DESC, cause)"},
    {"gemm_by_shape", "which matrix products vary most from call to call?",
     R"(SELECT run, name, input_dims, count(*) AS calls, min(kernel_ns) / 1e3 AS min_us,
  median(kernel_ns) / 1e3 AS median_us, max(kernel_ns) / 1e3 AS max_us,
  (max(kernel_ns) - min(kernel_ns)) / 1e3 AS range_us
FROM operators
WHERE kernels > 0 AND name IN ('aten::mm', 'aten::addmm', 'aten::bmm', 'aten::baddbmm',
  'aten::_scaled_mm', 'aten::addbmm')
GROUP BY run, name, input_dims ORDER BY run, max(kernel_ns) - min(kernel_ns) DESC, name,
  input_dims)"},
    {"launch_delay", "how long do kernels wait from their launch to their start?",
     R"(SELECT run, rank, count(*) AS kernels, median(start_ns - launch_ns) / 1e3 AS median_us,
  quantile_cont(start_ns - launch_ns, 0.99) / 1e3 AS p99_us
FROM kernels WHERE launch_ns IS NOT NULL GROUP BY run, rank ORDER BY run, rank)"},
    {"launch_calls", "how long do a launching call, the delay after it and its GPU work take?",
     R"(SELECT run, rank, correlation, launch, name, launch_ns, launch_dur_ns / 1e3 AS call_us,
  dur_ns / 1e3 AS gpu_us, greatest(0, start_ns - launch_ns - launch_dur_ns) / 1e3 AS delay_us
FROM kernels WHERE launch_ns IS NOT NULL ORDER BY run, rank, launch_ns, event)"},
    {"queue_points",
     "how many launched kernels wait on each stream, at each change of this number?",
     R"(SELECT run, rank, device, stream, ns,
  sum(change) OVER (PARTITION BY run, rank, device, stream ORDER BY ns, change DESC
    ROWS UNBOUNDED PRECEDING)::BIGINT AS length
FROM (SELECT run, rank, device, stream, launch_ns AS ns, 1 AS change FROM kernels
    WHERE launch NOT ILIKE '%graphlaunch%'
  UNION ALL SELECT run, rank, device, stream, start_ns, -1 FROM kernels
    WHERE launch NOT ILIKE '%graphlaunch%')
ORDER BY run, rank, device, stream, ns, change DESC)"},
    {"stream_gaps", "which gaps does each stream have, and what causes each gap?",
     R"(SELECT run, rank, device, stream, event, name, previous_end_ns, start_ns,
  start_ns - previous_end_ns AS gap_ns,
  CASE WHEN launch_ns > previous_end_ns THEN 'host_wait'
    WHEN gap_ns < 30000 THEN 'kernel_wait' ELSE 'other' END AS cause
FROM (SELECT *, max(end_ns) OVER (PARTITION BY run, rank, device, stream
    ORDER BY start_ns, end_ns, launch_ns NULLS FIRST, event
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS previous_end_ns FROM kernels)
WHERE start_ns > previous_end_ns ORDER BY run, rank, device, stream, start_ns, event)"},
    {"streams", "how busy is each stream?",
     R"(SELECT run, rank, device, stream, count(*) AS events, sum(dur_ns) / 1e6 AS total_ms,
  100.0 * sum(greatest(0, end_ns - greatest(start_ns, ended_ns)))
    / nullif(max(end_ns) - min(start_ns), 0) AS percent_of_span
FROM (SELECT *, coalesce(max(end_ns) OVER (PARTITION BY run, rank, device, stream
    ORDER BY start_ns, end_ns, event ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)
    AS ended_ns FROM kernels)
GROUP BY run, rank, device, stream ORDER BY run, rank, device, stream)"},
});

} // namespace

std::span<const QueryView> query_views() {
  return kViews;
}

} // namespace rankscope
