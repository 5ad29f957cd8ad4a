#include "core/output_layout.h"

#include "base/fnv.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <tuple>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr std::string_view kIndividual = "individual_reports";
constexpr std::string_view kCollective = "collective_reports";
constexpr std::string_view kAllRanks = "collective_all_ranks.xlsx";
constexpr std::string_view kMaster = "nccl_master_all_configs";

std::string with_underscores(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

/// Removes `literal` from the start of the text. Returns false if the text does not start with it.
bool take(std::string_view& text, std::string_view literal) {
  if (text.substr(0, literal.size()) != literal)
    return false;
  text.remove_prefix(literal.size());
  return true;
}

/// Removes a number of one to nine digits from the start of the text, and returns it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t v = 0;
  std::size_t n = 0;
  for (; n < text.size() && std::isdigit(static_cast<unsigned char>(text[n])) != 0; ++n)
    if (n == 9)
      return std::nullopt;
    else
      v = v * 10 + (text[n] - '0');
  if (n == 0)
    return std::nullopt;
  text.remove_prefix(n);
  return v;
}

/// Returns T if the name is "<T>thread".
std::optional<std::int64_t> threads_of_folder(std::string_view name) {
  const auto threads = take_number(name);
  return threads && name == "thread" ? threads : std::nullopt;
}

/// Returns C and r if the name is perf_<C>ch_rank<r> or perf_<C>ch_rank_<r>, alone or followed by
/// .xlsx or _csv.
std::optional<std::pair<std::int64_t, std::int64_t>> channels_and_rank_of(std::string_view name) {
  if (!take(name, "perf_"))
    return std::nullopt;
  const auto channels = take_number(name);
  if (!channels || !take(name, "ch_rank"))
    return std::nullopt;
  take(name, "_");
  const auto rank = take_number(name);
  if (!rank || (!name.empty() && name != ".xlsx" && name != "_csv"))
    return std::nullopt;
  return std::pair(*channels, *rank);
}

/// Returns the workbooks and subfolders in `folder`, sorted by path.
std::vector<std::string> workbooks_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".xlsx" || it->is_directory(ec))
      out.push_back(it->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string_view gemm_tail(GemmTable table) {
  switch (table) {
  case GemmTable::kVariance:
    return "_gemm_kernels_time_variance";
  case GemmTable::kTimestamps:
    return "_gemm_kernels_time_variance_with_timestamps";
  case GemmTable::kOverlap:
    return "_gemm_kernels_time_variance_with_collective_overlap";
  }
  return {};
}

} // namespace

bool has_sweep_names(const Configuration& c) {
  return c.only({kThreads, kChannels}) && c.threads() && c.channels() &&
         c.label == fmt::format("{}thread_{}ch", *c.threads(), *c.channels());
}

std::string configuration_label(const Configuration& c, std::string_view folder) {
  if (c.only({kThreads, kChannels}) && c.threads() && c.channels())
    return fmt::format("{}thread_{}ch", *c.threads(), *c.channels());
  if (c.only({kThreads, kCus}) && c.threads() && c.cus())
    return fmt::format("{}cu_{}threads", *c.cus(), *c.threads());
  return with_underscores(folder);
}

std::string merged_trace_name(const Configuration& c) {
  return with_underscores(c.label.empty() ? "run" : c.label) + "_merged.json";
}

std::string gemm_table_name(std::size_t top_k, GemmTable table) {
  return fmt::format("top{}{}", top_k, gemm_tail(table));
}

std::optional<std::int64_t> rank_in_name(std::string_view name) {
  const std::size_t at = name.rfind("rank");
  if (at == std::string_view::npos)
    return std::nullopt;
  name.remove_prefix(at + 4);
  take(name, "_");
  name = name.substr(0, 9);
  return take_number(name);
}

std::string OutputLayout::base_of(const Configuration& c) const {
  if (has_sweep_names(c))
    return fmt::format("{}/{}thread", folder_, *c.threads());
  return c.label.empty() ? folder_ : folder_ + "/" + c.label;
}

std::string OutputLayout::individual_folder(const Configuration& c) const {
  return fmt::format("{}/{}", base_of(c), kIndividual);
}

std::string OutputLayout::collective_folder(const Configuration& c) const {
  return fmt::format("{}/{}", base_of(c), kCollective);
}

std::string OutputLayout::individual_report(const RunKey& key) const {
  const Configuration& c = key.configuration;
  if (has_sweep_names(c))
    return fmt::format("{}/perf_{}ch_rank{}.xlsx", individual_folder(c), *c.channels(), key.rank);
  return fmt::format("{}/perf_rank{}.xlsx", individual_folder(c), key.rank);
}

std::string OutputLayout::collective_report(const Configuration& c) const {
  if (has_sweep_names(c))
    return fmt::format("{}/collective_{}ch.xlsx", collective_folder(c), *c.channels());
  return fmt::format("{}/{}", collective_folder(c), kAllRanks);
}

std::string OutputLayout::state(const Configuration& c) const {
  std::string name;
  for (const char ch : c.label)
    name += std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '-' ? ch : '_';
  return fmt::format("{}/{}_{}.part", state_folder(), name.substr(0, 80), fnv64_hex(c.label));
}

std::string OutputLayout::comparison(std::int64_t channels, std::int64_t rank) const {
  return fmt::format("{}/compare_{}ch_rank{}_across_threads.xlsx", comparisons(), channels, rank);
}

std::string OutputLayout::timeline_all_configs(std::string_view aggregation) const {
  return fmt::format("{}/gpu_timeline_all_configs_{}.xlsx", folder_, aggregation);
}

std::string OutputLayout::gemm_csv(std::size_t top_k, GemmTable table) const {
  return fmt::format("{}/{}.csv", folder_, gemm_table_name(top_k, table));
}

std::string OutputLayout::nccl_master_workbook() const {
  return fmt::format("{}/{}.xlsx", folder_, kMaster);
}

std::string OutputLayout::nccl_master_csv() const {
  return fmt::format("{}/{}.csv", folder_, kMaster);
}

std::vector<SavedReport> OutputLayout::saved_sweep_reports() const {
  std::vector<SavedReport> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder_, ec), end; !ec && it != end; it.increment(ec)) {
    const auto threads = threads_of_folder(it->path().filename().string());
    if (!threads)
      continue;
    std::error_code inner;
    for (fs::directory_iterator at(it->path() / kIndividual, inner), stop; !inner && at != stop;
         at.increment(inner))
      if (const auto found = channels_and_rank_of(at->path().filename().string())) {
        SavedReport report;
        report.key.configuration.set(kThreads, *threads);
        report.key.configuration.set(kChannels, found->first);
        report.key.configuration.label = configuration_label(report.key.configuration, "");
        report.key.rank = found->second;
        report.path = at->path().string();
        out.push_back(std::move(report));
      }
  }
  std::sort(out.begin(), out.end(), [](const SavedReport& a, const SavedReport& b) {
    if (a.key.configuration != b.key.configuration)
      return ordered_before(a.key.configuration, b.key.configuration);
    return std::tie(a.key.rank, a.path) < std::tie(b.key.rank, b.path);
  });
  return out;
}

std::string OutputLayout::saved_folder(std::string_view name) const {
  std::error_code ec;
  for (const fs::path& base : {fs::path(folder_), fs::path(folder_) / kAnalysisFolder})
    if (fs::is_directory(base / name, ec))
      return (base / name).string();
  // a subfolder that is named after a configuration, if there is only one
  for (const fs::path& base : {fs::path(folder_), fs::path(folder_) / kAnalysisFolder}) {
    std::vector<std::string> found;
    for (fs::directory_iterator it(base, ec), end; !ec && it != end; it.increment(ec))
      if (fs::is_directory(it->path() / name, ec))
        found.push_back((it->path() / name).string());
    if (found.size() == 1)
      return found.front();
  }
  return {};
}

std::string OutputLayout::saved_individual_folder() const {
  return saved_folder(kIndividual);
}

std::string OutputLayout::saved_collective_folder() const {
  return saved_folder(kCollective);
}

std::vector<SavedReport> OutputLayout::saved_run_reports() const {
  std::vector<SavedReport> out;
  if (const std::string folder = saved_individual_folder(); !folder.empty())
    for (std::string& path : workbooks_in(folder))
      if (const auto rank = rank_in_name(fs::path(path).filename().string()))
        out.push_back({{{}, *rank}, std::move(path)});
  return out;
}

std::vector<std::string> OutputLayout::saved_collective_reports() const {
  const std::string folder = saved_collective_folder();
  return folder.empty() ? std::vector<std::string>{} : workbooks_in(folder);
}

std::string OutputLayout::saved_gemm_csv(GemmTable table) const {
  const std::string tail = fmt::format("{}.csv", gemm_tail(table));
  std::string first;
  std::error_code ec;
  for (fs::directory_iterator it(folder_, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    std::string_view rest = name;
    if (!take(rest, "top") || !take_number(rest) || rest != tail)
      continue;
    if (const std::string path = it->path().string(); first.empty() || path < first)
      first = path;
  }
  return first;
}

} // namespace rankscope
