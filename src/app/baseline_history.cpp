#include "app/baseline_history.h"

#include "app/baseline.h"
#include "app/compare.h"
#include "app/sweep_pages.h"
#include "base/counters.h"
#include "findings/history_findings.h"
#include "os/output_file.h"
#include "pages/data/history_data.h"
#include "pages/page_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns whether `a` precedes `b`: compares runs of digits by value, all other text by bytes.
bool before(std::string_view a, std::string_view b) {
  const std::string_view full_a = a;
  const std::string_view full_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const auto number = [](std::string_view& text) {
        std::size_t end = 0;
        while (end < text.size() && is_digit(text[end]))
          ++end;
        std::string_view digits = text.substr(0, end);
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
        text.remove_prefix(end);
        return digits;
      };
      const std::string_view x = number(a);
      const std::string_view y = number(b);
      if (x.size() != y.size())
        return x.size() < y.size();
      if (x != y)
        return x < y;
    } else {
      if (a.front() != b.front())
        return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : full_a < full_b; // for example 01 and 1
}

bool is_page(const std::string& file) {
  return file.ends_with(".html") || file.ends_with(".htm");
}

Result<void> write_history_page(const HistoryRequest& request, const HistoryResult& result,
                                const std::vector<std::string>& files, const std::string& path) {
  RS_TRY(OutputFile file, OutputFile::create(path));
  const std::string title =
      request.inputs.size() == 1 ? leaf_name(request.inputs.front()) : "history";
  const HistoryPageInput input{&result.history, title,           request.command,
                               result.notes,    result.findings, files};
  RS_TRY(const std::string text, page_text(title, history_page_data(input)));
  file.write(text);
  return file.commit();
}

} // namespace

Result<std::vector<std::string>> baseline_files(const std::vector<std::string>& inputs) {
  std::vector<std::string> out;
  for (const std::string& input : inputs) {
    std::error_code ec;
    if (!fs::is_directory(input, ec)) {
      out.push_back(input);
      continue;
    }
    std::vector<std::string> names;
    for (fs::directory_iterator it(input, ec), end; !ec && it != end; it.increment(ec))
      if (std::error_code aside; names_baseline(it->path().filename().string()) &&
                                 it->is_regular_file(aside)) // opening a pipe blocks
        names.push_back(it->path().filename().string());
    if (names.empty())
      return Error{ErrorCode::kUnreadable, input, "no saved baseline (*.rsb) in this folder",
                   "to make one: rankscope baseline save RUN -o " + input + "/NAME.rsb"};
    std::sort(names.begin(), names.end(), before);
    for (const std::string& name : names)
      out.push_back((fs::path(input) / name).string());
  }
  return out;
}

Result<HistoryResult> baseline_history(Session& session, const HistoryRequest& request) {
  ReportOutputs outputs = request.outputs;
  std::string page;
  if (is_page(outputs.file))
    page = std::exchange(outputs.file, "");
  RS_CHECK(check_outputs(outputs, Sheets::kSeveral));
  if (!page.empty())
    RS_CHECK(can_make_pages());
  RS_TRY(const std::vector<std::string> files, baseline_files(request.inputs));
  if (files.size() < 2)
    return Error{ErrorCode::kUsage, "baseline history", "needs at least two saved baselines",
                 "rankscope baseline history FILE FILE ..., or a folder of them"};
  std::vector<std::string> labels = folder_names(files);
  std::vector<ComparedRun> runs;
  std::vector<WorkChange> work_changes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    RS_TRY(SavedBaseline saved, load_baseline(files[i]));
    if (!saved.complete)
      session.diagnostics.add(counters::baseline_partial(), files[i]);
    if (!saved.run.label.empty())
      labels[i] = std::move(saved.run.label);
    runs.push_back(std::move(saved.run));
    if (i == 0)
      continue;
    if (Comparability found = comparability(runs[i - 1], runs[i]); !found.same_work())
      work_changes.push_back({i, std::move(found.work)});
    runs[i - 1].work = {}; // a history needs the kernels of two runs at a time
  }
  labels = distinct_labels(std::move(labels));
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].label = labels[i];
  HistoryResult out;
  out.history = history_of(runs);
  out.history.work_changes = std::move(work_changes);
  out.notes = history_notes(runs, out.history);
  out.findings = history_findings(out.history);
  out.report = history_report(out.history);
  std::vector<Finding> all = out.notes;
  all.insert(all.end(), out.findings.begin(), out.findings.end());
  out.report.tables.insert(out.report.tables.begin() + 1, finding_schema().table(all));
  if (!outputs.file.empty() || !outputs.csv_dir.empty()) {
    RS_TRY(out.written, write_outputs(out.report, outputs));
  }
  if (!page.empty()) {
    RS_CHECK(write_history_page(request, out, files, page));
    out.written.push_back(page);
  }
  return out;
}

} // namespace rankscope
