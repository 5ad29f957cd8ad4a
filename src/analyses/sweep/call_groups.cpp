#include "analyses/sweep/call_groups.h"

#include "analyses/operators/launchers.h"
#include "base/fnv.h"
#include "base/interval_set.h"
#include "base/units.h"
#include "core/steps.h"
#include "model/ops/op_registry.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace rankscope {
namespace {

/// Ids of a call's name and arguments; calls with equal ids are comparable.
using CallIds = std::array<StrId, 5>;

struct CallIdsHash {
  std::size_t operator()(const CallIds& ids) const {
    std::size_t out = 0;
    for (const StrId id : ids)
      out = out * 1000003 + id;
    return out;
  }
};

std::uint64_t key_of(const Trace& trace, const CallIds& ids) {
  Fnv64 hash;
  for (const StrId id : ids) {
    hash.update(trace.strings.view(id));
    hash.update(std::string_view("\0", 1));
  }
  return hash.value();
}

IntervalSet collectives_of(const Trace& trace, const LauncherIndex& index) {
  std::vector<Interval> out;
  for (const EventId i : index.gpu)
    if (trace.events.category[i] != Category::kGpuMemcpy &&
        index.communication[trace.events.name[i]])
      out.push_back({trace.events.ts_ns[i], trace.end_ns(i)});
  return IntervalSet(std::move(out));
}

/// Sums of one group while calls are added.
struct Gathered {
  CallGroup group;
  double us = 0;
};

/// Returns the time in ns during which collectives overlap a call's kernels.
std::int64_t overlap_of(const Trace& trace, const IntervalSet& comm,
                        std::span<const EventId> kernels) {
  if (kernels.size() == 1)
    return comm.covered(trace.events.ts_ns[kernels[0]], trace.end_ns(kernels[0]));
  return busy_time(trace, kernels).intersect(comm).length();
}

/// Maps step numbers to blocks of consecutive steps.
std::unordered_map<std::int64_t, std::size_t> blocks_of(const std::vector<ProfilerStep>& steps) {
  std::unordered_map<std::int64_t, std::size_t> out;
  const std::size_t blocks = std::min(steps.size(), kCallBlocks);
  for (std::size_t i = 0; i < steps.size(); ++i)
    out.emplace(steps[i].number, i * blocks / steps.size());
  return out;
}

/// Returns the groups with the most time. Ties are ordered by key, so that the order of events does
/// not matter.
std::vector<CallGroup> largest(std::vector<Gathered> all, bool gemm) {
  std::erase_if(all, [gemm](const Gathered& g) { return g.group.gemm != gemm; });
  std::sort(all.begin(), all.end(), [](const Gathered& a, const Gathered& b) {
    return a.us != b.us ? a.us > b.us : a.group.key < b.group.key;
  });
  all.resize(std::min(all.size(), kCallGroups));
  std::vector<CallGroup> out;
  for (Gathered& g : all)
    out.push_back(std::move(g.group));
  return out;
}

} // namespace

void CallBlock::add(double duration_us, double overlapped) {
  if (!(duration_us > 0))
    return;
  ++calls;
  us += duration_us;
  share += overlapped;
  share_share += overlapped * overlapped;
  speed += 1 / duration_us;
  share_speed += overlapped / duration_us;
  if (overlapped > 0)
    return;
  ++alone;
  alone_us += duration_us;
  alone_speed += 1 / duration_us;
}

std::vector<CallGroup> call_groups(const LoadedTrace& t, const ReportOptions& options) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  const std::vector<ProfilerStep> steps = profiler_steps(trace);
  if (steps.empty())
    return {};
  const auto blocks = blocks_of(steps);
  const LauncherIndex& index = t.shared(LaunchersKey{options});
  const IntervalSet comm = collectives_of(trace, index);
  std::unordered_map<CallIds, std::size_t, CallIdsHash> rows;
  std::vector<Gathered> groups;
  for (const Launcher& l : index.launchers) {
    if (e.category[l.event] != Category::kCpuOp)
      continue;
    const OpArgs* const args = trace.op(l.event);
    const std::int64_t step = step_at(steps, e.ts_ns[l.event]);
    if (step < 0 || args == nullptr || args->input_dims == kEmptyStr)
      continue;
    const CallIds ids{e.name[l.event], args->input_dims, args->input_types, args->input_strides,
                      args->concrete_inputs};
    const auto [at, fresh] = rows.emplace(ids, groups.size());
    if (fresh) {
      Gathered g;
      const OpInfo* const op = find_op(trace.name(l.event));
      g.group.key = key_of(trace, ids);
      g.group.gemm = op != nullptr && op->family == "GEMM";
      g.group.blocks.resize(std::min(steps.size(), kCallBlocks));
      groups.push_back(std::move(g));
    }
    Gathered& g = groups[at->second];
    const double us = ns_to_us(l.direct_ns);
    const std::int64_t overlap = overlap_of(trace, comm, index.kernels_of(l));
    g.group.blocks[blocks.at(step)].add(
        us, l.direct_ns > 0 ? static_cast<double>(overlap) / l.direct_ns : 0);
    g.us += us;
  }
  std::vector<CallGroup> out = largest(groups, true);
  for (CallGroup& other : largest(std::move(groups), false))
    out.push_back(std::move(other));
  return out;
}

} // namespace rankscope
