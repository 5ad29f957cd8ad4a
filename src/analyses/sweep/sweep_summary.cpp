#include "analyses/sweep/sweep_summary.h"

#include "analyses/group_stats.h"
#include "base/units.h"
#include "model/kernels.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr std::array<const char*, 8> kRows = {
    "computation_time", "exposed_comm_time", "exposed_memcpy_time", "busy_time",
    "idle_time",        "total_time",        "total_comm_time",     "total_memcpy_time"};

double value_of(const RankRecord& r, const std::string& row) {
  const auto it = r.timeline_ms.find(row);
  return it == r.timeline_ms.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
}

/// Records by configuration, in order of first appearance; failed ranks left out.
std::vector<std::pair<std::string, std::vector<const RankRecord*>>>
by_config(const std::vector<RankRecord>& records) {
  std::vector<std::pair<std::string, std::vector<const RankRecord*>>> out;
  for (const RankRecord& r : records) {
    if (!r.error.empty())
      continue;
    const std::string& label = r.key.configuration.label;
    auto it = std::find_if(out.begin(), out.end(), [&](const auto& g) { return g.first == label; });
    if (it == out.end())
      it = out.insert(out.end(), {label, {}});
    it->second.push_back(&r);
  }
  return out;
}

const RankRecord* slowest(const std::vector<const RankRecord*>& ranks) {
  const RankRecord* worst = nullptr;
  // the rank with the most compute time makes the others wait in their collectives
  for (const RankRecord* r : ranks)
    if (worst == nullptr || value_of(*r, "computation_time") > value_of(*worst, "computation_time"))
      worst = r;
  return worst;
}

double mean_of(const std::vector<const RankRecord*>& ranks, const char* row) {
  std::vector<double> values;
  for (const RankRecord* r : ranks)
    values.push_back(value_of(*r, row));
  return stats_of(std::move(values)).mean;
}

} // namespace

RankRecord make_record(const LoadedTrace& t, const Report& report) {
  RankRecord out;
  out.key.rank = t.rank;
  if (const Table* timeline = report.find("gpu_timeline"))
    for (std::size_t r = 0; r < timeline->rows(); ++r)
      out.timeline_ms[std::string(timeline->at(r, 0).text)] = timeline->at(r, 1).number();
  const Events& e = t.trace.events;
  std::vector<signed char> gemm(t.trace.strings.size(), -1);
  std::unordered_map<StrId, RankRecord::Kernel> kernels;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kKernel)
      continue;
    signed char& known = gemm[e.name[i]];
    if (known < 0)
      known = is_gemm_kernel(t.trace.name(i)) ? 1 : 0;
    if (known == 0)
      continue;
    const double us = ns_to_us(e.dur_ns[i]);
    RankRecord::Kernel& k = kernels[e.name[i]];
    k.min_us = k.count == 0 ? us : std::min(k.min_us, us);
    k.max_us = std::max(k.max_us, us);
    k.sum_us += us;
    ++k.count;
  }
  for (const auto& [name, kernel] : kernels)
    out.gemm_kernels.emplace(t.trace.strings.view(name), kernel);
  return out;
}

std::vector<Table> summary_tables(const std::vector<RankRecord>& records, std::size_t top_k) {
  std::vector<Table> out;
  const auto groups = by_config(records);

  std::vector<Column> columns{{"configuration"}, {"ranks", Unit::kCount}};
  for (const char* row : kRows)
    columns.push_back({std::string("mean ") + row + " (ms)", Unit::kMs});
  columns.push_back({"exposed communication (% of total)", Unit::kPercent});
  columns.push_back({"slowest rank", Unit::kNone});
  columns.push_back({"slowest rank's computation_time (ms)", Unit::kMs});
  columns.push_back({"above the mean (%)", Unit::kPercent});
  Table configs("configurations", columns);
  for (const auto& [label, ranks] : groups) {
    std::vector<Value> row{Value(label), Value(ranks.size())};
    for (const char* name : kRows)
      row.emplace_back(mean_of(ranks, name));
    row.emplace_back(mean_of(ranks, "exposed_comm_time") / mean_of(ranks, "total_time") * 100);
    const RankRecord* worst = slowest(ranks);
    const double compute = value_of(*worst, "computation_time");
    row.emplace_back(worst->key.rank);
    row.emplace_back(compute);
    row.emplace_back((compute / mean_of(ranks, "computation_time") - 1) * 100);
    configs.add_row(row);
  }
  std::vector<std::size_t> order(configs.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t total = *configs.column("mean total_time (ms)");
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return configs.at(a, total).number() < configs.at(b, total).number();
  });
  configs.reorder(order);
  configs.notes = {"means are over ranks; shortest mean total_time first",
                   "the slowest rank has the most computation_time"};
  out.push_back(std::move(configs));

  columns = {{"configuration"}, {"threads"}, {"channels"}, {"CUs"}, {"rank"}};
  for (const char* row : kRows)
    columns.push_back({std::string(row) + " (ms)", Unit::kMs});
  Table ranks("ranks", columns);
  for (const RankRecord& r : records) {
    if (!r.error.empty())
      continue;
    const Configuration& c = r.key.configuration;
    std::vector<Value> row{Value(c.label), Value(c.threads()), Value(c.channels()), Value(c.cus()),
                           Value(r.key.rank)};
    for (const char* name : kRows)
      row.emplace_back(value_of(r, name));
    ranks.add_row(row);
  }
  out.push_back(std::move(ranks));

  Table gemms("gemm_kernels", {{"configuration"},
                               {"kernel"},
                               {"ranks", Unit::kCount},
                               {"count", Unit::kCount},
                               {"sum (\u00b5s)", Unit::kUs},
                               {"mean (\u00b5s)", Unit::kUs},
                               {"min (\u00b5s)", Unit::kUs},
                               {"max (\u00b5s)", Unit::kUs},
                               {"max / min", Unit::kRatio}});
  for (const auto& [label, members] : groups) {
    struct Sum {
      RankRecord::Kernel k;
      std::int64_t ranks = 0;
    };
    std::map<std::string, Sum> sums;
    for (const RankRecord* r : members)
      for (const auto& [name, k] : r->gemm_kernels) {
        Sum& s = sums[name];
        s.k.min_us = s.ranks == 0 ? k.min_us : std::min(s.k.min_us, k.min_us);
        s.k.max_us = std::max(s.k.max_us, k.max_us);
        s.k.sum_us += k.sum_us;
        s.k.count += k.count;
        ++s.ranks;
      }
    std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.k.sum_us > b.second.k.sum_us;
    });
    if (top_k > 0 && sorted.size() > top_k)
      sorted.resize(top_k);
    for (const auto& [name, s] : sorted)
      gemms.add_row(
          {label, name, s.ranks, s.k.count, s.k.sum_us, s.k.sum_us / static_cast<double>(s.k.count),
           s.k.min_us, s.k.max_us,
           s.k.min_us > 0 ? s.k.max_us / s.k.min_us : std::numeric_limits<double>::quiet_NaN()});
  }
  out.push_back(std::move(gemms));

  Table failed("failed_ranks", {{"configuration"}, {"rank"}, {"why"}});
  for (const RankRecord& r : records)
    if (!r.error.empty())
      failed.add_row({r.key.configuration.label, r.key.rank, r.error});
  if (failed.rows() > 0)
    out.push_back(std::move(failed));
  return out;
}

std::vector<Table> timeline_all_configs(const std::vector<RankRecord>& records,
                                        const std::string& aggregation) {
  const bool geometric = aggregation == "geomean";
  Table all("All_Data", {{"full_config"},
                         {"threads_num"},
                         {"thread_config"},
                         {"channels_num"},
                         {"channel_config"},
                         {"num_ranks", Unit::kCount},
                         {"type"},
                         {"time ms", Unit::kMs},
                         {"percent", Unit::kPercent},
                         {"min ms", Unit::kMs},
                         {"max ms", Unit::kMs},
                         {"std ms", Unit::kMs},
                         {"slowest_rank"}});
  auto groups = by_config(records);
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    const auto key = [](const RankRecord& r) {
      const Configuration& c = r.key.configuration;
      return std::tuple(c.threads().value_or(0), c.channels_or_cus().value_or(0));
    };
    return key(*a.second.front()) < key(*b.second.front());
  });
  std::vector<std::string> types(kRows.begin(), kRows.end());
  std::sort(types.begin(), types.end());
  std::vector<Column> pivot{{"type"}};
  for (const auto& group : groups)
    pivot.push_back({group.first});
  Table times("Pivot_Time_ms", pivot);
  Table percents("Pivot_Percent", pivot);
  for (std::size_t c = 1; c < pivot.size(); ++c) {
    times.columns()[c].unit = Unit::kMs;
    percents.columns()[c].unit = Unit::kPercent;
  }
  Table summary("Summary_By_Config", {{"full_config"},
                                      {"threads_num"},
                                      {"channels_num"},
                                      {"num_ranks", Unit::kCount},
                                      {"computation_time_ms", Unit::kMs},
                                      {"exposed_comm_time_ms", Unit::kMs},
                                      {"busy_time_ms", Unit::kMs},
                                      {"idle_time_ms", Unit::kMs},
                                      {"total_time_ms", Unit::kMs}});
  const auto aggregate = [&](std::vector<double> values) {
    if (!geometric)
      return stats_of(std::move(values)).mean;
    std::vector<double> logs;
    for (const double v : values)
      if (v > 0)
        logs.push_back(std::log(v));
    return logs.empty() ? 0.0 : std::exp(stats_of(std::move(logs)).mean);
  };
  std::map<std::string, std::map<std::string, std::pair<double, double>>> by_type;
  for (const auto& group : groups) {
    const std::vector<const RankRecord*>& ranks = group.second; // clang 14 captures no bindings
    const Configuration& first = ranks.front()->key.configuration;
    const auto channels = first.channels_or_cus();
    const std::string thread_config =
        first.threads() ? fmt::format("{}thread", *first.threads()) : std::string();
    const std::string channel_config = first.channels() ? fmt::format("{}ch", *first.channels())
                                       : first.cus()    ? fmt::format("{}cu", *first.cus())
                                                        : std::string();
    std::map<std::string, double> mean;
    for (const std::string& type : types) {
      std::vector<double> ms;
      std::vector<double> percent;
      std::int64_t slowest_rank = ranks.front()->key.rank;
      double high = -1;
      for (const RankRecord* r : ranks) {
        ms.push_back(value_of(*r, type));
        percent.push_back(value_of(*r, type) / value_of(*r, "total_time") * 100);
        if (ms.back() > high) {
          high = ms.back();
          slowest_rank = r->key.rank;
        }
      }
      const Stats spread = stats_of(ms);
      mean[type] = aggregate(ms);
      const double share = aggregate(percent);
      by_type[type][group.first] = {mean[type], share};
      all.add_row({group.first, first.threads(),
                   thread_config.empty() ? Value() : Value(thread_config), channels,
                   channel_config.empty() ? Value() : Value(channel_config), ranks.size(), type,
                   mean[type], share, spread.min, spread.max, spread.std_sample, slowest_rank});
    }
    summary.add_row({group.first, first.threads(), channels, ranks.size(), mean["computation_time"],
                     mean["exposed_comm_time"], mean["busy_time"], mean["idle_time"],
                     mean["total_time"]});
  }
  for (const std::string& type : types) {
    std::vector<Value> time_row{Value(type)};
    std::vector<Value> percent_row{Value(type)};
    for (const auto& group : groups) {
      time_row.emplace_back(by_type[type][group.first].first);
      percent_row.emplace_back(by_type[type][group.first].second);
    }
    times.add_row(time_row);
    percents.add_row(percent_row);
  }
  std::vector<Table> out;
  out.push_back(std::move(all));
  out.push_back(std::move(times));
  out.push_back(std::move(percents));
  out.push_back(std::move(summary));
  return out;
}

Table nccl_master(const std::vector<ConfigCollectives>& configs) {
  std::vector<Column> columns{{"operation_id"},
                              {"operation_name"},
                              {"Full msg size (MB)", Unit::kMiB},
                              {"In msg nelems", Unit::kCount},
                              {"threads_num"},
                              {"thread_config"},
                              {"channels_num"},
                              {"channel_config"},
                              {"full_config"},
                              {"Collective name"},
                              {"dtype"},
                              {"Group size"},
                              {"count", Unit::kCount}};
  const auto metric = [&](const std::string& name, Unit unit) {
    for (const char* agg : {"mean", "median", "min", "max"})
      columns.push_back({name + "_" + agg, unit});
  };
  metric("comm_latency", Unit::kUs);
  columns.push_back({"Total comm latency (ms)", Unit::kMs});
  metric("algo bw (GB/s)", Unit::kGBps);
  metric("bus bw (GB/s)", Unit::kGBps);
  metric("skew in start time", Unit::kUs);
  metric("skew in end time", Unit::kUs);
  columns.push_back({"Process Group Name"});
  columns.push_back({"source_file"});
  Table out("nccl_master_all_configs", columns);
  struct Row {
    const ConfigCollectives* config;
    std::size_t row;
    double size;
    std::string what; ///< collective and data type
  };
  std::vector<Row> rows;
  std::set<std::pair<double, std::string>> operations;
  for (const ConfigCollectives& c : configs)
    for (std::size_t r = 0; r < c.summary.rows(); ++r) {
      const double size = c.summary.at(r, "Full msg size (MB)").number();
      Row row{&c, r, std::isnan(size) ? -1 : size,
              fmt::format("{} {}", c.summary.at(r, "Collective name").text,
                          c.summary.at(r, "dtype").text)};
      operations.emplace(row.size, row.what);
      rows.push_back(std::move(row));
    }
  const auto id_of = [&](const Row& row) {
    return static_cast<std::size_t>(
               std::distance(operations.begin(), operations.find({row.size, row.what}))) +
           1;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto key = [&](const Row& r) {
      return std::tuple(r.size, std::string_view(r.what),
                        r.config->configuration.threads().value_or(0),
                        r.config->configuration.channels().value_or(0));
    };
    return key(a) < key(b);
  });
  for (const Row& row : rows) {
    const ConfigCollectives& c = *row.config;
    const std::string id = fmt::format("OP_{:02}", id_of(row));
    const std::string name = row.size < 0      ? std::string("unknown")
                             : row.size < 0.01 ? fmt::format("tiny_{:.3f}KB", row.size * 1000)
                             : row.size < 100  ? fmt::format("medium_{:.2f}MB", row.size)
                                               : fmt::format("large_{:.2f}MB", row.size);
    const auto threads = c.configuration.threads();
    const auto channels = c.configuration.channels();
    const std::string thread_config = threads ? fmt::format("{}thread", *threads) : "";
    const std::string channel_config = channels ? fmt::format("{}ch", *channels) : "";
    std::vector<Value> values;
    for (const Column& column : columns) {
      const std::string& n = column.name;
      values.push_back(n == "operation_id"     ? Value(id)
                       : n == "operation_name" ? Value(name)
                       : n == "threads_num"    ? Value(threads)
                       : n == "thread_config"  ? Value(thread_config)
                       : n == "channels_num"   ? Value(channels)
                       : n == "channel_config" ? Value(channel_config)
                       : n == "full_config"    ? Value(c.configuration.label)
                       : n == "source_file"    ? Value(c.source_file)
                                               : c.summary.at(row.row, n));
    }
    out.add_row(values);
  }
  out.notes = {"comm_latency and skews in microseconds; MB are 1024^2 bytes"};
  return out;
}

std::vector<std::string> summary_findings(const std::vector<RankRecord>& records) {
  std::vector<std::string> out;
  const auto groups = by_config(records);
  if (groups.empty())
    return out;
  const auto best = [&groups](const char* row) {
    const auto* winner = &groups.front();
    for (const auto& g : groups) {
      if (!(mean_of(g.second, "total_time") > 0))
        continue; // a trace without GPU work is no configuration to recommend
      if (!(mean_of(winner->second, "total_time") > 0) ||
          mean_of(g.second, row) < mean_of(winner->second, row))
        winner = &g;
    }
    return winner;
  };
  if (groups.size() > 1) {
    const auto* total = best("total_time");
    const auto* comm = best("exposed_comm_time");
    out.push_back(fmt::format("shortest total time: {} ({:.3f} ms mean over {} ranks)",
                              total->first, mean_of(total->second, "total_time"),
                              total->second.size()));
    out.push_back(fmt::format("least exposed communication: {} ({:.3f} ms mean)", comm->first,
                              mean_of(comm->second, "exposed_comm_time")));
  }
  struct Slow {
    std::string label;
    double compute_ms = 0, mean_ms = 0;
    [[nodiscard]] double above() const { return (compute_ms / mean_ms - 1) * 100; }
  };
  std::map<std::int64_t, std::vector<Slow>> slow; // by rank: configurations that it is slowest in
  std::size_t compared = 0;
  for (const auto& [label, ranks] : groups) {
    if (ranks.size() < 2)
      continue;
    ++compared;
    const RankRecord* worst = slowest(ranks);
    slow[worst->key.rank].push_back(
        {label, value_of(*worst, "computation_time"), mean_of(ranks, "computation_time")});
  }
  for (const auto& [rank, in] : slow) {
    const auto [least, most] = std::minmax_element(
        in.begin(), in.end(), [](const Slow& a, const Slow& b) { return a.above() < b.above(); });
    if (in.size() == 1)
      out.push_back(fmt::format("{}: rank {} computes longest, {:.3f} ms, {:.2f} % above the mean "
                                "of {:.3f} ms",
                                most->label, rank, most->compute_ms, most->above(), most->mean_ms));
    else
      out.push_back(fmt::format("rank {} computes longest in {} of {} configurations, {:.2f} to "
                                "{:.2f} % above the mean; most in {}, {:.3f} against {:.3f} ms",
                                rank, in.size(), compared, least->above(), most->above(),
                                most->label, most->compute_ms, most->mean_ms));
    const auto late =
        std::count_if(in.begin(), in.end(), [](const Slow& s) { return s.above() > 1; });
    if (late > 1)
      out.push_back(fmt::format("straggler: rank {} is more than 1 % above the mean in {} of {} "
                                "configurations",
                                rank, late, groups.size()));
  }
  for (const RankRecord& r : records)
    if (!r.error.empty())
      out.push_back(fmt::format("{}: rank {} was not analysed: {}", r.key.configuration.label,
                                r.key.rank, r.error));
  return out;
}

std::vector<std::string> next_steps(const std::vector<RankRecord>& records,
                                    const Table& gemm_overlap) {
  std::vector<std::string> out;
  const auto groups = by_config(records);
  if (groups.empty())
    return out;
  const auto best_by = [&](const char* row) {
    const auto* best = &groups.front();
    for (const auto& g : groups)
      if (mean_of(g.second, row) < mean_of(best->second, row))
        best = &g;
    return best;
  };
  const auto* total = best_by("total_time");
  const auto* comm = best_by("exposed_comm_time");
  const double ms = mean_of(total->second, "total_time");
  const double exposed = mean_of(total->second, "exposed_comm_time");
  const double idle = mean_of(total->second, "idle_time");
  if (ms > 0 && exposed > 0.05 * ms)
    out.push_back(fmt::format(
        "communication stays exposed for {:.3f} ms, {:.1f} % of the time, even with {}: start "
        "collectives earlier or make them smaller (bucket size, prefetch), so that they run beside "
        "compute",
        exposed, exposed / ms * 100, total->first));
  if (groups.size() > 1 && total->first != comm->first)
    out.push_back(fmt::format(
        "{} hides communication best ({:.3f} against {:.3f} ms exposed) but computes {:.3f} ms "
        "longer than {}: its collectives take compute units from the kernels beside them",
        comm->first, mean_of(comm->second, "exposed_comm_time"), exposed,
        mean_of(comm->second, "computation_time") - mean_of(total->second, "computation_time"),
        total->first));
  const auto at_edge = [&](const char* what, const auto& value) {
    std::set<std::int64_t> seen;
    for (const auto& g : groups)
      if (const auto v = value(*g.second.front()))
        seen.insert(*v);
    const auto own = value(*total->second.front());
    if (seen.size() < 2 || !own || (*own != *seen.begin() && *own != *seen.rbegin()))
      return;
    out.push_back(fmt::format("the best configuration has the {} number of {} that was tried ({}): "
                              "try {} ones",
                              *own == *seen.begin() ? "lowest" : "highest", what, *own,
                              *own == *seen.begin() ? "lower" : "higher"));
  };
  at_edge("channels", [](const RankRecord& r) { return r.key.configuration.channels_or_cus(); });
  at_edge("threads", [](const RankRecord& r) { return r.key.configuration.threads(); });
  std::map<std::int64_t, std::pair<std::size_t, double>> late; // rank: configurations, excess ms
  for (const auto& [label, ranks] : groups) {
    const RankRecord* worst = slowest(ranks);
    const double excess = value_of(*worst, "computation_time") - mean_of(ranks, "computation_time");
    if (ranks.size() > 1 && excess > 0.01 * mean_of(ranks, "computation_time")) {
      ++late[worst->key.rank].first;
      late[worst->key.rank].second += excess;
    }
  }
  for (const auto& [rank, seen] : late)
    if (seen.first * 2 > groups.size())
      out.push_back(fmt::format("rank {} computes {:.3f} ms longer than the mean in {} of {} "
                                "configurations and the others wait for it: look at its GPU's "
                                "clocks, power and temperature, and at its share of the data",
                                rank, seen.second / static_cast<double>(seen.first), seen.first,
                                groups.size()));
  double lost_us = 0;
  std::size_t explained = 0;
  for (std::size_t r = 0; r < gemm_overlap.rows(); ++r) {
    const double slope = gemm_overlap.at(r, "slowdown_per_full_overlap_us").number();
    const double half = gemm_overlap.at(r, "slowdown_ci95_us").number();
    if (slope - half > 0) {
      ++explained;
      lost_us = std::max(lost_us, slope);
    }
  }
  if (explained * 2 > gemm_overlap.rows())
    out.push_back(
        fmt::format("collectives slow down {} of the {} GEMMs with the largest spread, by "
                    "up to {:.1f} us a call: fewer channels, or collectives at another "
                    "place of the step, would give that back",
                    explained, gemm_overlap.rows(), lost_us));
  if (ms > 0 && idle > 0.05 * ms)
    out.push_back(fmt::format("the GPU idles {:.3f} ms, {:.1f} % of the time, with {}: look for "
                              "launch-bound steps (CPU time, synchronisation, graphs)",
                              idle, idle / ms * 100, total->first));
  return out;
}

} // namespace rankscope
