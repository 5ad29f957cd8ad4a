#include "writers/plot.h"

#include "os/library_memory.h"
#include "os/output_file.h"
#include "os/process.h"
#include "writers/plot_panels.h"
#include "writers/plots/cairo_canvas.h"
#include "writers/plots/draw_panel.h"
#include "writers/plots/svg_canvas.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <numeric>

namespace rankscope {
namespace {

constexpr double kDotsPerInch = 300;

/// One gnuplot process that draws all the plots of its script. The script comes from a file in
/// memory, read as a file: what comes on its standard input gnuplot reads byte by byte.
Result<Process> start_gnuplot(std::string script, const std::string& path) {
  ProcessSpec spec;
  spec.argv = {"gnuplot", "-d", "/dev/stdin"}; // -d: skip the user's ~/.gnuplot
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
    return panel.kind != PlotPanel::Kind::kHeatMap && panel.series.size() > 1;
  });
}

bool is_svg(const std::string& path) {
  return path.ends_with(".svg");
}

/// The commands that draw one plot into `output`; its data blocks are named after `n`.
std::string plot_script(const PlotSpec& spec, bool svg, const std::string& output, std::size_t n) {
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
                spec.width_in * kDotsPerInch, spec.height_in * kDotsPerInch);
  body += "set output " + gnuplot_quoted(output) + "\n";
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
  return data + body + (several ? "unset multiplot\nunset output\n" : "unset output\n");
}

/// The bytes of a plot that is drawn here.
Result<std::string> drawn(const PlotSpec& spec, bool svg) {
  if (svg) {
    SvgCanvas canvas(spec.width_in, spec.height_in);
    draw_plot(spec, canvas);
    return std::move(canvas).svg();
  }
  constexpr double kFonts = 64 << 20; // bytes of fontconfig's and Cairo's tables
  constexpr double kPixel = 4 * kDotsPerInch * kDotsPerInch;
  RS_TRY(const LibraryMemory claimed,
         LibraryMemory::claim(
             static_cast<std::size_t>(kFonts + spec.width_in * spec.height_in * kPixel), ""));
  RS_TRY(const auto canvas, CairoCanvas::create(spec.width_in, spec.height_in, kDotsPerInch));
  draw_plot(spec, *canvas);
  return canvas->png();
}

} // namespace

/// Plots of this process: their files stay beside the tasks that write into them.
struct Drawing::Own {
  explicit Own(TaskPool* pool) : tasks(pool) {}
  std::deque<OutputFile> files;
  std::mutex mutex;
  std::optional<Error> failed; ///< of a task, under the mutex
  TaskGroup tasks;             ///< last: its end waits for those who use the files
};

Drawing::Drawing() = default;
Drawing::Drawing(Drawing&& other) noexcept = default;
Drawing& Drawing::operator=(Drawing&& other) noexcept = default;
Drawing::~Drawing() = default;

Result<void> Drawing::begin_own(const std::string& path, const PlotSpec& spec) {
  RS_TRY(auto file, OutputFile::create(path));
  OutputFile& to = own_->files.emplace_back(std::move(file));
  own_->tasks.run([this_own = own_.get(), &to, spec, path] {
    const Result<std::string> bytes = drawn(spec, is_svg(path));
    if (bytes)
      return to.write(*bytes);
    const std::lock_guard lock(this_own->mutex);
    const Error& error = bytes.error();
    this_own->failed = Error{error.code, path, error.what, error.hint};
  });
  return {};
}

Result<void> Drawing::begin_gnuplot(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                                    unsigned processes) {
  const std::size_t parts = std::clamp<std::size_t>(processes, 1, plots.size());
  std::vector<std::string> scripts(parts);
  std::vector<std::string> firsts(parts);
  // the largest picture first, each to the process with the least to draw; SVG costs next to
  // nothing
  std::vector<std::size_t> order(plots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto cost = [&](std::size_t n) {
    const auto& [path, spec] = plots[n];
    return is_svg(path) ? 1.0 : spec.width_in * spec.height_in * 100;
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
    scripts[part] += plot_script(spec, is_svg(path), temp.temp_path(), n);
    if (firsts[part].empty())
      firsts[part] = path;
    names_.push_back(std::move(temp));
  }
  for (std::size_t p = 0; p < parts; ++p) {
    RS_TRY(Process started, start_gnuplot(std::move(scripts[p]), firsts[p]));
    running_.emplace_back(std::move(started), firsts[p]);
  }
  return {};
}

Result<Drawing> Drawing::begin(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                               TaskPool* pool, unsigned processes) {
  Drawing drawing;
  drawing.own_ = std::make_unique<Own>(pool);
  std::vector<std::pair<std::string, PlotSpec>> others;
  for (const auto& plot : plots)
    if (!drawn_here(plot.second))
      others.push_back(plot);
  if (!others.empty())
    RS_CHECK(drawing.begin_gnuplot(others, processes));
  for (const auto& [path, spec] : plots)
    if (drawn_here(spec))
      RS_CHECK(drawing.begin_own(path, spec));
  return drawing;
}

Result<void> Drawing::finish() {
  std::optional<Error> failed;
  if (const Result<void> drawn = own_->tasks.wait(); !drawn)
    failed = drawn.error();
  if (own_->failed)
    failed = own_->failed;
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
  for (OutputFile& file : own_->files)
    RS_CHECK(file.commit());
  own_->files.clear();
  return {};
}

Result<void> write_plots(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                         TaskPool* pool) {
  RS_TRY(Drawing drawing, Drawing::begin(plots, pool));
  return drawing.finish();
}

} // namespace rankscope
