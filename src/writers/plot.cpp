#include "writers/plot.h"

#include "os/output_file.h"
#include "os/process.h"
#include "writers/plot_panels.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>

namespace rankscope {
namespace {

/// One gnuplot process that draws all the plots of its script. The script comes from a file in
/// memory, read as a file: what comes on its standard input gnuplot reads byte by byte.
Result<Process> start_gnuplot(std::string script, const std::string& path) {
  ProcessSpec spec;
  spec.argv = {"gnuplot", "/dev/stdin"};
  spec.input = std::move(script);
  spec.out = Stream::kOurError;
  Result<Process> child = Process::start(std::move(spec));
  if (!child && child.error().code == ErrorCode::kMissingTool)
    return Error{ErrorCode::kMissingTool, path, "gnuplot is not installed",
                 "install gnuplot-nox to get plots"};
  return child;
}

Result<void> finish_gnuplot(Process& gnuplot, const std::string& path) {
  RS_TRY(const ProcessEnd end, gnuplot.wait());
  if (!end.ok())
    return Error{end.exit_code == 127 ? ErrorCode::kMissingTool : ErrorCode::kOutput, path,
                 "gnuplot failed to draw the plot", ""};
  return {};
}

/// Whether a legend stands above a panel: the title of all panels leaves a line for it.
bool any_legend(const PlotSpec& spec) {
  return std::any_of(spec.panels.begin(), spec.panels.end(), [](const PlotPanel& panel) {
    return !panel.groups.empty() || !panel.lines.empty() ||
           (panel.kind != PlotPanel::Kind::kHeatMap && panel.series.size() > 1);
  });
}

} // namespace

Result<Drawing> Drawing::begin(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                               unsigned processes) {
  Drawing drawing;
  const std::size_t parts =
      std::clamp<std::size_t>(processes, 1, std::max<std::size_t>(1, plots.size()));
  std::vector<std::string> scripts(parts);
  std::vector<std::string> firsts(parts);
  // the largest picture first, each to the process with the least to draw; SVG costs next to
  // nothing
  std::vector<std::size_t> order(plots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto cost = [&](std::size_t n) {
    const auto& [path, spec] = plots[n];
    return path.size() > 4 && path.compare(path.size() - 4, 4, ".svg") == 0
               ? 1.0
               : spec.width_in * spec.height_in * 100;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost(a) > cost(b); });
  std::vector<double> load(parts, 0.0);
  for (const std::size_t n : order) {
    const auto& [path, spec] = plots[n];
    const auto part = static_cast<std::size_t>(
        std::distance(load.begin(), std::min_element(load.begin(), load.end())));
    load[part] += cost(n);
    RS_TRY(auto temp, TempName::reserve(path));
    const bool svg = path.size() > 4 && path.compare(path.size() - 4, 4, ".svg") == 0;
    std::string body =
        svg ? fmt::format("set terminal svg size {},{} font 'DejaVu Sans,14' background rgb "
                          "'white' noenhanced\nS=0.35\n", // S: sizes of points and lines
                          spec.width_in * 90, spec.height_in * 90)
            // gd's picture of 256 colours takes a quarter of the time of Cairo's; nothing here is
            // translucent
            : fmt::format(
                  "if (strstrt(GPVAL_TERMINALS, ' png ') > 0) {{ set terminal png size {0},{1} "
                  "font 'DejaVuSans,12' fontscale 3.2 noenhanced }} else {{ set terminal "
                  "pngcairo size {0},{1} font 'DejaVu Sans,12' fontscale 3.2 noenhanced }}\n"
                  "S=1\n",
                  spec.width_in * 300, spec.height_in * 300);
    body += "set output " + gnuplot_quoted(temp.temp_path()) + "\n";
    std::string data;
    const bool several = spec.panels.size() > 1;
    const std::size_t columns = spec.columns > 0 ? spec.columns : spec.panels.size();
    if (several)
      body += fmt::format("set multiplot layout {},{} title {}\n",
                          (spec.panels.size() + columns - 1) / columns, columns,
                          gnuplot_quoted(spec.title + (any_legend(spec) ? "\n" : "")));
    for (std::size_t i = 0; i < spec.panels.size(); ++i)
      panel_script(
          spec.panels[i], several ? spec.panels[i].title : spec.title, fmt::format("{}x{}", n, i),
          spec.width_in / static_cast<double>(std::max<std::size_t>(1, columns)), data, body);
    body += several ? "unset multiplot\nunset output\n" : "unset output\n";
    scripts[part] += data + body;
    if (firsts[part].empty())
      firsts[part] = path;
    drawing.names_.push_back(std::move(temp));
  }
  for (std::size_t p = 0; p < parts && !plots.empty(); ++p) {
    RS_TRY(Process started, start_gnuplot(std::move(scripts[p]), firsts[p]));
    drawing.running_.emplace_back(std::move(started), firsts[p]);
  }
  return drawing;
}

Result<void> Drawing::finish() {
  std::optional<Error> failed;
  for (auto& [gnuplot, path] : running_)
    if (Result<void> finished = finish_gnuplot(gnuplot, path); !finished)
      failed = finished.error();
  running_.clear();
  if (failed)
    return *failed;
  for (const TempName& name : names_) { // gnuplot may end well without having drawn
    std::error_code ec;
    const auto bytes = std::filesystem::file_size(name.temp_path(), ec);
    if (ec || bytes == 0)
      return Error{ErrorCode::kOutput, name.path(), "gnuplot ended without drawing the plot",
                   "see whether it knows the terminals png and svg"};
  }
  for (TempName& name : names_)
    RS_CHECK(name.commit());
  names_.clear();
  return {};
}

Result<void> write_plots(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                         unsigned processes) {
  RS_TRY(Drawing drawing, Drawing::begin(plots, processes));
  return drawing.finish();
}

} // namespace rankscope
