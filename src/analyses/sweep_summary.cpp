#include "analyses/sweep_summary.h"

#include "analyses/group_stats.h"
#include "base/units.h"

#include <array>
#include <fmt/format.h>
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
    auto it =
        std::find_if(out.begin(), out.end(), [&r](const auto& g) { return g.first == r.config; });
    if (it == out.end())
      it = out.insert(out.end(), {r.config, {}});
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

bool is_gemm_kernel(std::string_view name) {
  const auto starts = [name](std::string_view p) { return name.substr(0, p.size()) == p; };
  const auto has = [name](std::string_view p) { return name.find(p) != std::string_view::npos; };
  return starts("Cijk_") || starts("nvjet") || has("gemm") || has("Gemm") || has("GEMM") ||
         (has("cutlass") && has("Kernel") && !has("attention") && !has("fmha") && !has("flash")) ||
         starts("triton_mm") || starts("triton_tem_fused_mm") || starts("triton_tem_fused_addmm");
}

RankRecord make_record(const LoadedTrace& t, const Report& report) {
  RankRecord out;
  out.rank = t.rank;
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
      known = is_gemm_kernel(t.trace.name(i)) && !is_communication_name(t.trace.name(i)) ? 1 : 0;
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
    row.emplace_back(worst->rank);
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
    std::vector<Value> row{Value(r.config), Value(r.threads), Value(r.channels), Value(r.cus),
                           Value(r.rank)};
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
      failed.add_row({r.config, r.rank, r.error});
  if (failed.rows() > 0)
    out.push_back(std::move(failed));
  return out;
}

Table timeline_all_configs(const std::vector<RankRecord>& records, const std::string& aggregation) {
  Table out("gpu_timeline_" + aggregation, {{"configuration"},
                                            {"threads"},
                                            {"channels"},
                                            {"CUs"},
                                            {"type"},
                                            {"time ms", Unit::kMs},
                                            {"percent", Unit::kPercent},
                                            {"ranks", Unit::kCount}});
  for (const auto& group : by_config(records)) {
    const std::string& label = group.first;
    const std::vector<const RankRecord*>& ranks = group.second; // clang 14 captures no bindings
    const auto value = [&](const char* row) {
      std::vector<double> values;
      for (const RankRecord* r : ranks)
        if (const double v = value_of(*r, row); aggregation == "mean" || v > 0)
          values.push_back(aggregation == "mean" ? v : std::log(v));
      const double mean = stats_of(std::move(values)).mean;
      return aggregation == "mean" ? mean : std::isnan(mean) ? 0.0 : std::exp(mean);
    };
    const double total = value("total_time");
    for (const char* row : kRows)
      out.add_row({label, ranks.front()->threads, ranks.front()->channels, ranks.front()->cus, row,
                   value(row), value(row) / total * 100, ranks.size()});
  }
  return out;
}

Table nccl_master(const std::vector<std::pair<std::string, Table>>& by_config) {
  std::vector<Column> columns{{"configuration"}};
  for (const Column& c : by_config.front().second.columns())
    columns.push_back(c);
  Table out("nccl_master_all_configs", std::move(columns));
  for (const auto& [label, table] : by_config)
    for (std::size_t r = 0; r < table.rows(); ++r) {
      std::vector<Value> row{Value(label)};
      for (std::size_t c = 0; c < table.cols(); ++c)
        row.push_back(table.at(r, c));
      out.add_row(row);
    }
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
  for (const auto& [label, ranks] : groups) {
    if (ranks.size() < 2)
      continue;
    const RankRecord* worst = slowest(ranks);
    const double compute = value_of(*worst, "computation_time");
    const double mean = mean_of(ranks, "computation_time");
    out.push_back(fmt::format("{}: rank {} computes longest, {:.3f} ms, {:.2f} % above the mean of "
                              "{:.3f} ms",
                              label, worst->rank, compute, (compute / mean - 1) * 100, mean));
  }
  for (const RankRecord& r : records)
    if (!r.error.empty())
      out.push_back(fmt::format("{}: rank {} was not analysed: {}", r.config, r.rank, r.error));
  return out;
}

} // namespace rankscope
