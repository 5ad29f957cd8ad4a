#include "analyses/collectives/collective_report.h"

#include "analyses/group_stats.h"
#include "base/units.h"

#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Value nelems(std::int64_t n) {
  return n == kNoId ? Value() : Value(n);
}

double mib(const RankCollectives& r, const Collective& c, std::int64_t n) {
  const int bytes = r.element_bytes(c);
  return bytes == 0 || n == kNoId ? kNaN : bytes_to_mib(static_cast<double>(n) * bytes);
}

Value text_or_blank(std::string_view text) {
  return text.empty() ? Value() : Value(text);
}

/// The integers of "[0, 1, ...]".
std::vector<std::int64_t> numbers_in(std::string_view list) {
  std::vector<std::int64_t> out;
  std::int64_t n = -1;
  for (const char c : std::string(list) + ",") {
    if (c >= '0' && c <= '9') {
      n = std::min<std::int64_t>(std::max<std::int64_t>(n, 0), INT64_MAX / 10 - 10) * 10 +
          (c - '0');
    } else if (n >= 0) {
      out.push_back(n);
      n = -1;
    }
  }
  return out;
}

/// intra_node when all members of "[0, 1, ...]" share a node.
std::string node_span(std::string_view pg_ranks, std::int64_t per_node) {
  if (per_node <= 0 || pg_ranks.empty())
    return "unknown";
  std::set<std::int64_t> nodes;
  for (const std::int64_t rank : numbers_in(pg_ranks))
    nodes.insert(rank / per_node);
  return nodes.empty() ? "unknown" : nodes.size() == 1 ? "intra_node" : "inter_node";
}

/// A collective with the numbers of all its ranks. Times are ns on the common clock.
struct Timed {
  const MatchedCollective* match = nullptr;
  std::vector<std::int64_t> start, end, wait;
  std::int64_t latest_start = 0, latency = 0, skew_end = 0;
  double full_mib = kNaN;
  double algo_gibps = kNaN; ///< as the reference, 1024-based
  double bus_gibps = kNaN;
};

class Builder {
public:
  Builder(const std::vector<RankCollectives>& ranks, const CollectiveOptions& options)
      : ranks_(ranks), options_(options), matched_(match_collectives(ranks)) {
    per_node_ = options.gpus_per_node > 0 ? options.gpus_per_node
                                          : static_cast<std::int64_t>(ranks.front().device_count);
    offsets();
    time_all();
  }

  Report build() {
    Report report;
    auto add = [&report](Table table) {
      if (table.rows() > 0)
        report.tables.push_back(std::move(table));
    };
    std::vector<const RankCollectives*> all;
    for (const RankCollectives& r : ranks_)
      all.push_back(&r);
    add(summary_implicit_sync());
    Table longer = nccl_summary_long(all, "nccl_summary_long");
    add_node_columns(longer);
    add(std::move(longer));
    auto [a2av_summary, a2av] = all_to_all_v();
    add(std::move(a2av_summary));
    if (options_.all_to_all_v_heatmap)
      add(heatmap());
    add(nccl_long());
    add(implicit_sync());
    add(std::move(a2av));
    add(straggler());
    add(exposed_by_rank());
    add(exposed_by_type());
    add(process_groups());
    add(clocks());
    add(matched_.problems);
    report.tables.insert(report.tables.begin(), findings(report));
    return report;
  }

private:
  const Collective& row(const std::pair<std::size_t, std::size_t>& member) const {
    return ranks_[member.first].rows[member.second];
  }

  void offsets() {
    offset_.assign(ranks_.size(), 0);
    std::int64_t lowest_base = INT64_MAX;
    for (const RankCollectives& r : ranks_)
      lowest_base = std::min(lowest_base, r.base_time_ns);
    if (options_.align == AlignMode::kNone)
      return;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      offset_[r] = -(ranks_[r].base_time_ns - lowest_base); // common = ts - offset
    if (options_.align != AlignMode::kCollectives || ranks_.size() < 2)
      return;
    std::vector<CollectiveEnds> ends(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      ends[r].rank = ranks_[r].rank;
    std::size_t n = 0;
    for (const MatchedCollective& m : matched_.collectives) {
      ++n;
      if (m.kind == CollectiveKind::kSend || m.kind == CollectiveKind::kRecv ||
          m.members.size() < 2)
        continue;
      for (const auto& member : m.members)
        ends[member.first].ends.emplace_back(fmt::format("{:012}", n),
                                             row(member).end_ns() - offset_[member.first]);
    }
    alignment_ = align_clocks(ends);
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      offset_[r] += alignment_[r].offset_ns;
  }

  void time_all() {
    for (const MatchedCollective& m : matched_.collectives) {
      Timed t;
      t.match = &m;
      std::int64_t min_end = INT64_MAX;
      std::int64_t max_end = INT64_MIN;
      t.latest_start = INT64_MIN;
      t.latency = INT64_MAX;
      for (const auto& member : m.members) {
        const Collective& c = row(member);
        const std::int64_t start = c.ts_ns - offset_[member.first];
        t.start.push_back(start);
        t.end.push_back(start + c.dur_ns);
        t.latest_start = std::max(t.latest_start, start);
        t.latency = std::min(t.latency, c.dur_ns);
        min_end = std::min(min_end, t.end.back());
        max_end = std::max(max_end, t.end.back());
      }
      t.skew_end = max_end - min_end;
      for (const std::int64_t s : t.start)
        t.wait.push_back(t.latest_start - s);
      const Collective& first = row(m.members.front());
      const RankCollectives& r0 = ranks_[m.members.front().first];
      t.full_mib =
          mib(r0, first, m.kind == CollectiveKind::kAllGather ? first.out_nelems : first.in_nelems);
      if (t.latency > 0) {
        t.algo_gibps = (t.full_mib / 1024) / ns_to_s(t.latency);
        t.bus_gibps = t.algo_gibps * bus_bandwidth_factor(m.kind, first.group_size);
      }
      timed_.push_back(std::move(t));
    }
  }

  [[nodiscard]] static bool implicit(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllToAll;
  }

  static double gb(double gib) { return gib * 1.073741824; }

  Table summary_implicit_sync() {
    std::vector<Column> columns{
        {"Collective name"},    {"dtype"},      {"In msg nelems", Unit::kCount},
        {"Process Group Name"}, {"Group size"}, {"Full msg size (MB)", Unit::kMiB}};
    const std::vector<std::pair<std::string, Unit>> metrics = {{"comm_latency", Unit::kUs},
                                                               {"skew in start time", Unit::kUs},
                                                               {"skew in end time", Unit::kUs},
                                                               {"algo bw (GB/s)", Unit::kGBps},
                                                               {"bus bw (GB/s)", Unit::kGBps}};
    for (const auto& [name, unit] : metrics)
      for (const std::string& agg : options_.agg_metrics)
        columns.push_back({name + "_" + agg, unit});
    columns.push_back({"count", Unit::kCount});
    columns.push_back({"Total comm latency (ms)", Unit::kMs});
    Table table("nccl_summary_implicit_sync", std::move(columns));
    using Key = std::tuple<std::string, std::string, std::int64_t, std::string>;
    std::map<Key, std::vector<const Timed*>> groups;
    for (const Timed& t : timed_) {
      if (!implicit(t.match->kind))
        continue;
      const RankCollectives& r = ranks_[t.match->members.front().first];
      const Collective& c = row(t.match->members.front());
      // the reference merges process groups of equal sizes; ours stay apart
      groups[{std::string(r.text(c.name)), std::string(r.text(c.dtype)), c.in_nelems,
              options_.compat_tracelens ? std::string() : t.match->pg}]
          .push_back(&t);
    }
    const double unit_factor = options_.compat_tracelens ? 1.0 : 1.073741824;
    for (const auto& [key, list] : groups) {
      const Timed& first = *list.front();
      const Collective& c = row(first.match->members.front());
      std::vector<Value> values{Value(std::get<0>(key)),  Value(std::get<1>(key)),
                                nelems(std::get<2>(key)), Value(first.match->pg),
                                nelems(c.group_size),     Value(first.full_mib)};
      std::vector<std::vector<double>> samples(5);
      for (const Timed* t : list) {
        samples[0].push_back(ns_to_us(t->latency));
        samples[1].push_back(ns_to_us(*std::max_element(t->wait.begin(), t->wait.end())));
        samples[2].push_back(ns_to_us(t->skew_end));
        samples[3].push_back(t->algo_gibps * unit_factor);
        samples[4].push_back(t->bus_gibps * unit_factor);
      }
      double total = 0;
      for (auto& s : samples) {
        const Stats stats = stats_of(s);
        if (&s == samples.data())
          total = stats.sum;
        for (const std::string& agg : options_.agg_metrics)
          values.emplace_back(agg == "mean"     ? stats.mean
                              : agg == "median" ? stats.median
                              : agg == "min"    ? stats.min
                              : agg == "max"    ? stats.max
                                                : stats.std_sample);
      }
      values.emplace_back(list.size());
      values.emplace_back(total / 1e3);
      table.add_row(values);
    }
    sort_desc(table, table.cols() - 1);
    table.notes.push_back(
        "comm_latency is the shortest duration over the ranks, us; a rank that comes early waits");
    table.notes.push_back(options_.compat_tracelens
                              ? "bandwidths are 1024^3 bytes per second, labelled as the reference"
                              : "bandwidths are 10^9 bytes per second; bus = algorithm x factor of "
                                "nccl-tests");
    return table;
  }

  void add_node_columns(Table& table) const {
    if (per_node_ <= 0)
      return;
    std::vector<Value> nodes;
    std::vector<std::string> spans;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      nodes.emplace_back(table.at(r, "rank").i / per_node_);
      spans.push_back(node_span(table.at(r, "Process Group Ranks").text, per_node_));
    }
    table.add_column({"node_id"}, nodes);
    table.add_column({"node_span"}, std::vector<Value>(spans.begin(), spans.end()));
  }

  Table nccl_long() {
    std::vector<Column> columns;
    for (const char* name :
         {"collective_id", "index_in_group", "rank", "Process Group Name", "Process Group Ranks",
          "Collective name", "Group size", "dtype", "In msg nelems", "In msg size (MB)",
          "Out msg nelems", "Out msg size (MB)", "In split size", "Out split size", "stream", "ts",
          "dur"})
      columns.push_back({name});
    if (!options_.compat_tracelens)
      for (const char* name :
           {"wait (\u00b5s)", "transfer (\u00b5s)", "hidden by compute (\u00b5s)",
            "hidden by memcpy (\u00b5s)", "exposed (\u00b5s)"})
        columns.push_back({name, Unit::kUs});
    Table table("nccl_long", std::move(columns));
    // rank order, then file order
    std::vector<std::vector<std::pair<const Timed*, std::size_t>>> of(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      of[r].assign(ranks_[r].rows.size(), {nullptr, 0});
    for (const Timed& t : timed_)
      for (std::size_t k = 0; k < t.match->members.size(); ++k)
        of[t.match->members[k].first][t.match->members[k].second] = {&t, k};
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      for (std::size_t i = 0; i < ranks_[r].rows.size(); ++i) {
        const auto& [t, k] = of[r][i];
        const Collective& c = ranks_[r].rows[i];
        const RankCollectives& rc = ranks_[r];
        const std::string id = fmt::format("{}_{}", t->match->pg, t->match->index);
        std::vector<Value> values{Value(id),
                                  Value(t->match->index),
                                  Value(rc.rank),
                                  text_or_blank(rc.text(c.pg_name)),
                                  text_or_blank(rc.text(c.pg_ranks)),
                                  text_or_blank(rc.text(c.name)),
                                  nelems(c.group_size),
                                  text_or_blank(rc.text(c.dtype)),
                                  nelems(c.in_nelems),
                                  Value(mib(rc, c, c.in_nelems)),
                                  nelems(c.out_nelems),
                                  Value(mib(rc, c, c.out_nelems)),
                                  text_or_blank(rc.text(c.in_split)),
                                  text_or_blank(rc.text(c.out_split)),
                                  Value(c.stream),
                                  Value(ns_to_us(c.ts_ns)),
                                  Value(ns_to_us(c.dur_ns))};
        if (!options_.compat_tracelens) {
          const std::int64_t wait = std::min(t->wait[k], c.dur_ns);
          for (const std::int64_t ns :
               {wait, c.dur_ns - wait, c.hidden_compute_ns, c.hidden_memcpy_ns,
                c.dur_ns - c.hidden_compute_ns - c.hidden_memcpy_ns})
            values.emplace_back(ns_to_us(ns));
        }
        table.add_row(values);
      }
    return table;
  }

  Table implicit_sync() {
    std::vector<Column> columns;
    for (const char* name :
         {"collective_id", "Process Group Name", "Process Group Ranks", "Collective name",
          "Group size", "dtype", "In msg nelems", "Out msg nelems", "In msg size (MB)",
          "Out msg size (MB)", "Full msg size (MB)", "comm_latency", "skew in start time",
          "earliest arrival rank", "avg_wait_time", "skew in end time", "algo bw (GB/s)",
          "bus bw (GB/s)"})
      columns.push_back({name});
    for (const RankCollectives& r : ranks_)
      for (const char* what : {"ts", "dur", "wait_time"})
        columns.push_back({fmt::format("rank_{}_{}", r.rank, what), Unit::kUs});
    const std::size_t fixed = 18;
    Table table("nccl_implicit_sync", std::move(columns));
    const double unit_factor = options_.compat_tracelens ? 1.0 : 1.073741824;
    for (const Timed& t : timed_) {
      if (!implicit(t.match->kind))
        continue;
      const RankCollectives& r0 = ranks_[t.match->members.front().first];
      const Collective& c = row(t.match->members.front());
      double wait_sum = 0;
      std::size_t earliest = 0;
      for (std::size_t k = 0; k < t.wait.size(); ++k) {
        wait_sum += ns_to_us(t.wait[k]);
        if (t.wait[k] >= t.wait[earliest]) // ties: the higher rank, as the reference
          earliest = k;
      }
      const std::string id = fmt::format("{}_{}", t.match->pg, t.match->index);
      std::vector<Value> values{Value(id),
                                text_or_blank(r0.text(c.pg_name)),
                                text_or_blank(r0.text(c.pg_ranks)),
                                Value(r0.text(c.name)),
                                nelems(c.group_size),
                                text_or_blank(r0.text(c.dtype)),
                                nelems(c.in_nelems),
                                nelems(c.out_nelems),
                                Value(mib(r0, c, c.in_nelems)),
                                Value(mib(r0, c, c.out_nelems)),
                                Value(t.full_mib),
                                Value(ns_to_us(t.latency)),
                                Value(ns_to_us(t.wait[earliest])),
                                Value(ranks_[t.match->members[earliest].first].rank),
                                Value(wait_sum / static_cast<double>(t.wait.size())),
                                Value(ns_to_us(t.skew_end)),
                                Value(t.algo_gibps * unit_factor),
                                Value(t.bus_gibps * unit_factor)};
      values.resize(fixed + 3 * ranks_.size());
      for (std::size_t k = 0; k < t.match->members.size(); ++k) {
        const std::size_t at = fixed + 3 * t.match->members[k].first;
        values[at] = Value(ns_to_us(t.start[k]));
        values[at + 1] = Value(ns_to_us(row(t.match->members[k]).dur_ns));
        values[at + 2] = Value(ns_to_us(t.wait[k]));
      }
      table.add_row(values);
    }
    return table;
  }

  std::pair<Table, Table> all_to_all_v() {
    std::vector<Column> columns;
    for (const char* name :
         {"collective_id", "Process Group Name", "Process Group Ranks", "dtype", "Group size",
          "total data communicated (MB)", "total nelems", "wall_time (us)", "max_rank_dur (us)",
          "min_rank_dur (us)", "avg_rank_dur (us)", "throughput (GB/s)", "size_imbalance",
          "skew in start time", "skew in end time"})
      columns.push_back({name});
    Table detail("nccl_all2allv", std::move(columns));
    struct Sum {
      std::vector<double> wall, data, throughput, imbalance;
      std::string ranks;
      std::int64_t size = kNoId;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const Timed& t : timed_) {
      if (t.match->kind != CollectiveKind::kAllToAllV)
        continue;
      const RankCollectives& r0 = ranks_[t.match->members.front().first];
      const Collective& c0 = row(t.match->members.front());
      std::vector<double> sizes;
      std::vector<double> durations;
      double total_elements = 0;
      for (const auto& member : t.match->members) {
        const Collective& c = row(member);
        sizes.push_back(mib(ranks_[member.first], c, c.in_nelems));
        durations.push_back(ns_to_us(c.dur_ns));
        total_elements += c.in_nelems == kNoId ? 0 : static_cast<double>(c.in_nelems);
      }
      const Stats size = stats_of(sizes);
      const Stats duration = stats_of(durations);
      const std::int64_t first = *std::min_element(t.start.begin(), t.start.end());
      const std::int64_t last = *std::max_element(t.end.begin(), t.end.end());
      const double wall_us = ns_to_us(last - first);
      double throughput = wall_us > 0 ? size.sum / 1024 / (wall_us / 1e6) : kNaN;
      if (!options_.compat_tracelens)
        throughput = gb(throughput);
      const std::string id = fmt::format("{}_{}", t.match->pg, t.match->index);
      detail.add_row({id, t.match->pg, r0.text(c0.pg_ranks), r0.text(c0.dtype),
                      nelems(c0.group_size), size.sum, total_elements, wall_us, duration.max,
                      duration.min, duration.mean, throughput, size.max / size.mean,
                      ns_to_us(t.latest_start - first), ns_to_us(t.skew_end)});
      Sum& s = sums[{t.match->pg, std::string(r0.text(c0.dtype))}];
      s.wall.push_back(wall_us);
      s.data.push_back(size.sum);
      s.throughput.push_back(throughput);
      s.imbalance.push_back(size.max / size.mean);
      s.ranks = r0.text(c0.pg_ranks);
      s.size = c0.group_size;
    }
    sort_desc(detail, 5);
    Table summary("nccl_summary_all2allv", {{"Process Group Name"},
                                            {"dtype"},
                                            {"Process Group Ranks"},
                                            {"Group size"},
                                            {"total data communicated (MB)_mean", Unit::kMiB},
                                            {"wall_time (us)_mean", Unit::kUs},
                                            {"throughput (GB/s)_mean", Unit::kGBps},
                                            {"size_imbalance_mean", Unit::kRatio},
                                            {"count", Unit::kCount},
                                            {"Total wall_time (us)", Unit::kUs},
                                            {"Total wall_time (ms)", Unit::kMs}});
    for (const auto& [key, s] : sums) {
      const double wall = stats_of(s.wall).sum;
      summary.add_row({key.first, key.second, s.ranks, nelems(s.size), stats_of(s.data).mean,
                       stats_of(s.wall).mean, stats_of(s.throughput).mean,
                       stats_of(s.imbalance).mean, s.wall.size(), wall, wall / 1e3});
    }
    sort_desc(summary, summary.cols() - 1);
    return {std::move(summary), std::move(detail)};
  }

  /// Who sends how much to whom in all-to-all-v: the i-th split goes to the i-th member of the
  /// group (the reference takes i as the rank itself, which is wrong in sub-groups).
  Table heatmap() {
    struct Sum {
      double mib = 0;
      std::int64_t count = 0;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Sum> sums;
    for (const Timed& t : timed_) {
      if (t.match->kind != CollectiveKind::kAllToAllV)
        continue;
      for (const auto& member : t.match->members) {
        const Collective& c = row(member);
        const RankCollectives& r = ranks_[member.first];
        const std::vector<std::int64_t> splits = numbers_in(r.text(c.in_split));
        const std::vector<std::int64_t> members = numbers_in(r.text(c.pg_ranks));
        std::int64_t elements = 0;
        for (const std::int64_t n : splits)
          elements += n;
        // splits count rows of the first dimension; the message size scales them to elements
        const double scale = elements > 0 && c.in_nelems != kNoId
                                 ? static_cast<double>(c.in_nelems) / static_cast<double>(elements)
                                 : 1;
        for (std::size_t k = 0; k < splits.size(); ++k) {
          const std::int64_t to = !options_.compat_tracelens && k < members.size()
                                      ? members[k]
                                      : static_cast<std::int64_t>(k);
          Sum& s = sums[{r.rank, to}];
          s.mib += bytes_to_mib(static_cast<double>(splits[k]) * scale * r.element_bytes(c));
          ++s.count;
        }
      }
    }
    Table table("all2allv_heatmap", {{"src_rank"},
                                     {"dst_rank"},
                                     {"total_sent_MB", Unit::kMiB},
                                     {"avg_sent_MB", Unit::kMiB},
                                     {"count", Unit::kCount}});
    for (const auto& [pair, s] : sums)
      table.add_row(
          {pair.first, pair.second, s.mib, s.mib / static_cast<double>(s.count), s.count});
    return table;
  }

  Table straggler() {
    struct Sum {
      double wait_us = 0, dur_us = 0;
      std::vector<double> lateness_us;
      std::int64_t last = 0, first = 0, shortest = 0, n = 0;
    };
    std::vector<Sum> sums(ranks_.size());
    for (const Timed& t : timed_) {
      if (!implicit(t.match->kind) || t.match->members.size() < 2)
        continue;
      std::size_t last = 0;
      std::size_t first = 0;
      std::size_t shortest = 0;
      std::vector<std::int64_t> starts = t.start;
      std::sort(starts.begin(), starts.end());
      const std::int64_t middle = starts[starts.size() / 2];
      for (std::size_t k = 0; k < t.wait.size(); ++k) {
        Sum& s = sums[t.match->members[k].first];
        s.wait_us += ns_to_us(t.wait[k]);
        s.dur_us += ns_to_us(t.end[k] - t.start[k]);
        s.lateness_us.push_back(ns_to_us(t.start[k] - middle));
        ++s.n;
        if (t.wait[k] < t.wait[last])
          last = k;
        if (t.wait[k] >= t.wait[first])
          first = k;
        if (t.end[k] - t.start[k] < t.end[shortest] - t.start[shortest])
          shortest = k;
      }
      ++sums[t.match->members[last].first].last;
      ++sums[t.match->members[first].first].first;
      ++sums[t.match->members[shortest].first].shortest;
    }
    Table table("straggler_summary", {{"rank"},
                                      {"total_wait_time_us", Unit::kUs},
                                      {"mean_wait_time_us", Unit::kUs},
                                      {"times_arrived_last", Unit::kCount},
                                      {"times_arrived_first", Unit::kCount},
                                      {"pct_arrived_last", Unit::kPercent},
                                      {"num_collectives", Unit::kCount},
                                      {"total_nccl_dur_us", Unit::kUs},
                                      {"mean_lateness_us", Unit::kUs},
                                      {"times_shortest", Unit::kCount},
                                      {"pct_shortest", Unit::kPercent}});
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const Sum& s = sums[r];
      if (s.n == 0)
        continue;
      const auto n = static_cast<double>(s.n);
      table.add_row({ranks_[r].rank, s.wait_us, std::round(s.wait_us / n * 10) / 10, s.last,
                     s.first, 100.0 * static_cast<double>(s.last) / n, s.n, s.dur_us,
                     stats_of(s.lateness_us).mean, s.shortest,
                     100.0 * static_cast<double>(s.shortest) / n});
    }
    std::vector<std::size_t> order(table.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&table](std::size_t a, std::size_t b) {
      return table.at(a, 1).number() < table.at(b, 1).number();
    });
    table.reorder(order);
    table.notes = {"the first row waits least: it comes last and the others wait for it",
                   "mean_lateness_us: start after the median start of the ranks, on the aligned "
                   "clocks; times_shortest needs no clock: the latest comer has the shortest "
                   "duration"};
    return table;
  }

  Table exposed_by_rank() {
    Table table("exposed_by_rank", {{"rank"},
                                    {"communication (ms)", Unit::kMs},
                                    {"exposed (ms)", Unit::kMs},
                                    {"hidden by compute (ms)", Unit::kMs},
                                    {"hidden by memcpy (ms)", Unit::kMs},
                                    {"exposed (%)", Unit::kPercent}});
    for (const RankCollectives& r : ranks_)
      table.add_row({r.rank, ns_to_ms(r.comm_ns), ns_to_ms(r.exposed_ns),
                     ns_to_ms(r.hidden_compute_ns), ns_to_ms(r.hidden_memcpy_ns),
                     r.comm_ns > 0 ? 100.0 * static_cast<double>(r.exposed_ns) /
                                         static_cast<double>(r.comm_ns)
                                   : kNaN});
    table.notes = {"communication is the union of the rank's collectives; exposed is the part in "
                   "which neither compute nor copies ran on that rank"};
    return table;
  }

  Table exposed_by_type() {
    struct Sum {
      std::int64_t n = 0, dur = 0, compute = 0, copies = 0, wait = 0;
    };
    std::map<std::string, Sum> sums;
    for (const Timed& t : timed_)
      for (std::size_t k = 0; k < t.match->members.size(); ++k) {
        const Collective& c = row(t.match->members[k]);
        std::string name(ranks_[t.match->members[k].first].text(c.name));
        if (name.empty())
          name = "(unknown: " +
                 std::string(ranks_[t.match->members[k].first].text(c.kernel).substr(0, 40)) + ")";
        Sum& s = sums[name];
        ++s.n;
        s.dur += c.dur_ns;
        s.compute += c.hidden_compute_ns;
        s.copies += c.hidden_memcpy_ns;
        s.wait += std::min(t.wait[k], c.dur_ns);
      }
    Table table("exposed_by_type", {{"Collective name"},
                                    {"kernels", Unit::kCount},
                                    {"duration (ms)", Unit::kMs},
                                    {"wait (ms)", Unit::kMs},
                                    {"transfer (ms)", Unit::kMs},
                                    {"hidden by compute (ms)", Unit::kMs},
                                    {"hidden by memcpy (ms)", Unit::kMs},
                                    {"exposed (ms)", Unit::kMs},
                                    {"exposed (%)", Unit::kPercent}});
    for (const auto& [name, s] : sums) {
      const std::int64_t exposed = s.dur - s.compute - s.copies;
      table.add_row(
          {name, s.n, ns_to_ms(s.dur), ns_to_ms(s.wait), ns_to_ms(s.dur - s.wait),
           ns_to_ms(s.compute), ns_to_ms(s.copies), ns_to_ms(exposed),
           s.dur > 0 ? 100.0 * static_cast<double>(exposed) / static_cast<double>(s.dur) : kNaN});
    }
    sort_desc(table, *table.column("exposed (ms)"));
    table.notes = {"sums over kernels and ranks; wait is until the last member has started, "
                   "transfer the rest"};
    return table;
  }

  Table process_groups() {
    struct Sum {
      std::string description, ranks;
      std::int64_t size = kNoId, n = 0, kernels = 0, dur = 0;
      double mib = 0;
      std::vector<double> bus;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const Timed& t : timed_) {
      const RankCollectives& r0 = ranks_[t.match->members.front().first];
      const Collective& c = row(t.match->members.front());
      Sum& s = sums[{t.match->pg, std::string(r0.text(c.pg_ranks))}];
      s.description = r0.text(c.pg_description);
      s.size = c.group_size;
      ++s.n;
      s.kernels += static_cast<std::int64_t>(t.match->members.size());
      for (const auto& member : t.match->members)
        s.dur += row(member).dur_ns;
      s.mib += std::isnan(t.full_mib) ? 0 : t.full_mib;
      s.bus.push_back(gb(t.bus_gibps));
    }
    Table table("process_groups", {{"Process Group Name"},
                                   {"description"},
                                   {"Process Group Ranks"},
                                   {"Group size"},
                                   {"node_span"},
                                   {"collectives", Unit::kCount},
                                   {"kernels", Unit::kCount},
                                   {"message size (MB)", Unit::kMiB},
                                   {"duration over ranks (ms)", Unit::kMs},
                                   {"bus bandwidth median (GB/s)", Unit::kGBps}});
    for (const auto& [key, s] : sums)
      table.add_row({key.first, text_or_blank(s.description), text_or_blank(key.second),
                     nelems(s.size), node_span(key.second, per_node_), s.n, s.kernels, s.mib,
                     ns_to_ms(s.dur), stats_of(s.bus).median});
    sort_desc(table, *table.column("duration over ranks (ms)"));
    return table;
  }

  Table clocks() {
    Table table("clocks", {{"rank"},
                           {"base time (ns)"},
                           {"offset to rank 0's clock (\u00b5s)", Unit::kUs},
                           {"residual (\u00b5s)", Unit::kUs},
                           {"collectives", Unit::kCount},
                           {"aligned"}});
    for (std::size_t r = 0; r < alignment_.size(); ++r)
      table.add_row({ranks_[r].rank, ranks_[r].base_time_ns, ns_to_us(alignment_[r].offset_ns),
                     ns_to_us(alignment_[r].residual_ns), alignment_[r].samples,
                     alignment_[r].aligned});
    table.notes = {"offset: how far a rank's clock is ahead of the first rank's, median over the "
                   "ends of shared collectives; residual: median distance from it"};
    return table;
  }

  Table findings(const Report& report) {
    Table table("findings", {{"finding"}, {"see"}});
    const Table* s = report.find("straggler_summary");
    if (s != nullptr && s->rows() > 1) {
      const double late = s->at(0, "mean_lateness_us").number();
      table.add_row({fmt::format("rank {} comes last in {:.0f} % of {} collectives; it starts "
                                 "{:.1f} us after the median rank on average",
                                 s->at(0, "rank").i, s->at(0, "pct_arrived_last").number(),
                                 s->at(0, "num_collectives").i, late),
                     "straggler_summary"});
    }
    if (const Table* x = report.find("exposed_by_type"); x != nullptr && x->rows() > 0)
      table.add_row(
          {fmt::format("most exposed: {} with {:.3f} ms of {:.3f} ms over all ranks "
                       "({:.1f} %)",
                       x->at(0, 0).text, x->at(0, "exposed (ms)").number(),
                       x->at(0, "duration (ms)").number(), x->at(0, "exposed (%)").number()),
           "exposed_by_type"});
    if (const Table* i = report.find("nccl_implicit_sync")) {
      // a collective far below what its own kind and size usually reach
      std::map<std::tuple<std::string, std::string, std::int64_t>, std::vector<double>> usual;
      const auto key = [&](std::size_t r) {
        return std::tuple(std::string(i->at(r, "Process Group Name").text),
                          std::string(i->at(r, "Collective name").text),
                          i->at(r, "In msg nelems").i);
      };
      for (std::size_t r = 0; r < i->rows(); ++r)
        usual[key(r)].push_back(i->at(r, "bus bw (GB/s)").number());
      double worst = 1;
      std::size_t at = SIZE_MAX;
      for (std::size_t r = 0; r < i->rows(); ++r) {
        const auto& list = usual[key(r)];
        const double median = stats_of(list).median;
        const double mine = i->at(r, "bus bw (GB/s)").number();
        if (list.size() >= 5 && median > 0 && mine / median < worst) {
          worst = mine / median;
          at = r;
        }
      }
      if (at != SIZE_MAX && worst < 0.8)
        table.add_row(
            {fmt::format("{} {} reached {:.1f} GB/s bus bandwidth, {:.0f} % of the median "
                         "of its kind and size",
                         i->at(at, "Collective name").text, i->at(at, "collective_id").text,
                         i->at(at, "bus bw (GB/s)").number(), worst * 100),
             "nccl_implicit_sync"});
    }
    if (matched_.problems.rows() > 0)
      table.add_row({fmt::format("{} collectives or windows disagree between ranks",
                                 matched_.problems.rows()),
                     "problems"});
    return table;
  }

  const std::vector<RankCollectives>& ranks_;
  const CollectiveOptions& options_;
  MatchResult matched_;
  std::int64_t per_node_ = 0;
  std::vector<std::int64_t> offset_; ///< common clock = ts - offset
  std::vector<ClockOffset> alignment_;
  std::vector<Timed> timed_;
};

} // namespace

Table nccl_summary_long(const std::vector<const RankCollectives*>& ranks,
                        const std::string& table_name) {
  std::vector<Column> columns;
  for (const char* name :
       {"rank", "Process Group Name", "Process Group Ranks", "Collective name", "Group size",
        "dtype", "In msg nelems", "Out msg nelems", "In split size", "Out split size", "stream"})
    columns.push_back({name});
  columns.push_back({"In msg size (MB)_first", Unit::kMiB});
  columns.push_back({"Out msg size (MB)_first", Unit::kMiB});
  for (const char* name : {"dur_sum", "dur_mean", "dur_std", "dur_min", "dur_max"})
    columns.push_back({name, Unit::kUs});
  columns.push_back({"operation_count", Unit::kCount});
  Table table(table_name, std::move(columns));
  for (const RankCollectives* r : ranks) {
    using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::int64_t,
                           std::string_view, std::int64_t, std::int64_t, std::string_view,
                           std::string_view, std::int32_t>;
    std::map<Key, std::vector<const Collective*>> groups;
    for (const Collective& c : r->rows) {
      // rows with a blank key are left out, as the reference does (2.2)
      if (!c.has_ids || c.pg_name == kEmptyStr || c.pg_ranks == kEmptyStr || c.name == kEmptyStr ||
          c.group_size == kNoId || c.dtype == kEmptyStr || c.in_nelems == kNoId ||
          c.out_nelems == kNoId || c.in_split == kEmptyStr || c.out_split == kEmptyStr)
        continue;
      groups[{r->text(c.pg_name), r->text(c.pg_ranks), r->text(c.name), c.group_size,
              r->text(c.dtype), c.in_nelems, c.out_nelems, r->text(c.in_split),
              r->text(c.out_split), c.stream}]
          .push_back(&c);
    }
    for (const auto& [key, list] : groups) {
      const Collective& c = *list.front();
      std::vector<double> durations;
      for (const Collective* x : list)
        durations.push_back(ns_to_us(x->dur_ns));
      const Stats s = stats_of(durations);
      table.add_row({r->rank, r->text(c.pg_name), r->text(c.pg_ranks), r->text(c.name),
                     c.group_size, r->text(c.dtype), c.in_nelems, c.out_nelems, r->text(c.in_split),
                     r->text(c.out_split), c.stream, mib(*r, c, c.in_nelems),
                     mib(*r, c, c.out_nelems), s.sum, s.mean, s.std_sample, s.min, s.max,
                     list.size()});
    }
  }
  sort_desc(table, *table.column("dur_sum"));
  return table;
}

Result<Report> build_collective_report(const std::vector<RankCollectives>& ranks,
                                       const CollectiveOptions& options) {
  std::size_t rows = 0;
  for (const RankCollectives& r : ranks)
    rows += r.rows.size();
  if (rows == 0)
    return Error{ErrorCode::kUnreadable, ranks.empty() ? "" : ranks.front().path,
                 "no collective kernel (nccl, rccl, cross_device_reduce, ...) in any rank", ""};
  return Builder(ranks, options).build();
}

} // namespace rankscope
