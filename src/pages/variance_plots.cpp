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

/// Returns colour i of n from viridis, interpolated linearly between nine of its colours.
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

using Dimension = std::optional<std::int64_t> VariancePoint::*;

std::vector<PlotGroup> grouped(const VarianceData& data, Dimension dimension, const char* label) {
  std::map<std::int64_t, std::vector<double>> values;
  for (const VariancePoint& p : data.points)
    if (const auto& key = p.*dimension)
      values[*key].push_back(p.range_us);
  std::vector<PlotGroup> out;
  for (auto& [key, list] : values)
    out.push_back({fmt::format(fmt::runtime(label), key), std::move(list)});
  return out;
}

PlotSpec box(const VarianceData& data, Dimension dimension, const char* label, const char* x_label,
             const std::string& title, double width, std::vector<std::string> colours) {
  PlotPanel p;
  p.x_label = x_label;
  p.y_label = "Time Difference (us)";
  p.groups = grouped(data, dimension, label);
  p.colours = std::move(colours);
  // with many ranks, a wider sheet separates their boxes
  width = std::clamp(0.35 * static_cast<double>(p.groups.size()), width, 40.0);
  return {title, width, 6, {std::move(p)}};
}

} // namespace

VarianceData variance_data(const GemmFacts& facts, std::size_t top_k) {
  VarianceData out;
  out.top = std::to_string(top_k);
  for (const GemmRow& row : facts.rows)
    out.points.push_back({row.key.configuration.threads(), row.key.configuration.channels_or_cus(),
                          row.key.rank, row.range_us});
  return out;
}

std::pair<double, double> variance_range(const std::vector<VarianceData>& all) {
  double low = 0;
  double high = 0;
  for (const VarianceData& data : all)
    for (const VariancePoint& p : data.points)
      if (std::isfinite(p.range_us)) {
        low = std::min(low, p.range_us);
        high = std::max(high, p.range_us);
      }
  return {low, high > low ? high + (high - low) * 0.05 : low + 1};
}

std::vector<std::pair<std::string, PlotSpec>>
variance_plots(const VarianceData& data, const std::optional<std::pair<double, double>>& y_range) {
  const std::string top = data.top.empty() ? "" : fmt::format(" (top {} of each rank)", data.top);
  std::vector<std::pair<std::string, PlotSpec>> plots;
  plots.emplace_back("variance_by_threads_boxplot",
                     box(data, &VariancePoint::threads, "{} threads", "Thread Configuration",
                         "GEMM Kernel Time Variance by Thread Count" + top, 10, cycle(kLights)));
  plots.emplace_back("variance_by_channels_boxplot",
                     box(data, &VariancePoint::channel, "{}ch", "Channel Configuration",
                         "GEMM Kernel Time Variance by Channel Count" + top, 12, cycle(kBlues)));
  PlotSpec ranks = box(data, &VariancePoint::rank, "Rank {}", "Rank",
                       "GEMM Kernel Time Variance by Rank" + top, 14, {});
  const std::size_t rank_count = ranks.panels[0].groups.size();
  for (std::size_t i = 0; i < rank_count; ++i)
    ranks.panels[0].colours.push_back(viridis(i, rank_count));
  plots.emplace_back("variance_by_ranks_boxplot", std::move(ranks));
  PlotSpec violin{"GEMM Kernel Time Variance Distribution" + top, 20, 6, {}};
  const std::tuple<Dimension, const char*, const char*> panels[] = {
      {&VariancePoint::threads, "{}t", "Threads"},
      {&VariancePoint::channel, "{}ch", "Channels"},
      {&VariancePoint::rank, "R{}", "Ranks"}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [dimension, label, title] = panels[i];
    PlotPanel p;
    p.kind = PlotPanel::Kind::kViolin;
    p.title = title;
    p.y_label = "Time Difference (us)";
    p.groups = grouped(data, dimension, label);
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
  for (const VariancePoint& p : data.points) {
    if (!p.threads || !p.channel)
      continue;
    auto& [sum, n] = mean[*p.threads][*p.channel];
    sum += p.range_us;
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
  if (top_mean > 0) // start at 0, so that heights are comparable
    lines.y_range = {0, top_mean * 1.08};
  plots.emplace_back(
      "variance_thread_channel_interaction",
      PlotSpec{"GEMM Kernel Time Variance: Threads and Channels" + top, 12, 7, {std::move(lines)}});
  plots.erase(std::remove_if(plots.begin(), plots.end(),
                             [](const auto& plot) { // the sweep does not have this dimension
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

Result<Drawing> begin_variance_plots(const VarianceData& data, const std::string& folder, bool svg,
                                     TaskPool* pool) {
  RS_CHECK(make_folder(folder));
  std::vector<std::pair<std::string, PlotSpec>> files;
  for (const auto& [name, spec] : variance_plots(data, std::nullopt)) {
    files.emplace_back(folder + "/" + name + ".png", spec);
    if (svg)
      files.emplace_back(folder + "/" + name + ".svg", spec);
  }
  return Drawing::begin(files, pool);
}

Result<void> write_variance_plots(const VarianceData& data, const std::string& folder, bool svg) {
  RS_TRY(Drawing drawing, begin_variance_plots(data, folder, svg, nullptr));
  return drawing.finish();
}

} // namespace rankscope
