#include "app/kernel_energy.h"

#include "model/kernels.h"

#include <algorithm>
#include <array>
#include <map>

namespace rankscope {
namespace {

constexpr auto kIdle = static_cast<std::size_t>(WorkKind::kIdle);
constexpr auto kAll = static_cast<std::size_t>(WorkKind::kAll);
constexpr std::size_t kKinds = kAll + 1;

/// A time at which work of a kind begins (+1) or ends (-1).
struct Edge {
  std::int64_t at_ns = 0;
  std::uint8_t kind = 0;
  std::int8_t step = 0;
};

/// Determines the kind of each GPU event from its category and name.
class Kinds {
public:
  explicit Kinds(const Trace& trace)
      : trace_(trace), communicates_(communication_names(trace.strings)),
        known_(trace.strings.size(), kUnasked) {}

  std::uint8_t kind_of(EventId e) {
    const Category category = trace_.events.category[e];
    if (category == Category::kGpuMemcpy)
      return static_cast<std::uint8_t>(WorkKind::kCopy);
    if (category == Category::kGpuMemset)
      return static_cast<std::uint8_t>(WorkKind::kFill);
    std::uint8_t& known = known_[trace_.events.name[e]];
    if (known == kUnasked)
      known =
          static_cast<std::uint8_t>(communicates_[trace_.events.name[e]] ? WorkKind::kCommunication
                                    : is_gemm_kernel(trace_.name(e))     ? WorkKind::kGemm
                                                                         : WorkKind::kCompute);
    return known;
  }

private:
  static constexpr std::uint8_t kUnasked = 255;
  const Trace& trace_;
  std::vector<bool> communicates_;
  std::vector<std::uint8_t> known_; ///< indexed by name
};

struct Sum {
  std::int64_t busy_ns = 0;
  std::int64_t busy_covered_ns = 0;
  double joules = 0, low = 0, high = 0;
  double covered_ns = 0; ///< time that the joules cover; kinds that run together share it equally
};

/// Sums the energy per kind. `edges`: the edges of one device, sorted by time.
std::array<Sum, kKinds> sums_of(const std::vector<Edge>& edges, const EnergyCurve& curve) {
  std::array<Sum, kKinds> out;
  std::array<std::int64_t, kKinds> running{};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    running[edges[i].kind] += edges[i].step;
    if (i + 1 == edges.size() || edges[i + 1].at_ns == edges[i].at_ns)
      continue;
    const TimeSpan span{edges[i].at_ns, edges[i + 1].at_ns};
    const SpanEnergy covered = curve.energy(span);
    const auto kinds = std::count_if(running.begin(), running.end(), [](auto n) { return n > 0; });
    const auto add = [&](Sum& sum, double part) {
      sum.busy_ns += span.end_ns - span.begin_ns;
      sum.busy_covered_ns += covered.ns;
      sum.joules += covered.joules * part;
      sum.low += covered.low * part;
      sum.high += covered.high * part;
      sum.covered_ns += static_cast<double>(covered.ns) * part;
    };
    add(out[kAll], 1);
    if (kinds == 0)
      add(out[kIdle], 1);
    for (std::size_t k = 0; k < kIdle; ++k)
      if (running[k] > 0)
        add(out[k], 1 / static_cast<double>(kinds));
  }
  return out;
}

void add_rows(std::int64_t device, std::optional<int> gpu, const std::array<Sum, kKinds>& sums,
              std::vector<KernelEnergy>& rows) {
  const Sum& all = sums[kAll];
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Sum& sum = sums[k];
    if (sum.busy_ns == 0)
      continue;
    KernelEnergy row;
    row.device = device;
    row.gpu = gpu;
    row.kind = static_cast<WorkKind>(k);
    row.busy_ms = static_cast<double>(sum.busy_ns) / 1e6;
    row.covered_percent =
        100 * static_cast<double>(sum.busy_covered_ns) / static_cast<double>(sum.busy_ns);
    if (sum.busy_covered_ns > 0) {
      row.joules_low = sum.low;
      row.joules_high = sum.high;
    }
    if (sum.busy_covered_ns > 0 && !is_aliased(sum.joules, sum.low, sum.high)) {
      row.joules = sum.joules;
      row.mean_w = sum.joules / (sum.covered_ns / 1e9);
      if (all.joules > 0 && !is_aliased(all.joules, all.low, all.high))
        row.percent = 100 * sum.joules / all.joules;
    }
    rows.push_back(row);
  }
}

} // namespace

std::string_view work_kind_name(WorkKind kind) {
  constexpr std::array<std::string_view, kKinds> kNames = {
      "GEMM", "other compute", "communication", "memory copy", "memset", "idle", "all"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<KernelEnergy> kernel_energy(const LoadedTrace& loaded, const SampledPower& power) {
  const Trace& trace = loaded.trace;
  const StepClock clock = step_clock(trace);
  std::vector<KernelEnergy> out;
  if (clock == StepClock::kUnknown)
    return out;
  const std::int64_t offset = trace.clock().offset_ns;
  std::map<std::int64_t, std::vector<Edge>> devices;
  Kinds kinds(trace);
  for (EventId e = 0; e < trace.events.size(); ++e) {
    if (!trace.gpu(e) || trace.events.device[e] < 0 || trace.events.dur_ns[e] == 0)
      continue;
    const std::uint8_t kind = kinds.kind_of(e);
    std::vector<Edge>& edges = devices[trace.events.device[e]];
    const auto at = [&](std::int64_t t) {
      return unix_time(t + offset, clock, power.begin, power.end);
    };
    edges.push_back({at(trace.events.ts_ns[e]), kind, 1});
    edges.push_back({at(trace.end_ns(e)), kind, -1});
  }
  const std::vector<PowerSample> none;
  for (auto& [device, edges] : devices) {
    std::ranges::sort(edges, [](const Edge& a, const Edge& b) { return a.at_ns < b.at_ns; });
    const std::optional<int> gpu = power.gpu_of(static_cast<int>(device));
    const EnergyCurve curve(gpu ? power.gpus.at(*gpu) : none, power.longest_gap_ns);
    add_rows(device, gpu, sums_of(edges, curve), out);
  }
  return out;
}

Schema<KernelEnergy> kernel_energy_schema() {
  using Row = KernelEnergy;
  return Schema<KernelEnergy>(
      "kernel_energy", "energy by kind of GPU work, from power samples of the same run (--power)",
      {{"device", &Row::device, "number of the GPU in the trace"},
       {"gpu", &Row::gpu,
        "number of the GPU in the power samples; blank if this GPU was not sampled"},
       {"kind", [](const Row& r) { return work_kind_name(r.kind); },
        "kind of GPU work; idle: time without work; all: time from the first to the last event of "
        "the GPU"},
       {"busy_ms", Unit::kMs, &Row::busy_ms,
        "time in which this kind of work ran; when kinds overlap, each counts the full time"},
       {"joules", &Row::joules,
        "energy of this kind of work; while several kinds run, the energy is divided equally among "
        "them. From the GPU's energy counter if it has one; empty if the power samples are "
        "aliased"},
       {"percent", Unit::kPercent, &Row::percent, "share of the joules of the row 'all'"},
       {"mean_w", Unit::kWatt, &Row::mean_w,
        "mean power: joules divided by the covered time; while several kinds run, the time is "
        "divided equally among them"},
       {"covered_percent", Unit::kPercent, &Row::covered_percent,
        "share of busy_ms with power samples before and after it; the joules are for this share "
        "only"},
       {"joules_low", &Row::joules_low,
        "lower bound of the energy: between two samples, the lower of the two powers is assumed"},
       {"joules_high", &Row::joules_high,
        "upper bound of the energy: between two samples, the higher of the two powers is "
        "assumed"}});
}

} // namespace rankscope
