#include "synth/synth_truth.h"

#include "model/bus_bandwidth.h"
#include "synth/synth_noise.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>

namespace rankscope::synth {
namespace {

/// Returns the length of the union of intervals.
std::int64_t union_ns(std::vector<Interval> v) {
  std::ranges::sort(v, [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::int64_t total = 0;
  std::int64_t reach = INT64_MIN;
  for (const Interval& i : v) {
    const std::int64_t from = std::max(i.start, reach);
    if (i.end > from) {
      total += i.end - from;
      reach = i.end;
    }
  }
  return total;
}

std::vector<Interval> joined(std::vector<Interval> a, const std::vector<Interval>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Instance {
  std::size_t step = 0;
  std::size_t kernel = 0;
  std::int64_t start = 0; ///< start in true time
  std::int64_t dur = -1;
};

class ConfigTruth {
public:
  ConfigTruth(const Options& o, const Program& p, const Groups& g, const Run& run)
      : o_(o), p_(p), g_(g), run_(run) {}

  Window window(std::int64_t r) const { return window_of(o_, r); }
  std::int64_t start(std::int64_t r, std::size_t s, std::size_t k) const {
    return run_.ranks[static_cast<std::size_t>(r)].kernel_start_ns[s * p_.kernels.size() + k];
  }
  std::int64_t end(std::int64_t r, std::size_t s, std::size_t k) const {
    return run_.ranks[static_cast<std::size_t>(r)].kernel_end_ns[s * p_.kernels.size() + k];
  }

  /// Returns the JSON of an instance with the collectives that overlap it on the same rank and
  /// step.
  std::string instance(std::int64_t r, const Instance& i) const {
    std::string overlaps;
    std::vector<Interval> cut;
    for (std::size_t k = 0; k < p_.kernels.size(); ++k) {
      if (p_.kernels[k].kind != KernelKind::kComm)
        continue;
      const Interval part{std::max(i.start, start(r, i.step, k)),
                          std::min(i.start + i.dur, end(r, i.step, k))};
      if (part.end <= part.start)
        continue;
      cut.push_back(part);
      const Collective& c = p_.collectives[static_cast<std::size_t>(p_.kernels[k].collective)];
      overlaps +=
          fmt::format("{}{{\"name\": \"{}\", \"pg\": \"{}\", \"seq\": {}, \"overlap_ns\": {}}}",
                      overlaps.empty() ? "" : ", ", c.name, group(c, r).name, number(c, i.step),
                      part.end - part.start);
    }
    return fmt::format("{{\"rank\": {}, \"step\": {}, \"ts_ns\": {}, \"dur_ns\": {}, "
                       "\"overlap_ns\": {}, \"overlapping_collectives\": [{}]}}",
                       r, first_step_number(o_) + static_cast<std::int64_t>(i.step),
                       file_ns(run_, r, i.start), i.dur, union_ns(std::move(cut)), overlaps);
  }

  const Group& group(const Collective& c, std::int64_t r) const {
    return g_
        .groups[static_cast<std::size_t>(g_.group_of[c.group_kind][static_cast<std::size_t>(r)])];
  }
  std::int64_t number(const Collective& c, std::size_t s) const {
    return static_cast<std::int64_t>(s) * p_.collectives_per_kind[c.group_kind] + c.seq + 1;
  }

private:
  const Options& o_;
  const Program& p_;
  const Groups& g_;
  const Run& run_;
};

std::string named(const Program& p, std::size_t kernel) {
  const Kernel& k = p.kernels[kernel];
  return fmt::format("\"kernel\": \"{}\", \"op\": \"{}\", \"input_dims\": \"{}\"", k.name,
                     p.ops[static_cast<std::size_t>(k.op)].name, k.gemm_dims);
}

/// The sums over the written ranks of a configuration.
struct Totals {
  double total_ns = 0, exposed_ns = 0;
  int ranks = 0;
};

/// Writes the members of one configuration.
class ConfigWriter {
public:
  ConfigWriter(const Options& o, const Program& p, const Groups& g, const Run& run,
               const std::vector<RankOutput>& outputs, TextSink& sink)
      : o_(o), p_(p), run_(run), outputs_(outputs), truth_(o, p, g, run), sink_(sink),
        late_(static_cast<std::size_t>(o.ranks)) {}

  /// Writes the list "ranks" with the timeline of each rank.
  Totals ranks() {
    Totals out;
    for (std::int64_t r = 0; r < o_.ranks; ++r)
      if (written(r))
        rank(r, out);
    return out;
  }

  /// Writes the list "gemms" and the slowest call of all. The list has one row per rank, operator,
  /// shape and kernel, with the fastest and the slowest call.
  void gemms() {
    sink_.text(" \"gemms\": [");
    Slowest slowest;
    std::size_t rows = 0;
    for (std::int64_t r = 0; r < o_.ranks; ++r)
      if (written(r))
        gemms_of(r, rows, slowest);
    sink_.text("],\n");
    if (slowest.rank >= 0)
      sink_.text(fmt::format(" \"slowest_gemm\": {{{}, \"instance\": {}}},\n",
                             named(p_, slowest.call.kernel),
                             truth_.instance(slowest.rank, slowest.call)));
  }

  /// Writes the list "collectives", on the true clock, over the ranks whose files contain them.
  void collectives() {
    sink_.text(" \"collectives\": [");
    std::size_t listed = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(o_.steps); ++s)
      for (std::size_t k = 0; k < p_.kernels.size(); ++k)
        if (p_.kernels[k].kind == KernelKind::kComm)
          for (std::int64_t r = 0; r < o_.ranks; ++r)
            if (truth_.group(collective_of(k), r).ranks[0] == r) // write each group only once
              collective(s, k, r, listed);
  }

  /// Returns the list "lateness"; call it after collectives().
  [[nodiscard]] std::string lateness() const {
    std::string out;
    for (std::size_t r = 0; r < late_.size(); ++r)
      if (late_[r].seen > 0)
        out += fmt::format("{}{{\"rank\": {}, \"mean_lateness_ns\": {:.1f}, \"times_last\": {}, "
                           "\"collectives\": {}}}",
                           out.empty() ? "" : ", ", r,
                           late_[r].ns / static_cast<double>(late_[r].seen), late_[r].last,
                           late_[r].seen);
    return out;
  }

private:
  struct Slowest {
    Instance call;
    std::int64_t rank = -1;
  };
  struct Extremes {
    Instance min, max;
    std::int64_t count = 0;
    std::int64_t sum = 0;
  };
  struct Late {
    double ns = 0;
    std::int64_t last = 0, seen = 0;
  };

  [[nodiscard]] bool written(std::int64_t r) const {
    return outputs_[static_cast<std::size_t>(r)].written;
  }
  [[nodiscard]] const Collective& collective_of(std::size_t kernel) const {
    return p_.collectives[static_cast<std::size_t>(p_.kernels[kernel].collective)];
  }

  void rank(std::int64_t r, Totals& totals) {
    const RankOutput& output = outputs_[static_cast<std::size_t>(r)];
    std::vector<Interval> compute;
    std::vector<Interval> comm;
    std::vector<Interval> copy;
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
    const Window w = truth_.window(r);
    for (auto s = static_cast<std::size_t>(w.first); s < static_cast<std::size_t>(w.last); ++s)
      for (std::size_t k = 0; k < p_.kernels.size(); ++k) {
        if (!is_on_rank(p_.kernels[k], static_cast<std::size_t>(r)))
          continue;
        const Interval i{truth_.start(r, s, k), truth_.end(r, s, k)};
        first = std::min(first, i.start);
        last = std::max(last, i.end);
        switch (p_.kernels[k].kind) {
        case KernelKind::kComm:
          comm.push_back(i);
          break;
        case KernelKind::kMemcpy:
          copy.push_back(i);
          break;
        case KernelKind::kGemm:
        case KernelKind::kCompute:
        case KernelKind::kMemset:
          compute.push_back(i);
          break; // memset counts as computation
        }
      }
    const std::int64_t busy = union_ns(joined(joined(compute, comm), copy));
    const std::int64_t exposed = union_ns(joined(compute, comm)) - union_ns(compute);
    const std::int64_t exposed_copy = busy - union_ns(joined(compute, comm));
    totals.total_ns += static_cast<double>(last - first);
    totals.exposed_ns += static_cast<double>(exposed);
    std::string categories;
    for (const auto& [name, count] : output.emitted.by_category)
      categories += fmt::format("{}\"{}\": {}", categories.empty() ? "" : ", ", name, count);
    sink_.text(fmt::format(
        "{}\n  {{\"rank\": {}, \"file\": \"{}\", \"bytes\": {}, \"events\": {}, "
        "\"events_by_category\": {{{}}}, \"clock_offset_ns\": {}, \"base_time_ns\": {}, "
        "\"first_step\": {}, \"steps\": {}, \"first_gpu_ts_ns\": {}, \"total_time_ns\": {}, "
        "\"computation_ns\": {}, \"communication_ns\": {}, \"exposed_comm_ns\": {}, \"memcpy_ns\": "
        "{}, \"exposed_memcpy_ns\": {}, \"busy_ns\": {}, \"idle_ns\": {}}}",
        totals.ranks++ == 0 ? "" : ",", r, output.file, output.emitted.bytes, output.emitted.events,
        categories, run_.clock_offset_ns[static_cast<std::size_t>(r)],
        run_.base_time_ns[static_cast<std::size_t>(r)], first_step_number(o_) + w.first,
        w.last - w.first, file_ns(run_, r, first), last - first, union_ns(compute), union_ns(comm),
        exposed, union_ns(copy), exposed_copy, busy, last - first - busy));
  }

  void gemms_of(std::int64_t r, std::size_t& rows, Slowest& slowest) {
    std::map<std::tuple<std::string, std::string, std::string>, Extremes> table;
    const Window w = truth_.window(r);
    for (auto s = static_cast<std::size_t>(w.first); s < static_cast<std::size_t>(w.last); ++s)
      for (std::size_t k = 0; k < p_.kernels.size(); ++k) {
        const Kernel& kernel = p_.kernels[k];
        if (kernel.kind != KernelKind::kGemm || !is_on_rank(kernel, static_cast<std::size_t>(r)))
          continue;
        const std::int64_t from = truth_.start(r, s, k);
        const Instance i{s, k, from, truth_.end(r, s, k) - from};
        Extremes& e = table[{p_.ops[static_cast<std::size_t>(kernel.op)].name, kernel.gemm_dims,
                             kernel.name}];
        if (e.count++ == 0 || i.dur < e.min.dur)
          e.min = i;
        if (i.dur > e.max.dur)
          e.max = i;
        e.sum += i.dur;
        if (i.dur > slowest.call.dur)
          slowest = {i, r};
      }
    for (const auto& [key, e] : table)
      sink_.text(fmt::format("{}\n  {{\"rank\": {}, {}, \"count\": {}, \"sum_ns\": {}, "
                             "\"range_ns\": {},\n   \"min\": {},\n   \"max\": {}}}",
                             rows++ == 0 ? "" : ",", r, named(p_, e.max.kernel), e.count, e.sum,
                             e.max.dur - e.min.dur, truth_.instance(r, e.min),
                             truth_.instance(r, e.max)));
  }

  void collective(std::size_t s, std::size_t k, std::int64_t first, std::size_t& listed) {
    const Collective& c = collective_of(k);
    const Group& group = truth_.group(c, first);
    std::vector<std::int64_t> ranks;
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> ends;
    for (const std::int64_t r : group.ranks) {
      const Window w = truth_.window(r);
      if (!outputs_[static_cast<std::size_t>(r)].written ||
          static_cast<std::int64_t>(s) < w.first || static_cast<std::int64_t>(s) >= w.last)
        continue;
      ranks.push_back(r);
      starts.push_back(truth_.start(r, s, k));
      ends.push_back(truth_.end(r, s, k));
    }
    if (ranks.empty())
      return;
    const std::int64_t last_start = *std::max_element(starts.begin(), starts.end());
    const std::int64_t first_end = *std::min_element(ends.begin(), ends.end());
    std::vector<std::int64_t> sorted = starts;
    std::sort(sorted.begin(), sorted.end());
    const double median = (static_cast<double>(sorted[(sorted.size() - 1) / 2]) +
                           static_cast<double>(sorted[sorted.size() / 2])) /
                          2;
    if (ranks.size() > 1)
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto r = static_cast<std::size_t>(ranks[i]);
        late_[r].ns += static_cast<double>(starts[i]) - median;
        late_[r].last += starts[i] == last_start ? 1 : 0;
        ++late_[r].seen;
      }
    const double algbw =
        static_cast<double>(c.full_bytes) / static_cast<double>(first_end - last_start);
    const double factor = bus_bandwidth_factor(collective_kind(c.name),
                                               static_cast<std::int64_t>(group.ranks.size()));
    sink_.text(fmt::format(
        "{}\n  {{\"name\": \"{}\", \"pg\": \"{}\", \"pg_desc\": \"{}\", \"seq\": {}, \"step\": "
        "{}, \"dtype\": \"{}\", \"in_nelems\": {}, \"out_nelems\": {}, \"bytes\": {}, "
        "\"ranks\": [{}], \"start_ns\": [{}], \"end_ns\": [{}], \"start_skew_ns\": {}, "
        "\"end_skew_ns\": {}, \"last_rank\": {}, \"algbw_gbps\": {:.4f}, \"busbw_gbps\": "
        "{:.4f}}}",
        listed++ == 0 ? "" : ",", c.name, group.name, group.description, truth_.number(c, s),
        first_step_number(o_) + static_cast<std::int64_t>(s), c.dtype, c.in_nelems, c.out_nelems,
        c.full_bytes, fmt::join(ranks, ", "), fmt::join(starts, ", "), fmt::join(ends, ", "),
        last_start - sorted[0], *std::ranges::max_element(ends) - first_end,
        ranks[static_cast<std::size_t>(std::ranges::max_element(starts) - starts.begin())], algbw,
        algbw * factor));
  }

  const Options& o_;
  const Program& p_;
  const Run& run_;
  const std::vector<RankOutput>& outputs_;
  const ConfigTruth truth_;
  TextSink& sink_;
  std::vector<Late> late_;
};

/// Returns the member "injected" of "options"; empty without causes.
std::string injected(const Injected& inject) {
  std::vector<std::string> causes;
  if (inject.overlap_rank >= 0)
    causes.push_back(
        fmt::format("{{\"cause\": \"{}\", \"rank\": {}}}", "beside", inject.overlap_rank));
  if (inject.more_rank >= 0)
    causes.push_back(fmt::format("{{\"cause\": \"more\", \"rank\": {}}}", inject.more_rank));
  if (inject.data_rank >= 0)
    causes.push_back(fmt::format("{{\"cause\": \"data\", \"rank\": {}, \"factor\": {}}}",
                                 inject.data_rank, inject.data_factor));
  if (inject.first_layer != 1)
    causes.push_back(fmt::format("{{\"cause\": \"place\", \"factor\": {}}}", inject.first_layer));
  if (inject.batch)
    causes.emplace_back("{\"cause\": \"batch\"}");
  for (const InjectedWork& cause : inject.work)
    causes.push_back(fmt::format("{{\"cause\": \"{}\", \"{}\": {}, \"count\": {}, \"rank\": {}}}",
                                 added_work_name(cause.cause), is_in_mb(cause.cause) ? "mb" : "ms",
                                 cause.ms, cause.count, cause.rank));
  if (inject.host_factor != 1)
    causes.push_back(fmt::format("{{\"cause\": \"host\", \"rank\": {}, \"factor\": {}}}",
                                 inject.host_rank, inject.host_factor));
  if (inject.op_rank >= 0)
    causes.push_back(fmt::format("{{\"cause\": \"op\", \"rank\": {}, \"factor\": {}}}",
                                 inject.op_rank, inject.op_factor));
  if (inject.copy_rank >= 0)
    causes.push_back(fmt::format("{{\"cause\": \"copies\", \"rank\": {}, \"factor\": {}}}",
                                 inject.copy_rank, inject.copy_factor));
  if (inject.shape_factor != 1)
    causes.push_back(fmt::format("{{\"cause\": \"shape\", \"factor\": {}}}", inject.shape_factor));
  if (inject.pause_ms > 0)
    causes.push_back(fmt::format("{{\"cause\": \"pause\", \"ms\": {}, \"period\": {}}}",
                                 inject.pause_ms, inject.pause_period));
  if (inject.passes > 0)
    causes.push_back(
        fmt::format("{{\"cause\": \"accumulate\", \"passes\": {}, \"all\": {}, \"update\": {}}}",
                    inject.passes, inject.reduce_all ? 1 : 0, inject.update_all ? 1 : 0));
  if (inject.exchange_rank >= 0)
    causes.push_back(fmt::format("{{\"cause\": \"exchange\", \"rank\": {}, \"factor\": {}}}",
                                 inject.exchange_rank, inject.exchange_factor));
  if (inject.launch_blocking)
    causes.emplace_back("{\"cause\": \"launch-blocking\"}");
  if (inject.profiler_start_ms > 0)
    causes.push_back(
        fmt::format("{{\"cause\": \"profiler-start\", \"ms\": {}}}", inject.profiler_start_ms));
  if (inject.glitch_ms > 0)
    causes.push_back(fmt::format("{{\"cause\": \"glitch\", \"ms\": {}}}", inject.glitch_ms));
  if (inject.small_count > 0)
    causes.push_back(fmt::format("{{\"cause\": \"small-collectives\", \"count\": {}, \"kb\": {}}}",
                                 inject.small_count,
                                 static_cast<double>(inject.small_bytes) / 1e3));
  if (inject.optimizer_tensors > 0)
    causes.push_back(fmt::format("{{\"cause\": \"optimizer-loop\", \"tensors\": {}}}",
                                 inject.optimizer_tensors));
  for (const auto& [on, name] :
       {std::pair(inject.pointwise, "pointwise"), std::pair(inject.scores, "scores"),
        std::pair(inject.recompute, "recompute"),
        std::pair(inject.products == ProductFormat::kTf32, "tf32"),
        std::pair(inject.products == ProductFormat::kFp32, "fp32")})
    if (on)
      causes.push_back(fmt::format("{{\"cause\": \"{}\"}}", name));
  if (inject.vocabulary_factor > 0)
    causes.push_back(
        fmt::format("{{\"cause\": \"vocabulary\", \"factor\": {}}}", inject.vocabulary_factor));
  if (inject.convolutions > 0)
    causes.push_back(fmt::format("{{\"cause\": \"convolution\", \"count\": {}, \"nchw\": {}}}",
                                 inject.convolutions, inject.nchw ? 1 : 0));
  if (inject.tile)
    causes.emplace_back("{\"cause\": \"tile\"}");
  return causes.empty() ? std::string()
                        : fmt::format(", \"injected\": [{}]", fmt::join(causes, ", "));
}

/// Returns the members of "options" that describe differences from the plain model.
std::string switches(const Options& o) {
  std::string out;
  if (o.contention != 1)
    out += fmt::format(", \"contention\": {}", o.contention);
  if (o.equal_configs)
    out += ", \"equal_configs\": true";
  if (o.equal_devices)
    out += ", \"equal_devices\": true";
  if (o.throttled >= 0)
    out += fmt::format(
        ", \"throttled\": {{\"rank\": {}, {}\"factor\": {}}}", o.throttled,
        o.throttled_last > o.throttled ? fmt::format("\"last_rank\": {}, ", o.throttled_last) : "",
        o.throttle_factor);
  if (o.step_noise != StepNoise::kNone)
    out += fmt::format(", \"step_noise\": \"{}\", \"step_sd\": {}", step_noise_name(o.step_noise),
                       o.step_sd);
  if (o.step_balanced)
    out += ", \"step_balanced\": true";
  out += injected(o.inject);
  std::string list;
  for (const auto& [first, last] : o.only_ranks)
    list += fmt::format("{}[{}, {}]", list.empty() ? "" : ", ", first, last);
  if (!list.empty())
    out += fmt::format(", \"only_ranks\": [{}]", list);
  list.clear();
  for (const SlowConfig& slow : o.slow_configs)
    list += fmt::format("{}{{\"label\": \"{}\", \"factor\": {}}}", list.empty() ? "" : ", ",
                        slow.label, slow.factor);
  if (!list.empty())
    out += fmt::format(", \"slow_configs\": [{}]", list);
  list.clear();
  for (const SlowLink& link : o.slow_links)
    list += fmt::format("{}{{\"ranks\": [{}, {}], \"factor\": {}}}", list.empty() ? "" : ", ",
                        link.a, link.b, link.factor);
  if (!list.empty())
    out += fmt::format(", \"slow_links\": [{}]", list);
  return out;
}

} // namespace

Result<Truth> Truth::create(const std::string& path, const Options& o) {
  RS_TRY(TextSink sink, TextSink::create(path, false));
  sink.text(fmt::format(
      "{{\n\"schema\": 1,\n\"options\": {{\"threads\": [{}], \"channels\": [{}], \"ranks\": {}, "
      "\"layers\": {}, \"steps\": {}, \"seed\": {}, \"vendor\": \"{}\", \"layout\": \"{}\", "
      "\"python_events\": {}, \"gpus_per_node\": {}, \"process_groups\": {}, \"gemm_scale\": {}, "
      "\"noise\": {}, \"straggler_us\": {}, \"missing_ranks\": [{}]{}}},\n\"configs\": [",
      fmt::join(o.threads, ", "), fmt::join(o.channels, ", "), o.ranks, o.layers, o.steps, o.seed,
      o.nvidia ? "nvidia" : "amd", o.cu_layout ? "cu" : "thread", o.python_events, o.gpus_per_node,
      o.process_groups, o.gemm_scale, o.noise, o.straggler_us, fmt::join(o.missing_ranks, ", "),
      switches(o)));
  return Truth(std::move(sink), o);
}

void Truth::add(const Program& p, const Groups& groups, const Run& run, const std::string& folder,
                const std::vector<RankOutput>& outputs) {
  const Options& o = options_;
  const std::string label = label_of(o, run.config);
  const Speed speed = speed_of(o, run.config);
  sink_.text(fmt::format("{}\n{{\"label\": \"{}\", \"folder\": \"{}\", \"threads\": {}, "
                         "\"{}\": {}, \"model_bus_bandwidth_gbps\": {}, \"model_gemm_slowdown\": "
                         "{},{}\n \"ranks\": [",
                         configs_++ == 0 ? "" : ",", label, folder, run.config.threads,
                         o.cu_layout ? "cus" : "channels", run.config.channels, speed.bus_bandwidth,
                         speed.gemm_slowdown,
                         speed.gpu_factor == 1
                             ? std::string()
                             : fmt::format(" \"gpu_factor\": {},", speed.gpu_factor)));
  ConfigWriter writer(o, p, groups, run, outputs, sink_);
  const Totals totals = writer.ranks();
  sink_.text("],\n");
  writer.gemms();
  writer.collectives();
  sink_.text(fmt::format("],\n \"lateness\": [{}],\n \"straggler\": {{\"rank\": {}, "
                         "\"injected_us_per_step\": {}}}\n}}",
                         writer.lateness(), run.straggler,
                         run.straggler >= 0 ? o.straggler_us : 0.0));
  if (totals.ranks > 0) {
    const double total = totals.total_ns / totals.ranks;
    const double exposed = totals.exposed_ns / totals.ranks;
    if (best_total_.label.empty() || total < best_total_.value_ns)
      best_total_ = {label, total};
    if (best_exposed_.label.empty() || exposed < best_exposed_.value_ns)
      best_exposed_ = {label, exposed};
  }
}

Result<void> Truth::commit() {
  sink_.text(fmt::format(
      "],\n\"best_by_total_time\": {{\"label\": \"{}\", \"mean_total_time_ns\": {:.1f}}},\n"
      "\"best_by_exposed_comm\": {{\"label\": \"{}\", \"mean_exposed_comm_ns\": {:.1f}}}\n}}\n",
      best_total_.label, best_total_.value_ns, best_exposed_.label, best_exposed_.value_ns));
  return sink_.commit();
}

} // namespace rankscope::synth
