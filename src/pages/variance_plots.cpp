#include "pages/variance_plots.h"

#include "os/output_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

constexpr const char* kBlues[] = {"#e6f2ff", "#99ccff", "#4da6ff", "#0073e6"};
constexpr const char* kLights[] = {"#add8e6", "#f08080", "#90ee90", "#ffd580"};

/// viridis at i of n, linear between nine of its colours.
std::string viridis(std::size_t i, std::size_t n) {
  static constexpr int kStops[][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                      {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                      {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
  const double at = n > 1 ? 8.0 * static_cast<double>(i) / static_cast<double>(n) : 0.0;
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), 7);
  const double share = at - static_cast<double>(low);
  std::string out = "#";
  for (int c = 0; c < 3; ++c)
    out += fmt::format("{:02x}", static_cast<int>(std::lround(kStops[low][c] * (1 - share) +
                                                              kStops[low + 1][c] * share)));
  return out;
}

template <std::size_t N> std::vector<std::string> cycle(const char* const (&colours)[N]) {
  return {colours, colours + N};
}

std::vector<PlotGroup> grouped(const Table& t, const char* column, const char* label) {
  std::map<std::int64_t, std::vector<double>> values;
  for (std::size_t r = 0; r < t.rows(); ++r)
    if (const Value key = t.at(r, column); !key.is_null() && !std::isnan(key.number()))
      values[static_cast<std::int64_t>(key.number())].push_back(t.at(r, "time_diff_us").number());
  std::vector<PlotGroup> out;
  for (auto& [key, list] : values)
    out.push_back({fmt::format(fmt::runtime(label), key), std::move(list)});
  return out;
}

PlotSpec box(const Table& t, const char* column, const char* label, const char* x_label,
             const std::string& title, double width, std::vector<std::string> colours) {
  PlotPanel p;
  p.x_label = x_label;
  p.y_label = "Time Difference (us)";
  p.groups = grouped(t, column, label);
  p.colours = std::move(colours);
  // so many ranks that their boxes would touch get a wider sheet
  width = std::clamp(0.35 * static_cast<double>(p.groups.size()), width, 40.0);
  return {title, width, 6, {std::move(p)}};
}

} // namespace

std::pair<double, double> variance_range(const std::vector<const Table*>& tables) {
  double low = 0;
  double high = 0;
  for (const Table* t : tables)
    for (std::size_t r = 0; r < t->rows(); ++r)
      if (const double v = t->at(r, "time_diff_us").number(); std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
  return {low, high > low ? high + (high - low) * 0.05 : low + 1};
}

std::vector<std::pair<std::string, PlotSpec>>
variance_plots(const Table& t, const std::optional<std::pair<double, double>>& y_range) {
  const std::size_t end = t.name().find('_');
  const bool named = t.name().rfind("top", 0) == 0 && end != std::string::npos && end > 3;
  const std::string top =
      named ? fmt::format(" (top {} of each rank)", t.name().substr(3, end - 3)) : "";
  std::vector<std::pair<std::string, PlotSpec>> plots;
  plots.emplace_back("variance_by_threads_boxplot",
                     box(t, "threads", "{} threads", "Thread Configuration",
                         "GEMM Kernel Time Variance by Thread Count" + top, 10, cycle(kLights)));
  plots.emplace_back("variance_by_channels_boxplot",
                     box(t, "channel", "{}ch", "Channel Configuration",
                         "GEMM Kernel Time Variance by Channel Count" + top, 12, cycle(kBlues)));
  PlotSpec ranks =
      box(t, "rank", "Rank {}", "Rank", "GEMM Kernel Time Variance by Rank" + top, 14, {});
  const std::size_t rank_count = ranks.panels[0].groups.size();
  for (std::size_t i = 0; i < rank_count; ++i)
    ranks.panels[0].colours.push_back(viridis(i, rank_count));
  plots.emplace_back("variance_by_ranks_boxplot", std::move(ranks));
  PlotSpec violin{"GEMM Kernel Time Variance Distribution" + top, 20, 6, {}};
  const std::tuple<const char*, const char*, const char*> panels[] = {
      {"threads", "{}t", "Threads"}, {"channel", "{}ch", "Channels"}, {"rank", "R{}", "Ranks"}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [column, label, title] = panels[i];
    PlotPanel p;
    p.kind = PlotPanel::Kind::kViolin;
    p.title = title;
    p.y_label = "Time Difference (us)";
    p.groups = grouped(t, column, label);
    p.colours = {kLights[i]};
    if (!p.groups.empty())
      violin.panels.push_back(std::move(p));
  }
  plots.emplace_back("variance_violin_combined", std::move(violin));

  PlotPanel lines;
  lines.kind = PlotPanel::Kind::kLines;
  lines.x_label = "Channels";
  lines.y_label = "Mean Time Difference (us)";
  std::map<std::int64_t, std::map<std::int64_t, std::pair<double, int>>> mean;
  for (std::size_t r = 0; r < t.rows(); ++r) {
    const Value threads = t.at(r, "threads");
    const Value channel = t.at(r, "channel");
    if (threads.is_null() || channel.is_null())
      continue;
    auto& [sum, n] = mean[static_cast<std::int64_t>(threads.number())]
                         [static_cast<std::int64_t>(channel.number())];
    sum += t.at(r, "time_diff_us").number();
    ++n;
  }
  double top_mean = 0;
  for (const auto& [threads, by_channel] : mean) {
    PlotLine line;
    int samples = 0;
    for (const auto& [channel, sum] : by_channel) {
      line.points.emplace_back(static_cast<double>(channel), sum.first / sum.second);
      samples += sum.second;
      top_mean = std::max(top_mean, sum.first / sum.second);
    }
    line.label = fmt::format("{} threads (n={})", threads, samples);
    lines.lines.push_back(std::move(line));
  }
  if (top_mean > 0) // from 0, so that heights can be compared
    lines.y_range = {0, top_mean * 1.08};
  plots.emplace_back(
      "variance_thread_channel_interaction",
      PlotSpec{"GEMM Kernel Time Variance: Threads and Channels" + top, 12, 7, {std::move(lines)}});
  plots.erase(std::remove_if(plots.begin(), plots.end(),
                             [](const auto& plot) { // a sweep without that dimension
                               const auto& all = plot.second.panels;
                               return all.empty() ||
                                      (all[0].groups.empty() && all[0].lines.empty());
                             }),
              plots.end());
  if (y_range)
    for (auto& [name, spec] : plots)
      for (PlotPanel& p : spec.panels)
        p.y_range = y_range;
  return plots;
}

Result<void> write_variance_plots(const Table& t, const std::string& folder, bool svg) {
  RS_CHECK(make_folder(folder));
  std::vector<std::pair<std::string, PlotSpec>> files;
  for (const auto& [name, spec] : variance_plots(t, std::nullopt)) {
    files.emplace_back(folder + "/" + name + ".png", spec);
    if (svg)
      files.emplace_back(folder + "/" + name + ".svg", spec);
  }
  return write_plots(files);
}

} // namespace rankscope
