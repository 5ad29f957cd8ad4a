#include "app/page_links.h"

#include "base/percent_encoding.h"
#include "core/output_layout.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLinks = 200;

/// Encodes a path for a URL. A colon is encoded too, so that a folder name cannot look like a URL
/// scheme.
std::string encoded(const std::string& path) {
  return percent_encoded(path, [](char c) { return is_plain_in_names(c) || c == '~' || c == '/'; });
}

class Links {
public:
  explicit Links(const std::string& page) : page_(fs::absolute(page).lexically_normal()) {}

  void add(const std::string& label, const std::string& path) {
    std::error_code ec;
    const fs::path to = fs::absolute(path, ec).lexically_normal();
    if (links_.size() >= kMostLinks || to == page_ || !fs::is_regular_file(to, ec) ||
        !seen_.insert(to.string()).second)
      return;
    const std::string from_page = to.lexically_relative(page_.parent_path()).string();
    links_.push_back({label, encoded(from_page)});
  }
  [[nodiscard]] std::vector<PageLink> take() { return std::move(links_); }

private:
  fs::path page_;
  std::set<std::string> seen_;
  std::vector<PageLink> links_;
};

std::string link_label(const std::string& what, const Configuration& configuration) {
  return configuration.label.empty() ? what : what + " of " + configuration.label;
}

void add_merged(Links& links, const std::string& folder) {
  std::vector<fs::path> traces;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    traces.push_back(it->path());
  std::sort(traces.begin(), traces.end());
  for (const fs::path& trace : traces)
    links.add("merged trace " + trace.filename().string(), trace.string());
}

} // namespace

std::vector<PageLink> links_to_outputs(const std::string& folder, const std::string& page) {
  Links links(page);
  const std::string roots[] = {folder, folder + "/" + std::string(kAnalysisFolder)};
  bool sweep = false;
  for (const std::string& root : roots) {
    const OutputLayout layout(root);
    links.add("summary", layout.summary_workbook());
    links.add("report of the sweep", layout.page());
    links.add("collectives of all configurations", layout.nccl_master_workbook());
    const std::vector<SavedReport> ranks = layout.saved_sweep_reports();
    sweep = sweep || !ranks.empty();
    for (const SavedReport& report : ranks)
      links.add(link_label("collectives", report.key.configuration),
                layout.collective_report(report.key.configuration));
    add_merged(links, root + "/" + std::string(kMergedFolder));
    for (const SavedReport& report : ranks)
      links.add(link_label(fmt::format("rank {}", report.key.rank), report.key.configuration),
                report.path);
  }
  if (!sweep) { // a sweep already has these links
    const OutputLayout layout(folder);
    for (const std::string& report : layout.saved_collective_reports())
      links.add("collectives", report);
    for (const SavedReport& report : layout.saved_run_reports())
      links.add(fmt::format("rank {}", report.key.rank), report.path);
  }
  return links.take();
}

} // namespace rankscope
