#include "core/column_help.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rankscope {
namespace {

constexpr auto kMeanings = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"type", "the kind of time: a row of gpu_timeline"},
    {"rank", "the process of the job, from its folder or file name, else from the trace"},
    {"stream", "the GPU stream on which the kernel ran"},
    {"Process Group Name", "the group whose members take part, as the profiler names it"},
    {"process group", "the group whose members take part, as the profiler names it"},
    {"Process Group Ranks", "the ranks of the group"},
    {"description", "what the program calls the process group"},
    {"Group size", "the number of ranks in the process group"},
    {"node_span", "intra_node: all members are on one node; inter_node: they are not"},
    {"Collective name", "the operation: allreduce, _allgather_base, ..."},
    {"dtype", "the element type of the message"},
    {"In msg nelems", "elements that a rank puts in"},
    {"Out msg nelems", "elements that a rank gets out"},
    {"In msg size (MB)", "elements that a rank puts in, in 2^20 bytes"},
    {"Out msg size (MB)", "elements that a rank gets out, in 2^20 bytes"},
    {"In msg size (MB)_first", "of the first call of the row: what a rank puts in, 2^20 bytes"},
    {"Out msg size (MB)_first", "of the first call of the row: what a rank gets out, 2^20 bytes"},
    {"Full msg size (MB)", "the message whose size the bandwidth uses, 2^20 bytes: what comes out "
                           "of an all-gather, else what goes in"},
    {"message size (MB)", "sum of the full message sizes, 2^20 bytes"},
    {"In split size", "elements for each member of an uneven exchange"},
    {"Out split size", "elements from each member of an uneven exchange"},
    {"collective_id", "process group and place in it: the same on all ranks that took part"},
    {"index_in_group", "place of the collective in its process group, from 0"},
    {"index", "place of the collective in its process group, from 0"},
    {"dur_mean", "mean duration of the kernels of the row, us"},
    {"dur_std", "standard deviation of the durations (n - 1), us"},
    {"dur_min", "shortest duration, us"},
    {"dur_max", "longest duration, us"},
    {"operation_count", "kernels in the row"},
    {"kernels", "kernels, counted on every rank"},
    {"collectives", "collectives, each counted once whatever the number of ranks"},
    {"num_collectives", "collectives in which the rank took part with at least one other"},
    {"Total comm latency (ms)", "sum of comm_latency over the collectives of the row"},
    {"earliest arrival rank", "the rank that started first and waited longest"},
    {"duration over ranks (ms)", "sum of the kernels' durations over all ranks"},
    {"bus bandwidth median (GB/s)", "median over the collectives, 10^9 bytes per second"},
    {"transfer (ms)", "duration less the wait for the last member"},
    {"hidden by compute (ms)", "communication during which compute kernels ran on the rank"},
    {"hidden by memcpy (ms)", "of the rest, communication during which copies ran"},
    {"exposed (ms)", "communication during which neither compute nor copies ran on the rank"},
    {"exposed (%)", "exposed share of the communication"},
    {"mean_wait_time_us", "mean wait for the last member to start"},
    {"times_arrived_first", "collectives in which the rank started first"},
    {"times_arrived_last", "collectives in which the rank started last"},
    {"pct_arrived_last", "share of its collectives in which the rank started last"},
    {"pct_shortest", "share of its collectives in which its kernel was the shortest"},
    {"total_nccl_dur_us", "sum of the durations of its collectives"},
    {"base time (ns)", "unix time at which the trace's clock reads 0"},
    {"aligned", "whether the clock could be compared with another rank's"},
    {"src_rank", "the rank that sends"},
    {"dst_rank", "the rank that receives"},
    {"total_sent_MB", "sum of what was sent, 2^20 bytes"},
    {"avg_sent_MB", "mean of what was sent in a collective, 2^20 bytes"},
    {"count", "collectives in the row"},
    {"total nelems", "elements that all members put in"},
    {"total data communicated (MB)", "what all members put in, 2^20 bytes"},
    {"total data communicated (MB)_mean", "what all members put in, mean, 2^20 bytes"},
    {"avg_rank_dur (us)", "mean duration over the members"},
    {"min_rank_dur (us)", "shortest duration over the members"},
    {"max_rank_dur (us)", "longest duration over the members"},
    {"throughput (GB/s)", "data communicated over the time from first start to last end"},
    {"throughput (GB/s)_mean", "data communicated over the time from first start to last end"},
    {"Total wall_time (us)", "sum of the times from first start to last end"},
    {"Total wall_time (ms)", "sum of the times from first start to last end"},
    {"problem", "what does not agree between the ranks"},
    {"finding", "what the figures say"},
});

} // namespace

std::string_view shared_column_help(std::string_view label) {
  const auto at = std::find_if(kMeanings.begin(), kMeanings.end(),
                               [&](const auto& meaning) { return meaning.first == label; });
  return at == kMeanings.end() ? std::string_view() : at->second;
}

} // namespace rankscope
