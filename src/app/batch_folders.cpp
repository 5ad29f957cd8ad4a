#include "app/batch_folders.h"

#include "base/counters.h"
#include "base/sort.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <regex>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Lists the regular files with the extension below a folder, sorted. Visits each folder once, even
/// if several links point to it.
class Walk {
public:
  Walk(const BatchSearch& search, Diagnostics& diag) : search_(search), diag_(diag) {}

  std::vector<std::string> operator()() {
    std::error_code ec;
    if (fs::is_directory(search_.base, ec))
      folder(search_.base);
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }
  [[nodiscard]] std::size_t filtered() const { return filtered_; }
  [[nodiscard]] std::size_t other_files() const { return other_; }

private:
  void folder(const fs::path& path) {
    std::error_code ec;
    const fs::path real = fs::canonical(path, ec);
    if (ec || !seen_.insert(real.string()).second)
      return;
    fs::directory_iterator it(path, ec);
    if (ec) {
      diag_.add(counters::batch_folder_unreadable(ec.message()), path.string());
      return;
    }
    for (; it != fs::directory_iterator(); it.increment(ec)) {
      if (ec)
        break;
      const fs::path& entry = it->path();
      if (entry.filename().string().starts_with("."))
        continue;
      std::error_code kind;
      if (it->is_directory(kind))
        folder(entry);
      else if (!kind && it->is_regular_file(kind))
        file(entry.string());
    }
  }

  void file(const std::string& path) {
    const std::string end = "." + search_.extension;
    if (!path.ends_with(end)) {
      other_ += path.ends_with(search_.extension == "gz" ? ".json" : ".json.gz") ? 1 : 0;
      return;
    }
    for (const std::string& text : search_.filters)
      if (path.find(text) == std::string::npos) {
        ++filtered_;
        return;
      }
    if (search_.extension == "gz" && !path.ends_with(".json.gz"))
      diag_.add(counters::unknown_file_type(), path);
    else
      found_.push_back(path);
  }

  const BatchSearch& search_;
  Diagnostics& diag_;
  std::set<std::string> seen_;
  std::vector<std::string> found_;
  std::size_t filtered_ = 0, other_ = 0;
};

/// Reads the number after the pattern in a file name.
class RankOf {
public:
  static Result<RankOf> make(const std::string& pattern) {
    RankOf out;
    try {
      // the number is the last group, however many groups the pattern has
      out.regex_ = std::regex("(?:" + pattern + ")([0-9]+)");
      out.group_ = out.regex_.mark_count();
    } catch (const std::regex_error& e) {
      return Error{ErrorCode::kUsage, "--rank-pattern",
                   fmt::format("'{}' is not a regular expression ({})", pattern, e.what()),
                   "the expression matches the text before the rank number: rank_ finds 3 in "
                   "trace_rank_3.json"};
    }
    return out;
  }
  [[nodiscard]] std::optional<std::int64_t> operator()(const std::string& name) const {
    std::smatch match;
    try {
      if (!std::regex_search(name, match, regex_))
        return std::nullopt;
    } catch (const std::regex_error&) { // the pattern needs too much work
      return std::nullopt;
    }
    const std::string digits = match[group_].str();
    constexpr std::size_t kMostDigits = 18;
    return digits.size() > kMostDigits ? std::nullopt
                                       : std::optional<std::int64_t>(std::stoll(digits));
  }

private:
  std::regex regex_;
  std::size_t group_ = 1;
};

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string out;
  for (const std::string& text : texts)
    out += (out.empty() ? "" : between) + text;
  return out;
}

/// Returns FOLDER/NAME_FILTERS_performance_report.xlsx. A filter may contain folder names, but the
/// file name may not.
std::string default_output(const std::string& folder, const std::vector<std::string>& filters) {
  std::string tail = joined(filters, "_");
  std::replace(tail.begin(), tail.end(), '/', '_');
  const fs::path path(folder);
  return (path / fmt::format("{}_{}_performance_report.xlsx", path.filename().string(), tail))
      .string();
}

std::string absolute_folder(const std::string& file) {
  std::error_code ec;
  const fs::path path = fs::absolute(file, ec).lexically_normal();
  return (ec ? fs::path(file) : path).parent_path().string();
}

/// Checks that ranks have no gap and no duplicate; else sets the folder's error.
void check_ranks(BatchFolder& folder, const BatchSearch& search) {
  const std::vector<RankFile>& ranks = folder.plan.ranks;
  std::size_t gaps = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].rank == ranks[i - 1].rank) {
      folder.error =
          Error{ErrorCode::kUnreadable, folder.plan.folder,
                fmt::format("two traces of rank {}: {} and {}", ranks[i].rank,
                            fs::path(ranks[i - 1].path).filename().string(),
                            fs::path(ranks[i].path).filename().string()),
                "add to --filter a text that only one of the paths contains, such as the step"};
      return;
    }
    gaps += static_cast<std::size_t>(ranks[i].rank - ranks[i - 1].rank - 1);
  }
  if (gaps > 0)
    folder.notes.push_back(fmt::format("{} ranks between {} and {} have no trace", gaps,
                                       ranks.front().rank, ranks.back().rank));
  for (const std::string& text : search.filters) // "rank_1" also selects rank_10
    if (!text.empty() && text.back() >= '0' && text.back() <= '9')
      for (const RankFile& file : ranks)
        if (const std::size_t at = file.path.rfind(text); at + text.size() < file.path.size() &&
                                                          file.path[at + text.size()] >= '0' &&
                                                          file.path[at + text.size()] <= '9') {
          folder.notes.push_back(
              fmt::format("the filter {} also selects {}, because filters are plain texts", text,
                          fs::path(file.path).filename().string()));
          break;
        }
}

Error nothing_found(const BatchSearch& search, const Walk& walk) {
  std::error_code ec;
  std::string hint;
  if (!fs::is_directory(search.base, ec))
    hint = "there is no such folder";
  else if (walk.filtered() > 0)
    hint = fmt::format("{} {} files exist, but no path contains all of these texts: {}",
                       walk.filtered(), search.extension, joined(search.filters, ", "));
  else if (walk.other_files() > 0)
    hint = fmt::format("{} {} files exist: use --extension {}", walk.other_files(),
                       search.extension == "gz" ? "json" : "json.gz",
                       search.extension == "gz" ? "json" : "gz");
  return {ErrorCode::kUnreadable, search.base,
          fmt::format("no {} files found, check filters and filepaths", search.extension), hint};
}

/// Returns a run per folder, sorted by path, with ranks ascending. A run has no ranks if no file
/// name contains a number.
Result<std::vector<RunPlan>> plans_below(const BatchSearch& search, Diagnostics& diag) {
  if (search.extension != "json" && search.extension != "gz")
    return Error{ErrorCode::kUsage, "--extension",
                 fmt::format("invalid extension {}, json and gz are supported", search.extension),
                 ""};
  RS_TRY(const RankOf rank_of, RankOf::make(search.pattern));
  Walk walk(search, diag);
  const std::vector<std::string> files = walk();
  if (files.empty())
    return nothing_found(search, walk);
  std::map<std::string, RunPlan> folders;
  for (const std::string& path : files) {
    RunPlan& plan = folders[absolute_folder(path)];
    const auto rank = rank_of(fs::path(path).filename().string());
    if (!rank) {
      diag.add(counters::no_rank(search.pattern), path);
      continue;
    }
    std::error_code ec;
    const auto bytes = fs::file_size(path, ec);
    plan.ranks.push_back({*rank, path, ec ? 0 : bytes});
  }
  std::vector<RunPlan> out;
  for (auto& [path, plan] : folders) {
    plan.folder = path;
    plan.configuration.label = fs::path(path).filename().string();
    sort_stably(plan.ranks, {}, &RankFile::rank);
    out.push_back(std::move(plan));
  }
  return out;
}

} // namespace

Result<std::vector<BatchFolder>> find_batch_folders(Session& session, const BatchSearch& search) {
  Result<std::vector<RunPlan>> folders =
      session.source != nullptr ? session.source->sweep({search.base}, false, session.diagnostics)
                                : plans_below(search, session.diagnostics);
  if (!folders)
    return folders.error();
  if (folders->size() > 1 && !search.output.empty())
    return Error{ErrorCode::kUsage, "--output",
                 fmt::format("{} folders with traces found, but one output file can contain the "
                             "report of only one folder",
                             folders->size()),
                 "give a more specific base path or filter, or omit --output"};
  std::vector<BatchFolder> out;
  for (RunPlan& plan : *folders) {
    BatchFolder folder{std::move(plan), "", {}, {}};
    const std::string& path = folder.plan.folder;
    folder.output = search.output.empty() ? default_output(path, search.filters) : search.output;
    if (folder.plan.ranks.empty())
      folder.error =
          Error{ErrorCode::kUnreadable, path,
                fmt::format("no trace name has a rank number after '{}'", search.pattern),
                "set --rank-pattern to the text before the number"};
    check_ranks(folder, search);
    out.push_back(std::move(folder));
  }
  return out;
}

} // namespace rankscope
