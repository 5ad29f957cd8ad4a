#include "synth/synth_simulate.h"

#include "model/bus_bandwidth.h"
#include "synth/synth_noise.h"
#include "synth/synth_random.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace rankscope::synth {
namespace {

std::int64_t ns(double v) {
  return static_cast<std::int64_t>(std::llround(v));
}

constexpr std::int64_t kLaunchLatencyNs = 3100;
constexpr std::int64_t kStreamGapNs = 900;

class Simulator {
public:
  Simulator(const Options& o, const Program& p, const Groups& g, const Config& c,
            const Program* data)
      : o_(o), p_(p), data_(data == nullptr ? p : *data), g_(g), config_(c), speed_(speed_of(o, c)),
        step_factors_(step_factors(o, c)) {}

  Run run() {
    Run out;
    out.config = config_;
    const auto n = static_cast<std::size_t>(o_.ranks);
    const auto steps = static_cast<std::size_t>(o_.steps);
    out.ranks.resize(n);
    out.transfer_ns.resize(steps * p_.collectives.size());
    Random setup(mix(o_.seed) ^ 0x5e7u);
    out.straggler = o_.straggler == -2
                        ? static_cast<std::int64_t>(setup.next() % static_cast<std::uint64_t>(n))
                        : o_.straggler;
    states_.resize(n);
    for (std::size_t r = 0; r < n; ++r) {
      RankTimes& t = out.ranks[r];
      t.action_ns.resize(steps * p_.actions.size());
      t.kernel_start_ns.resize(steps * p_.kernels.size());
      t.kernel_end_ns.resize(steps * p_.kernels.size());
      states_[r].random =
          Random(mix(o_.seed) ^
                 mix(static_cast<std::uint64_t>(config_.threads * 100003 + config_.channels)) ^
                 mix(7919 * (r + 1)));
      states_[r].extra = Random(mix(o_.seed) ^ mix(104729 * (r + 1)));
      // GPUs of the same model differ slightly.
      const double spread = setup.normal();
      states_[r].speed = 1.0 + (o_.equal_devices ? 0.0 : o_.noise * 0.08 * spread);
      states_[r].cpu_ns = kOriginNs;
      if (o_.inject.profiler_start_ms > 0)
        states_[r].cpu_ns += ns(states_[r].extra.uniform() * o_.inject.profiler_start_ms * 1e6);
      if (static_cast<std::int64_t>(r) == out.straggler)
        states_[r].slow_share = o_.straggler_us * 1000.0 / static_cast<double>(p_.compute_base_ns);
      if (const auto rank = static_cast<std::int64_t>(r);
          rank >= o_.throttled && rank <= std::max(o_.throttled, o_.throttled_last))
        states_[r].throttle = o_.throttle_factor;
    }
    draw_clocks(out, setup);
    for (std::size_t s = 0; s < steps; ++s)
      step(out, s);
    return out;
  }

private:
  static constexpr auto kNoAction = static_cast<std::size_t>(-1);
  struct State {
    Random random{0};
    Random extra{0}; ///< for work of this rank only, so that `random` does not change
    double speed = 1;
    double slow_share = 0;
    double throttle = 1;
    std::int64_t cpu_ns = 0;
    std::int64_t stream_free[3] = {0, 0, 0};
    std::int64_t compute_after = 0;   ///< the compute stream waits until this time
    std::vector<Interval> comm;       ///< collectives of this step, by start
    std::size_t comm_low = 0;         ///< intervals before this index ended long ago
    std::size_t pause_at = kNoAction; ///< the host pauses before this action
  };

  void draw_clocks(Run& out, Random& setup) const {
    double node_offset = 0;
    for (std::int64_t r = 0; r < o_.ranks; ++r) {
      if (!o_.clock_per_node || r % o_.gpus_per_node == 0)
        node_offset = (setup.uniform() * 2.0 - 1.0) * o_.clock_offset_us * 1000.0;
      out.clock_offset_ns.push_back(o_.clock_offset_us > 0 ? ns(node_offset) : 0);
      // Kineto floors the time to buckets of 7 889 238 s; ranks that started at different times may
      // have different base times.
      out.base_time_ns.push_back(kBaseTimeNs - (o_.distinct_base ? r * 1000000 : 0));
    }
  }

  void step(Run& out, std::size_t s) {
    for (State& state : states_) {
      state.cpu_ns += 20000 + ns(state.random.uniform() * 180000.0); // host work between steps
      state.comm.clear();
      state.comm_low = 0;
    }
    draw_pauses(s);
    for (std::size_t a = 0; a < p_.actions.size(); ++a) {
      const Action& action = p_.actions[a];
      for (std::size_t r = 0; r < states_.size(); ++r) {
        State& state = states_[r];
        if (is_on_rank(action, r)) {
          state.cpu_ns += ns(host_ns(action, state, r));
          if (a == state.pause_at)
            state.cpu_ns += ns(o_.inject.pause_ms * 1e6 * (0.9 + 0.2 * state.extra.uniform()));
          if (action.kind == ActionKind::kWaitComm)
            state.compute_after = std::max(
                state.compute_after, state.stream_free[static_cast<std::size_t>(action.index)]);
          else if (action.kind == ActionKind::kSync)
            for (const std::int64_t free : state.stream_free)
              state.cpu_ns = std::max(state.cpu_ns, free);
        } else if (action.only_rank == kNoRank) {
          host_ns(action, state, r); // for its random numbers
        }
        out.ranks[r].action_ns[s * p_.actions.size() + a] = state.cpu_ns;
      }
      if (action.kind != ActionKind::kReturn)
        continue;
      const Call& call = p_.calls[static_cast<std::size_t>(action.index)];
      if (call.kernel >= 0)
        launch(out, s, static_cast<std::size_t>(call.kernel));
      if (call.blocks && call.kernel >= 0)
        block(out, s, a, static_cast<std::size_t>(call.kernel));
    }
  }

  /// Draws the actions before which the hosts pause in this step: begins of operators. The ranks
  /// pause in different steps.
  void draw_pauses(std::size_t s) {
    for (std::size_t r = 0; r < states_.size(); ++r) {
      State& state = states_[r];
      state.pause_at = kNoAction;
      if (o_.inject.pause_ms <= 0 ||
          (s + r) % static_cast<std::size_t>(o_.inject.pause_period) != 0)
        continue;
      do {
        state.pause_at = static_cast<std::size_t>(state.extra.next() % p_.actions.size());
      } while (p_.actions[state.pause_at].kind != ActionKind::kBegin ||
               !is_on_rank(p_.actions[state.pause_at], r));
    }
  }

  /// Returns the time of a host action. Host times vary much more than kernel times.
  double host_ns(const Action& action, State& state, std::size_t rank) const {
    Random& random = action.injected ? state.extra : state.random;
    double scatter = 0.85 + 0.3 * random.uniform();
    if (random.next() % 997 == 0 && !action.injected)
      scatter += 20.0;
    if ((o_.inject.host_rank < 0 || std::cmp_equal(rank, o_.inject.host_rank)) && !action.injected)
      scatter *= o_.inject.host_factor;
    return static_cast<double>(action.cost_ns) * scatter;
  }

  /// Makes the call that ends with action `a` return after its kernel.
  void block(Run& out, std::size_t s, std::size_t a, std::size_t kernel) {
    constexpr std::int64_t kReturnNs = 1500;
    for (std::size_t r = 0; r < states_.size(); ++r)
      if (is_on_rank(p_.kernels[kernel], r)) {
        RankTimes& times = out.ranks[r];
        const std::int64_t end = times.kernel_end_ns[s * p_.kernels.size() + kernel] + kReturnNs;
        states_[r].cpu_ns = std::max(states_[r].cpu_ns, end);
        times.action_ns[s * p_.actions.size() + a] = states_[r].cpu_ns;
      }
  }

  [[nodiscard]] std::int64_t base_ns(std::size_t kernel, std::size_t rank) const {
    const bool other = static_cast<std::int64_t>(rank) == o_.inject.data_rank;
    return (other ? data_ : p_).kernels[kernel].base_ns;
  }

  [[nodiscard]] bool is_slow_op(const Kernel& kernel, std::size_t rank) const {
    return static_cast<std::int64_t>(rank) == o_.inject.op_rank && kernel.op >= 0 &&
           p_.ops[static_cast<std::size_t>(kernel.op)].name == "aten::addmm";
  }

  [[nodiscard]] bool is_slow_copy(const Kernel& kernel, std::size_t rank) const {
    return static_cast<std::int64_t>(rank) == o_.inject.copy_rank &&
           kernel.kind == KernelKind::kMemcpy && kernel.name.find("HtoD") != std::string::npos;
  }

  void launch(Run& out, std::size_t s, std::size_t k) {
    const Kernel& kernel = p_.kernels[k];
    const std::size_t at = s * p_.kernels.size() + k;
    const auto stream = static_cast<std::size_t>(kernel.stream);
    for (std::size_t r = 0; r < states_.size(); ++r) {
      State& state = states_[r];
      if (!is_on_rank(kernel, r)) {
        if (kernel.only_rank == kNoRank)
          state.random.normal();
        continue;
      }
      std::int64_t start =
          std::max(state.cpu_ns + kLaunchLatencyNs, state.stream_free[stream] + kStreamGapNs);
      if (stream == 0)
        start = std::max(start, state.compute_after + kLaunchLatencyNs);
      else // other streams wait for the work that is on the compute stream at the launch
        start = std::max({start, state.stream_free[0] + kLaunchLatencyNs,
                          state.compute_after + kLaunchLatencyNs});
      out.ranks[r].kernel_start_ns[at] = start;
      if (kernel.kind == KernelKind::kComm)
        continue;
      const bool computes = kernel.kind == KernelKind::kGemm || kernel.kind == KernelKind::kCompute;
      const double work =
          static_cast<double>(base_ns(k, r)) *
          (computes ? (state.speed + state.slow_share) * state.throttle : 1.0) *
          (computes ? step_factors_[s][r] : 1.0) * speed_.gpu_factor *
          (is_slow_op(kernel, r) ? o_.inject.op_factor : 1.0) *
          (is_slow_copy(kernel, r) ? o_.inject.copy_factor : 1.0) *
          (1.0 + o_.noise * (kernel.injected ? state.extra : state.random).normal());
      const std::int64_t end = kernel.kind == KernelKind::kGemm
                                   ? gemm_end(state, start, work)
                                   : start + std::max<std::int64_t>(1, ns(work));
      out.ranks[r].kernel_end_ns[at] = end;
      state.stream_free[stream] = end;
    }
    if (kernel.kind == KernelKind::kComm)
      join(out, s, k);
  }

  /// Returns the end of a GEMM of `work` ns. It advances at a rate of 1 / (1 + slowdown) while a
  /// collective runs.
  std::int64_t gemm_end(State& state, std::int64_t start, double work) const {
    const double slowdown = speed_.gemm_slowdown;
    double now = static_cast<double>(start);
    while (state.comm_low < state.comm.size() && state.comm[state.comm_low].end <= start)
      ++state.comm_low;
    for (std::size_t i = state.comm_low; i < state.comm.size() && work > 0; ++i) {
      const double from = static_cast<double>(state.comm[i].start);
      const double to = static_cast<double>(state.comm[i].end);
      if (to <= now)
        continue;
      if (from > now) {
        const double alone = std::min(work, from - now);
        now += alone;
        work -= alone;
      }
      if (work <= 0)
        break;
      const double overlapped = std::min(work * (1.0 + slowdown), to - now);
      now += overlapped;
      work -= overlapped / (1.0 + slowdown);
    }
    return std::max(start + 1, ns(now + std::max(0.0, work)));
  }

  /// Returns the factor of the slowest link of a group, because a ring passes all of its links.
  [[nodiscard]] double link_factor(const Group& group) const {
    double out = 1;
    const auto has = [&](std::int64_t r) {
      return std::find(group.ranks.begin(), group.ranks.end(), r) != group.ranks.end();
    };
    for (const SlowLink& link : o_.slow_links)
      if (has(link.a) && has(link.b))
        out = std::max(out, link.factor);
    return out;
  }

  /// Returns the delay of the single long transfer of the run, in the forward pass of its middle
  /// step.
  [[nodiscard]] double glitch_ns(std::size_t s, const Kernel& kernel) const {
    const bool here = s == static_cast<std::size_t>(o_.steps / 2) &&
                      static_cast<std::size_t>(kernel.collective) == p_.collectives.size() / 4;
    return here ? o_.inject.glitch_ms * 1e6 : 0;
  }

  /// Ends a collective on all ranks of its group at the same time: one transfer time after the last
  /// rank has started.
  void join(Run& out, std::size_t s, std::size_t k) {
    const Kernel& kernel = p_.kernels[k];
    const Collective& c = p_.collectives[static_cast<std::size_t>(kernel.collective)];
    const std::size_t at = s * p_.kernels.size() + k;
    std::vector<bool> done(states_.size(), false);
    for (std::size_t r = 0; r < states_.size(); ++r) {
      if (done[r])
        continue;
      const Group& group = g_.groups[static_cast<std::size_t>(g_.group_of[c.group_kind][r])];
      const auto n = static_cast<std::int64_t>(group.ranks.size());
      std::int64_t last = 0;
      bool crosses = false;
      double most_data = 1;
      for (const std::int64_t m : group.ranks) {
        most_data = std::max(most_data, data_factor(c, m));
        last = std::max(last, out.ranks[static_cast<std::size_t>(m)].kernel_start_ns[at]);
        crosses |= m / o_.gpus_per_node != group.ranks[0] / o_.gpus_per_node;
      }
      const double factor = bus_bandwidth_factor(collective_kind(c.name), n);
      const double bw = speed_.bus_bandwidth * (crosses ? 0.35 : 1.0);
      // latency of a ring: a fixed part and 2 us per hop
      Random& random = kernel.injected ? states_[r].extra : states_[r].random;
      const double transfer = (9000.0 + 2000.0 * static_cast<double>(n) +
                               static_cast<double>(c.full_bytes) * most_data * factor / bw) *
                                  speed_.gpu_factor * link_factor(group) *
                                  (1.0 + o_.noise * random.normal()) +
                              glitch_ns(s, kernel);
      if (r == 0)
        out.transfer_ns[s * p_.collectives.size() + static_cast<std::size_t>(kernel.collective)] =
            transfer;
      for (const std::int64_t m : group.ranks) {
        State& state = states_[static_cast<std::size_t>(m)];
        Random& member = kernel.injected ? state.extra : state.random;
        const std::int64_t end = last + ns(transfer) + ns(member.uniform() * 3000.0);
        RankTimes& t = out.ranks[static_cast<std::size_t>(m)];
        t.kernel_end_ns[at] = end;
        state.stream_free[static_cast<std::size_t>(kernel.stream)] = end;
        state.comm.push_back({t.kernel_start_ns[at], end});
        done[static_cast<std::size_t>(m)] = true;
      }
    }
  }

  const Options& o_;
  const Program& p_;
  const Program& data_; ///< program of the rank with other data
  const Groups& g_;
  const Config config_;
  const Speed speed_;
  const std::vector<std::vector<double>> step_factors_; ///< indexed by [step][rank]
  std::vector<State> states_;
};

} // namespace

double model_bus_bandwidth(const Config& config, bool nvidia) {
  // The bandwidth saturates with the number of channels. Wider blocks move a little more per
  // channel.
  const double c = static_cast<double>(config.channels);
  const double peak = nvidia ? 420.0 : 360.0;
  return peak * c / (c + 22.0) * (1.0 + 0.06 * (static_cast<double>(config.threads) / 256.0 - 1.0));
}

double model_slowdown(const Config& config, bool nvidia) {
  // A channel occupies one compute unit and uses memory bandwidth that other units need.
  const double units = nvidia ? 132.0 : 304.0;
  const double occupied = std::min(0.8, static_cast<double>(config.channels) / units);
  return 1.4 * occupied / (1.0 - occupied) *
         (1.0 + 0.15 * (static_cast<double>(config.threads) / 256.0 - 1.0));
}

std::string label_of(const Options& options, const Config& config) {
  return options.cu_layout ? fmt::format("{}cu_{}threads", config.channels, config.threads)
                           : fmt::format("{}thread_{}ch", config.threads, config.channels);
}

Speed speed_of(const Options& options, const Config& config) {
  const Config like =
      options.equal_configs ? Config{options.threads.front(), options.channels.front()} : config;
  Speed out{model_bus_bandwidth(like, options.nvidia),
            model_slowdown(like, options.nvidia) * options.contention, 1};
  for (const SlowConfig& slow : options.slow_configs)
    if (slow.label == label_of(options, config))
      out.gpu_factor *= slow.factor;
  return out;
}

Run simulate(const Options& options, const Program& program, const Groups& groups,
             const Config& config, const Program* data) {
  return Simulator(options, program, groups, config, data).run();
}

} // namespace rankscope::synth
