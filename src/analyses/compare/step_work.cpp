#include "analyses/compare/step_work.h"

#include "analyses/collectives/collective_sums.h"
#include "analyses/operators/launchers.h"
#include "analyses/timeline/own_times.h"
#include "base/display_text.h"
#include "base/fnv.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace rankscope {
namespace {

/// Returns "allreduce Float 1048576 elements, group 0".
std::string collective_text(std::string_view name, std::string_view dtype, std::int64_t in_nelems,
                            std::string_view group) {
  std::string out(name);
  if (!dtype.empty())
    out += fmt::format(" {}", dtype);
  if (in_nelems != kNoId)
    out += fmt::format(" {} elements", in_nelems);
  if (!group.empty())
    out += fmt::format(", group {}", group);
  return out;
}

/// Returns the arguments of a collective kernel, else those of the operator that launched it.
const CollectiveArgs* collective_args(const LoadedTrace& t, EventId kernel) {
  for (EventId at = kernel; at != kNoEvent; at = t.tree.parent(at))
    if (const CollectiveArgs* args = t.trace.collective_of(at);
        args != nullptr && args->collective_name != kEmptyStr)
      return args;
  return nullptr;
}

/// The keys of a trace's GPU events. Each argument is converted to text once.
class Keys {
public:
  Keys(const LoadedTrace& t, const LauncherIndex& index) : t_(t), index_(index) {}

  /// Returns the key's number; equal keys have equal numbers.
  std::size_t number_of(const SelfTime& time) {
    const Trace& trace = t_.trace;
    const EventId op = index_.parent_op[time.index];
    const StrId op_name = op == kNoEvent ? kEmptyStr : trace.events.name[op];
    const OpArgs* const op_args = op == kNoEvent ? nullptr : trace.op(op);
    const StrId dims = op_args == nullptr ? kEmptyStr : op_args->input_dims;
    std::string collective;
    if (time.bucket == TimelineBucket::kCommunication)
      if (const CollectiveArgs* args = collective_args(t_, time.event))
        collective = collective_text(trace.strings.view(args->collective_name),
                                     trace.strings.view(args->dtype), args->in_nelems,
                                     trace.strings.view(args->pg_name));
    const auto [at, fresh] = numbers_.try_emplace(
        Ids{time.bucket, op_name, dims, trace.events.name[time.event], collective}, 0);
    if (fresh) {
      WorkKey key;
      key.kind = time.bucket == TimelineBucket::kCompute         ? StepWorkKind::kKernel
                 : time.bucket == TimelineBucket::kCommunication ? StepWorkKind::kCollective
                                                                 : StepWorkKind::kCopy;
      key.op = trace.strings.view(op_name);
      key.shapes = shapes(dims);
      key.name = collective.empty() ? std::string(trace.name(time.event)) : collective;
      // different arguments may have the same text
      at->second = keys_.try_emplace(std::move(key), keys_.size()).first->second;
    }
    return at->second;
  }
  [[nodiscard]] const std::map<WorkKey, std::size_t>& keys() const { return keys_; }

  /// Returns a hash of the names of the operators above the launching operator; 0 if no operator
  /// launches the event.
  [[nodiscard]] std::uint64_t path_of(const SelfTime& time) const {
    const EventId op = index_.parent_op[time.index];
    if (op == kNoEvent || t_.trace.events.category[op] != Category::kCpuOp)
      return 0;
    Fnv64 hash;
    for (EventId at = t_.tree.cpu_op_above(t_.trace, op); at != kNoEvent;
         at = t_.tree.cpu_op_above(t_.trace, at)) {
      hash.update(t_.trace.name(at));
      hash.update("/");
    }
    return hash.value();
  }

private:
  using Ids = std::tuple<TimelineBucket, StrId, StrId, StrId, std::string>;

  const std::string& shapes(StrId dims) {
    const auto [at, fresh] = shapes_.try_emplace(dims);
    if (fresh && dims != kEmptyStr)
      at->second = short_shapes(std::string(t_.trace.strings.view(dims)));
    return at->second;
  }

  const LoadedTrace& t_;
  const LauncherIndex& index_;
  std::map<Ids, std::size_t> numbers_;
  std::map<WorkKey, std::size_t> keys_;
  std::unordered_map<StrId, std::string> shapes_;
};

/// Waits in ns, by rank, stream and start of the kernel; without kernels that do not wait.
using KernelWaits = std::map<std::tuple<std::int64_t, std::int32_t, std::int64_t>, std::int64_t>;

/// Returns the waits of the collectives in the steps; nullopt if one is incomplete.
std::optional<KernelWaits> waits_of(const StepWork& run, const CollectiveFacts& facts) {
  KernelWaits out;
  for (const CollectiveKernel& k : facts.kernels) {
    const Collective& c = *k.collective;
    if (!run.without_steps && !std::ranges::binary_search(run.steps, c.step))
      continue;
    if (k.timed->match.incomplete())
      return std::nullopt;
    if (const std::int64_t wait = c.dur_ns - k.timed->latency_ns;
        compares_ranks(*k.timed) && wait > 0)
      out.emplace(std::tuple(k.rank->rank, c.stream, c.ts_ns), wait);
  }
  return out;
}

std::string text_of(const Trace& trace, StrId id) {
  return std::string(trace.strings.view(id));
}

} // namespace

std::string_view step_work_kind_name(StepWorkKind kind) {
  static constexpr std::string_view kNames[kStepWorkKinds] = {"kernel", "collective", "copy",
                                                              "idle time", "wait at collectives"};
  return kNames[static_cast<std::size_t>(kind)];
}

StepWork step_work_of(const LoadedTrace& t, const ReportOptions& options) {
  const SelfTimes times = self_times_of(t, options);
  StepWork out;
  out.ranks = 1;
  out.without_steps = times.without_steps;
  Keys keys(t, t.shared(LaunchersKey{options}));
  std::vector<Work> work; // by the key's number
  std::array<Work, kIdleCauses> idle;
  for (std::size_t s = 0; s < times.steps.size(); ++s) {
    const StepSelfTimes& step = times.steps[s];
    out.steps.push_back(step.step);
    out.total_ns.push_back(step.total_ns);
    for (std::size_t c = 0; c < kIdleCauses; ++c)
      idle[c].self_ns.push_back(step.idle_ns[c]);
    const double last = std::max<double>(1, static_cast<double>(step.events.size()) - 1);
    for (std::size_t i = 0; i < step.events.size(); ++i) {
      const SelfTime& time = step.events[i];
      const std::size_t number = keys.number_of(time);
      if (number >= work.size())
        work.resize(number + 1);
      Work& sum = work[number];
      if (sum.self_ns.empty()) {
        sum.path = keys.path_of(time);
        if (const GpuArgs* args = t.trace.gpu_arg(time.event)) {
          sum.grid = text_of(t.trace, args->grid);
          sum.block = text_of(t.trace, args->block);
        }
      }
      sum.self_ns.resize(times.steps.size());
      sum.self_ns[s] += time.ns;
      sum.launches += 1;
      sum.place += static_cast<double>(i) / last;
      if (!time.parts.empty()) {
        const std::int64_t start = t.trace.events.ts_ns[time.event];
        CollectiveSelfTime kernel{t.rank, step.step, t.trace.events.stream[time.event], start,
                                  time.parts};
        for (Interval& part : kernel.parts)
          part = {part.start - start, part.end - start};
        sum.kernels.push_back(std::move(kernel));
      }
    }
  }
  for (const auto& [key, number] : keys.keys()) {
    Work& sum = work[number];
    sum.place /= sum.launches;
    sum.launches /= static_cast<double>(times.steps.size());
    out.work.emplace(key, std::move(sum));
  }
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    if (std::ranges::any_of(idle[c].self_ns, [](std::int64_t ns) { return ns != 0; }))
      out.work.emplace(
          WorkKey{
              StepWorkKind::kIdle, {}, {}, std::string(idle_cause_name(static_cast<IdleCause>(c)))},
          std::move(idle[c]));
  return out;
}

StepWork join_step_work(std::vector<StepWork> ranks) {
  StepWork out;
  if (ranks.empty())
    return out;
  out.without_steps = ranks.front().without_steps;
  out.steps = ranks.front().steps;
  for (const StepWork& rank : ranks) {
    if (rank.without_steps != out.without_steps || rank.ranks == 0)
      return {};
    std::vector<std::int64_t> common;
    std::set_intersection(out.steps.begin(), out.steps.end(), rank.steps.begin(), rank.steps.end(),
                          std::back_inserter(common));
    out.steps = std::move(common);
  }
  if (out.steps.empty())
    return {};
  out.total_ns.assign(out.steps.size(), 0);
  for (StepWork& rank : ranks) {
    out.ranks += rank.ranks;
    std::vector<std::size_t> places; // positions of the common steps in the rank's steps
    for (const std::int64_t step : out.steps)
      places.push_back(static_cast<std::size_t>(
          std::lower_bound(rank.steps.begin(), rank.steps.end(), step) - rank.steps.begin()));
    for (std::size_t s = 0; s < places.size(); ++s)
      out.total_ns[s] += rank.total_ns[places[s]];
    for (auto& [key, from] : rank.work) {
      const auto [at, fresh] = out.work.try_emplace(key);
      Work& to = at->second;
      if (fresh) {
        to.self_ns.assign(out.steps.size(), 0);
        to.path = from.path;
        to.grid = from.grid;
        to.block = from.block;
      }
      for (std::size_t s = 0; s < places.size(); ++s)
        to.self_ns[s] += from.self_ns[places[s]];
      to.launches += from.launches;
      to.place += from.place * from.launches;
      std::ranges::move(from.kernels, std::back_inserter(to.kernels));
    }
  }
  for (auto& [key, work] : out.work) {
    work.place = work.launches > 0 ? work.place / work.launches : 0;
    work.launches /= static_cast<double>(out.ranks);
  }
  return out;
}

bool has_launches(StepWorkKind kind) {
  return kind != StepWorkKind::kIdle && kind != StepWorkKind::kWait;
}

void add_waits(StepWork& run, const CollectiveFacts& facts) {
  const std::optional<KernelWaits> waits = waits_of(run, facts);
  run.waits_known = waits.has_value();
  for (auto& [key, work] : run.work)
    for (const CollectiveSelfTime& kernel : std::exchange(work.kernels, {})) {
      if (!waits)
        continue;
      const auto step = std::ranges::lower_bound(run.steps, kernel.step);
      const auto wait = waits->find({kernel.rank, kernel.stream, kernel.ts_ns});
      if (step == run.steps.end() || *step != kernel.step || wait == waits->end())
        continue;
      work.wait_ns.resize(run.steps.size());
      for (const Interval& part : kernel.parts)
        work.wait_ns[static_cast<std::size_t>(step - run.steps.begin())] +=
            std::max<std::int64_t>(0, std::min(part.end, wait->second) - part.start);
    }
}

StepWork with_separate_waits(StepWork run) {
  Work waits;
  waits.self_ns.resize(run.steps.size());
  for (auto& [key, work] : run.work) {
    for (std::size_t s = 0; s < work.wait_ns.size(); ++s) {
      work.self_ns[s] -= work.wait_ns[s];
      waits.self_ns[s] += work.wait_ns[s];
    }
    work.wait_ns.clear();
  }
  if (!run.steps.empty())
    run.work.emplace(WorkKey{StepWorkKind::kWait, {}, {}, "wait"}, std::move(waits));
  return run;
}

StepWork with_joined_idle(StepWork run) {
  Work sum;
  sum.self_ns.resize(run.steps.size());
  for (auto& [key, work] : run.work)
    if (key.kind == StepWorkKind::kIdle)
      std::ranges::transform(sum.self_ns, work.self_ns, sum.self_ns.begin(), std::plus<>());
  std::erase_if(run.work, [](const auto& row) { return row.first.kind == StepWorkKind::kIdle; });
  if (!run.steps.empty())
    run.work.emplace(kJoinedIdle, std::move(sum));
  return run;
}

const char* wrong_with(const StepWork& work) {
  if (work.total_ns.size() != work.steps.size())
    return "steps without their times";
  if (std::ranges::adjacent_find(work.steps, std::greater_equal<>()) != work.steps.end())
    return "steps out of order";
  for (const auto& [key, entry] : work.work) {
    if (entry.self_ns.size() != work.steps.size() ||
        (!entry.wait_ns.empty() && entry.wait_ns.size() != work.steps.size()))
      return "own times of other steps";
    if (!(entry.launches >= 0 && entry.launches < 1e15) ||
        !(entry.place >= 0 && entry.place < 1.001))
      return "invalid number or place of launches";
  }
  return nullptr;
}

} // namespace rankscope
