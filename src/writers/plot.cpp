#include "writers/plot.h"

#include "os/library_memory.h"
#include "writers/plots/cairo_canvas.h"
#include "writers/plots/draw_panel.h"
#include "writers/plots/svg_canvas.h"

#include <deque>
#include <mutex>

namespace rankscope {
namespace {

constexpr double kDotsPerInch = 300;

bool is_svg(const std::string& path) {
  return path.ends_with(".svg");
}

/// Returns the content of the file of a plot.
Result<std::string> drawn(const PlotSpec& spec, bool svg) {
  if (svg)
    return plot_svg(spec);
  constexpr double kFonts = 64 << 20; // bytes for the tables of fontconfig and Cairo
  constexpr double kPixel = 4 * kDotsPerInch * kDotsPerInch;
  RS_TRY(const LibraryMemory claimed,
         LibraryMemory::claim(
             static_cast<std::size_t>(kFonts + spec.width_in * spec.height_in * kPixel), ""));
  RS_TRY(const auto canvas, CairoCanvas::create(spec.width_in, spec.height_in, kDotsPerInch));
  draw_plot(spec, *canvas);
  return canvas->png();
}

} // namespace

/// The files and the tasks that write them.
struct Drawing::State {
  explicit State(TaskPool* pool) : tasks(pool) {}
  std::deque<OutputFile> files;
  std::mutex mutex;
  std::optional<Error> failed; ///< first error of a task, protected by the mutex
  TaskGroup tasks;             ///< last member: its destructor waits for the tasks that use the
                               ///< files
};

Drawing::Drawing() = default;
Drawing::Drawing(Drawing&& other) noexcept = default;
Drawing& Drawing::operator=(Drawing&& other) noexcept = default;
Drawing::~Drawing() = default;

Result<void> Drawing::begin_one(const std::string& path, const PlotSpec& spec) {
  RS_TRY(auto file, OutputFile::create(path));
  OutputFile& to = state_->files.emplace_back(std::move(file));
  state_->tasks.run([state = state_.get(), &to, spec, path] {
    const Result<std::string> bytes = drawn(spec, is_svg(path));
    if (bytes)
      return to.write(*bytes);
    const std::lock_guard lock(state->mutex);
    const Error& error = bytes.error();
    state->failed = Error{error.code, path, error.what, error.hint};
  });
  return {};
}

Result<Drawing> Drawing::begin(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                               TaskPool* pool) {
  Drawing drawing;
  drawing.state_ = std::make_unique<State>(pool);
  for (const auto& [path, spec] : plots)
    RS_CHECK(drawing.begin_one(path, spec));
  return drawing;
}

Result<void> Drawing::finish() {
  RS_CHECK(state_->tasks.wait());
  if (state_->failed)
    return *state_->failed;
  for (OutputFile& file : state_->files)
    RS_CHECK(file.commit());
  state_->files.clear();
  return {};
}

std::string plot_svg(const PlotSpec& spec) {
  SvgCanvas canvas(spec.width_in, spec.height_in);
  draw_plot(spec, canvas);
  return std::move(canvas).svg();
}

} // namespace rankscope
