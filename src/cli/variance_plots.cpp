#include "cli/variance_plots.h"

#include "base/output_file.h"
#include "writers/plot.h"

#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

std::vector<PlotGroup> grouped(const Table& t, const char* column, const char* label) {
  std::map<std::int64_t, std::vector<double>> values;
  for (std::size_t r = 0; r < t.rows(); ++r)
    if (const Value key = t.at(r, column); key.kind == CellKind::kInt)
      values[key.i].push_back(t.at(r, "time_diff_us").number());
  std::vector<PlotGroup> out;
  for (auto& [key, list] : values)
    out.push_back({fmt::format(fmt::runtime(label), key), std::move(list)});
  return out;
}

PlotSpec box(const Table& t, const char* column, const char* label, const char* x_label,
             const std::string& title, double width) {
  PlotPanel p;
  p.x_label = x_label;
  p.y_label = "Time Difference (us)";
  p.groups = grouped(t, column, label);
  return {title, width, 6, {std::move(p)}};
}

} // namespace

Result<void> write_variance_plots(const Table& t, const std::string& folder, bool svg) {
  RS_CHECK(make_folder(folder));
  const std::string top =
      fmt::format(" (top {} of each rank)", t.name().substr(3, t.name().find('_') - 3));
  std::map<std::string, PlotSpec> plots;
  plots["variance_by_threads_boxplot"] = box(t, "threads", "{} threads", "Thread Configuration",
                                             "GEMM Kernel Time Variance by Thread Count" + top, 10);
  plots["variance_by_channels_boxplot"] =
      box(t, "channel", "{}ch", "Channel Configuration",
          "GEMM Kernel Time Variance by Channel Count" + top, 12);
  plots["variance_by_ranks_boxplot"] =
      box(t, "rank", "Rank {}", "Rank", "GEMM Kernel Time Variance by Rank" + top, 14);
  PlotSpec violin{"GEMM Kernel Time Variance Distribution" + top, 20, 6, {}};
  const std::tuple<const char*, const char*, const char*> panels[] = {
      {"threads", "{}t", "Threads"}, {"channel", "{}ch", "Channels"}, {"rank", "R{}", "Ranks"}};
  for (const auto& [column, label, title] : panels) {
    PlotPanel p;
    p.kind = PlotPanel::Kind::kViolin;
    p.title = title;
    p.y_label = "Time Difference (us)";
    p.groups = grouped(t, column, label);
    if (!p.groups.empty())
      violin.panels.push_back(std::move(p));
  }
  plots["variance_violin_combined"] = std::move(violin);

  PlotPanel lines;
  lines.kind = PlotPanel::Kind::kLines;
  lines.x_label = "Channels";
  lines.y_label = "Mean Time Difference (us)";
  std::map<std::int64_t, std::map<std::int64_t, std::pair<double, int>>> mean;
  for (std::size_t r = 0; r < t.rows(); ++r) {
    const Value threads = t.at(r, "threads");
    const Value channel = t.at(r, "channel");
    if (threads.kind != CellKind::kInt || channel.kind != CellKind::kInt)
      continue;
    auto& [sum, n] = mean[threads.i][channel.i];
    sum += t.at(r, "time_diff_us").number();
    ++n;
  }
  for (const auto& [threads, by_channel] : mean) {
    PlotLine line;
    line.label = fmt::format("{} threads", threads);
    for (const auto& [channel, sum] : by_channel)
      line.points.emplace_back(static_cast<double>(channel), sum.first / sum.second);
    lines.lines.push_back(std::move(line));
  }
  plots["variance_thread_channel_interaction"] =
      PlotSpec{"GEMM Kernel Time Variance: Threads and Channels" + top, 12, 7, {std::move(lines)}};

  for (const auto& [name, spec] : plots) {
    // a sweep without that dimension has no such plot
    if (spec.panels.empty() || (spec.panels[0].groups.empty() && spec.panels[0].lines.empty()))
      continue;
    RS_CHECK(write_plot(spec, folder + "/" + name + ".png"));
    if (svg)
      RS_CHECK(write_plot(spec, folder + "/" + name + ".svg"));
  }
  return {};
}

} // namespace rankscope
