// rankscope html SWEEP1 [SWEEP2...]: analysed sweeps side by side on one self-contained page.
#include "app/sweep_pages.h"
#include "app/written_files.h"
#include "cli/command.h"
#include "cli/parts_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>
#include <set>

namespace rankscope {
namespace {

struct HtmlFlags {
  std::vector<std::string> sweeps;
  std::vector<std::string> labels;
  std::string sweep1, sweep2, label1, label2; ///< the flags of the older script
  std::string output;
};

Result<void> run_html(Context& ctx, const HtmlFlags& f) {
  std::vector<std::string> folders = f.sweeps;
  std::vector<std::string> labels = f.labels;
  for (const auto& [sweep, label] : {std::pair(f.sweep1, f.label1), std::pair(f.sweep2, f.label2)})
    if (!sweep.empty()) {
      folders.push_back(sweep);
      if (!f.label1.empty() || !f.label2.empty())
        labels.push_back(label.empty() ? sweep : label);
    }
  if (folders.empty())
    return Error{ErrorCode::kUsage, "", "expected one or more analysed sweeps", ""};
  if (!labels.empty() && labels.size() != folders.size())
    return Error{ErrorCode::kUsage, "", "expected one --label for each sweep", ""};
  std::vector<AnalysedFolder> sweeps;
  std::set<std::string> used;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string name = !labels.empty() ? labels[i] : leaf_name(folders[i]);
    std::string label = name;
    for (int n = 2; !used.insert(label).second; ++n)
      label = fmt::format("{} ({})", name, n);
    sweeps.push_back({folders[i], label});
  }
  const std::string output = f.output.empty() ? "sweep_comparison_report.html" : f.output;
  RS_CHECK(write_analysed_page(ctx, sweeps, output));
  if (ctx.json)
    ctx.out(json_text(written_files("html", {output})));
  ctx.note(fmt::format("{}: {} sweeps", output, sweeps.size()));
  return {};
}

Action setup_html(FlagSet& app) {
  auto f = std::make_shared<HtmlFlags>();
  app.add_option("SWEEP", f->sweeps, "sweeps that rankscope analyze has processed, or its outputs");
  app.add(options::output, f->output, "HTML file (default: sweep_comparison_report.html)");
  app.add(options::label, f->labels, "name of each sweep, in order");
  app.add_option("--sweep1", f->sweep1, "same as the first SWEEP");
  app.add(options::sweep2, f->sweep2, "same as the second SWEEP");
  app.add(options::label1, f->label1, "name of --sweep1");
  app.add(options::label2, f->label2);
  return {[f](Context& ctx) { return run_html(ctx, *f); },
          [f](const Context&) -> Result<std::vector<PartialRequest>> {
            std::vector<PartialRequest> out;
            for (std::string& sweep : f->sweeps)
              out.push_back(run_of_ranks("html", sweep, {}));
            for (std::string* const sweep : {&f->sweep1, &f->sweep2})
              if (!sweep->empty())
                out.push_back(run_of_ranks("html", *sweep, {}));
            return out;
          }};
}

} // namespace

const Command html_command{"html", "show analyzed sweeps side by side on one HTML page",
                           "  rankscope html sweep1 sweep2 -o compare.html\n"
                           "  rankscope html a b -o c.html --label before --label after",
                           setup_html};

} // namespace rankscope
