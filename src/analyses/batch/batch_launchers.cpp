// Launchers of GPU work: operators, and runtime calls outside of operators
// (docs/reference/batch-rules.md 4).
#include "analyses/batch/batch_part.h"

#include "analyses/operators/launchers.h"

#include <algorithm>
#include <map>

namespace rankscope {
namespace {

using Launch = std::pair<EventId, EventId>; ///< (launcher, kernel)

/// Returns each kernel with the nearest operator above it. Outside of operators, the launcher is
/// the outermost call. So each kernel counts once.
std::vector<Launch> launches(const LoadedTrace& t, const std::vector<bool>& communication) {
  const Events& e = t.trace.events;
  const StrId execute = t.trace.strings.find("execute"); // the event around a graph replay, never a
                                                         // launcher
  std::vector<Launch> out;
  for (EventId k = 0; k < e.size(); ++k) {
    if (!is_gpu(e.category[k]) || !t.tree.linked(k) || communication[e.name[k]])
      continue;
    EventId launcher = t.tree.parent(k);
    for (EventId at = launcher; at != kNoEvent; at = t.tree.parent(at)) {
      const bool op = e.category[at] == Category::kCpuOp;
      if (op && e.name[at] == execute)
        continue;
      launcher = at;
      if (op)
        break;
    }
    out.emplace_back(launcher, k);
  }
  return out;
}

/// Returns the launches as the reference counts them. An operator gets the kernels that its direct
/// calls launch, two levels below it. A kernel launched through nested calls counts for both calls
/// and for no operator. A call outside of operators includes its collectives, unless its only
/// kernel is a collective.
std::vector<Launch> old_launches(const LoadedTrace& t, const std::vector<bool>& communication) {
  const Events& e = t.trace.events;
  const StrId execute = t.trace.strings.find("execute");
  std::vector<Launch> out;
  std::vector<bool> attributed(e.size());
  std::vector<bool> counts_all(e.size()); // launchers that count every GPU event below them
  for (EventId k = 0; k < e.size(); ++k) {
    if (!is_gpu(e.category[k]) || !t.tree.linked(k) || communication[e.name[k]])
      continue;
    const EventId call = t.tree.parent(k);
    const EventId op = t.tree.parent(call);
    if (op == kNoEvent || e.category[op] != Category::kCpuOp)
      continue;
    attributed[call] = true;
    const EventId above = t.tree.parent(op);
    if (e.name[op] == execute && above != kNoEvent)
      counts_all[above] = true;
    else
      out.emplace_back(op, k);
  }
  for (EventId i = 0; i < e.size(); ++i) {
    const bool call = is_runtime(e.category[i]) && !attributed[i];
    if (!call && !counts_all[i])
      continue;
    const std::span<const EventId> gpu = t.tree.gpu_events(i);
    if (call && gpu.size() == 1 && communication[e.name[gpu[0]]])
      continue;
    for (const EventId k : gpu)
      out.emplace_back(i, k);
  }
  return out;
}

} // namespace

std::vector<BatchLaunchers> batch_launchers(const LoadedTrace& t,
                                            const std::vector<bool>& communication,
                                            const BatchOptions& options) {
  const Events& e = t.trace.events;
  std::vector<Launch> pairs =
      options.compat ? old_launches(t, communication) : launches(t, communication);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::map<StrId, BatchLaunchers> by_name;
  std::vector<EventId> kernels;
  for (std::size_t i = 0; i < pairs.size();) {
    const EventId launcher = pairs[i].first;
    kernels.clear();
    for (; i < pairs.size() && pairs[i].first == launcher; ++i)
      kernels.push_back(pairs[i].second);
    BatchLaunchers& row = by_name[e.name[launcher]];
    ++row.count;
    const double time_ns = busy_ns(t.trace, kernels, options.compat);
    row.time_ns += time_ns;
    const auto copies = std::remove_if(kernels.begin(), kernels.end(), [&](EventId k) {
      return e.category[k] == Category::kGpuMemcpy;
    });
    const bool some = copies != kernels.end();
    kernels.erase(copies, kernels.end());
    row.without_copy_ns += some ? busy_ns(t.trace, kernels, options.compat) : time_ns;
  }
  std::vector<BatchLaunchers> out;
  for (auto& [id, row] : by_name) {
    row.name = t.trace.strings.view(id);
    out.push_back(std::move(row));
  }
  std::ranges::sort(out, {}, &BatchLaunchers::name);
  return out;
}

} // namespace rankscope
