// rankscope html SWEEP1 SWEEP2...: analysed sweeps side by side on one self-contained page.
#include "base/output_file.h"
#include "cli/command.h"
#include "readers/csv_rows.h"
#include "writers/html_report.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <memory>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> sweeps;
  std::vector<std::string> labels;
  std::string output;
};

Result<std::string> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad())
    return Error{ErrorCode::kUnreadable, path, "cannot read this file",
                 "run rankscope analyze on the sweep first"};
  return bytes;
}

/// Adds column `name` of one sweep's configurations to the section, joined by configuration.
Result<void> add_series(HtmlSection& section, const std::vector<CsvRow>& rows,
                        const std::string& name, std::size_t series, std::size_t count,
                        const std::string& path) {
  const auto head = std::find(rows.front().begin(), rows.front().end(), name);
  if (head == rows.front().end())
    return Error{ErrorCode::kUnreadable, path, fmt::format("no column \"{}\"", name), ""};
  const auto column = static_cast<std::size_t>(head - rows.front().begin());
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (column >= rows[r].size())
      return Error{ErrorCode::kUnreadable, path, "a row is shorter than the header", ""};
    auto row = std::find_if(section.rows.begin(), section.rows.end(),
                            [&](const HtmlRow& h) { return h.label == rows[r].front(); });
    if (row == section.rows.end())
      row = section.rows.insert(row, {rows[r].front(), std::vector<double>(count, NAN)});
    if (!rows[r][column].empty())
      row->values[series] = std::strtod(rows[r][column].c_str(), nullptr);
  }
  return {};
}

std::string best_sentence(const HtmlSection& section, std::size_t series,
                          const std::string& label) {
  const HtmlRow* best = nullptr;
  for (const HtmlRow& row : section.rows)
    if (!std::isnan(row.values[series]) &&
        (best == nullptr || row.values[series] < best->values[series]))
      best = &row;
  return best == nullptr ? fmt::format("{}: no {}", label, section.title)
                         : fmt::format("{}: lowest {} with {}, {:.3f} ms", label, section.title,
                                       best->label, best->values[series]);
}

Result<void> run(Context& ctx, const Flags& f) {
  if (f.sweeps.size() < 2)
    return Error{ErrorCode::kUsage, "", "expected two or more analysed sweeps", ""};
  if (!f.labels.empty() && f.labels.size() != f.sweeps.size())
    return Error{ErrorCode::kUsage, "", "expected one --label for each sweep", ""};
  RS_TRY(OutputFile out, OutputFile::create(f.output));
  HtmlReport report;
  report.title = "Sweep comparison";
  for (const char* name : {"total_time", "computation_time", "exposed_comm_time", "idle_time"}) {
    HtmlSection section;
    section.title = fmt::format("mean {}", name);
    section.unit = "ms";
    section.note = "Mean over ranks for each configuration. Differences are against the first "
                   "sweep; negative is faster.";
    report.sections.push_back(std::move(section));
  }
  for (std::size_t s = 0; s < f.sweeps.size(); ++s) {
    report.series.push_back(f.labels.empty() ? f.sweeps[s] : f.labels[s]);
    const std::string folder = f.sweeps[s] + "/tracelens_analysis";
    const std::string path = folder + "/summary_csv/configurations.csv";
    RS_TRY(const std::string text, bytes_of(path));
    const std::vector<CsvRow> rows = parse_csv(text);
    if (rows.size() < 2)
      return Error{ErrorCode::kUnreadable, path, "the table has no rows", ""};
    for (HtmlSection& section : report.sections)
      RS_CHECK(add_series(section, rows, section.title + " (ms)", s, f.sweeps.size(), path));
    std::vector<std::string> images;
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(folder + "/plots", ec))
      if (entry.path().extension() == ".png")
        images.push_back(entry.path().string());
    std::sort(images.begin(), images.end());
    for (const std::string& image : images) {
      RS_TRY(std::string png, bytes_of(image));
      report.images.push_back(
          {fmt::format("{}: {}", report.series[s], fs::path(image).stem().string()),
           std::move(png)});
    }
  }
  for (HtmlSection& section : report.sections) {
    std::sort(section.rows.begin(), section.rows.end(),
              [](const HtmlRow& a, const HtmlRow& b) { return a.label < b.label; });
    for (std::size_t s = 0; s < f.sweeps.size(); ++s)
      report.summary.push_back(best_sentence(section, s, report.series[s]));
  }
  out.write(html_page(report));
  RS_CHECK(out.commit());
  ctx.note(fmt::format("{}: {} sweeps, {} configurations", f.output, f.sweeps.size(),
                       report.sections.front().rows.size()));
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("SWEEP", f->sweeps, "sweeps that rankscope analyze has been run on")->required();
  app.add_option("-o,--output", f->output, "HTML file")->required();
  app.add_option("--label", f->labels, "name of each sweep, in order")->allow_extra_args(false);
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command html_command{"html", "analysed sweeps side by side on one HTML page",
                           "  rankscope html sweep1 sweep2 -o compare.html\n"
                           "  rankscope html a b -o c.html --label before --label after",
                           setup};

} // namespace rankscope
