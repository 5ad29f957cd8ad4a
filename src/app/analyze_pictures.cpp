#include "app/analyze_pictures.h"

#include "base/fnv.h"
#include "os/output_file.h"
#include "pages/sweep_page.h"
#include "pages/variance_plots.h"

#include <filesystem>
#include <fmt/format.h>

namespace rankscope {

namespace fs = std::filesystem;

SweepPlots::SweepPlots(const AnalyzeRequest& request, AnalyzedSweep& sweep)
    : request_(request), sweep_(sweep) {}

/// Returns the path of a marker file that exists if the plots show these inputs and options.
std::string SweepPlots::mark() const {
  std::string all =
      fmt::format("{} svg={} label={}\n", options_text(request_), request_.svg, request_.label);
  for (const RunPlan& plan : sweep_.plans)
    all += fingerprint_of(plan, "").text;
  return request_.layout.state_folder() + "/pictures_" + fnv64_hex(all);
}

void SweepPlots::start(Session& ctx) {
  const OutputLayout& layout = request_.layout;
  std::error_code ec;
  if (sweep_.redone == 0 && fs::exists(layout.page(), ec) && fs::exists(layout.plots(), ec) &&
      fs::exists(mark(), ec))
    return;
  wanted_ = true;
  // remove markers first: an interrupted run must not leave a marker next to incomplete plots
  for (fs::directory_iterator it(layout.state_folder(), ec), end; !ec && it != end;
       it.increment(ec))
    if (it->path().filename().string().rfind("pictures_", 0) == 0)
      fs::remove(it->path(), ec);
  const VarianceData variance = variance_data(sweep_.facts.gemms, request_.top_k);
  if (!variance.points.empty())
    drawing_ = begin_variance_plots(variance, layout.plots(), request_.svg, &ctx.pool());
}

Result<void> SweepPlots::finish(Session& ctx) {
  if (drawing_) {
    const Result<void> drawn = *drawing_ ? (*drawing_)->finish() : drawing_->error();
    if (!drawn) {
      if (drawn.error().code != ErrorCode::kMissingTool)
        return drawn;
      ctx.warn(drawn.error().message());
      ctx.partial = true;
    }
  }
  const OutputLayout& layout = request_.layout;
  if (wanted_) {
    RS_CHECK(write_sweep_page({{request_.label, layout.folder(), &sweep_.facts}}, layout.page()));
    if (!ctx.partial) {
      RS_CHECK(make_folder(layout.state_folder()));
      RS_TRY(auto file, OutputFile::create(mark()));
      RS_CHECK(file.commit());
    }
  }
  sweep_.outputs.push_back(layout.page());
  std::error_code ec;
  for (fs::directory_iterator it(layout.plots(), ec), end; !ec && it != end; it.increment(ec))
    sweep_.outputs.push_back(it->path().string());
  return {};
}

} // namespace rankscope
