#include "readers/discovery.h"

#include "base/counters.h"
#include "base/number_text.h"
#include "readers/folder_names.h"
#include "readers/foreign_format.h"
#include "readers/trace_files.h"
#include "readers/trace_windows.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <set>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// Returns the paths whose file name is `wanted`; all paths if no path has this name.
std::vector<std::string> with_name(std::vector<std::string> paths, const std::string& wanted) {
  std::vector<std::string> some;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(some), [&](const std::string& p) {
    const std::string name = base_name(p);
    return name == wanted || name == wanted + ".gz" || name == wanted + ".zst";
  });
  return some.empty() ? paths : some;
}

/// Returns whether the rank is in a folder name, not in the file name: ".../rank*/name".
bool rank_in_folder(const Candidate& c) {
  const std::size_t star = c.group.find('*');
  return star != std::string::npos && c.group.find('/', star) != std::string::npos;
}

/// Returns the key of the group of a file: "c" and the folder of its configuration, or "f" and the
/// folder that contains the rank folders, or "n" and the name pattern without the step or time of
/// the window.
std::string group_key(const Candidate& c, const std::optional<ConfigName>& config) {
  // append() is used because g++ 12 warns that "c" + text may overlap
  std::string key = config ? "c" : rank_in_folder(c) ? "f" : "n";
  if (config)
    key += config->folder;
  else if (rank_in_folder(c))
    key.append(c.group, 0, c.group.find('*'));
  else
    key += window_name(c.group).rest;
  return key;
}

/// Sets the rank of each file from its header if the names number the ranks of each node from 0:
/// names of several groups (group_key()) contain the same rank, but no rank of the headers occurs
/// in two groups. Returns whether it did so. Headers are read in the order of the ranks in the
/// names, so that for separate runs two headers are enough.
bool rank_by_node(std::vector<Candidate>& files, const DiscoverOptions& options) {
  std::map<std::int64_t, std::vector<Candidate*>> by_name;
  for (Candidate& c : files) {
    if (!c.too_large.empty())
      continue;
    if (!c.rank)
      return false;
    by_name[*c.rank].push_back(&c);
  }
  const auto group = [](const Candidate* c) { return group_key(*c, std::nullopt); };
  if (std::ranges::none_of(by_name, [&group](const auto& rank) {
        const std::vector<Candidate*>& same = rank.second;
        return std::ranges::adjacent_find(same, std::ranges::not_equal_to(), group) != same.end();
      }))
    return false;
  std::map<std::int64_t, std::string> group_of; // by rank in the header
  std::vector<std::pair<Candidate*, std::int64_t>> found;
  for (const auto& [name, same] : by_name)
    for (Candidate* const c : same) {
      const FileInfo head = inspect_file(c->path, options.known);
      if (!head.trace || head.ranks.size() != 1)
        return false;
      const std::string of_file = group(c);
      if (group_of.emplace(head.ranks.front(), of_file).first->second != of_file)
        return false;
      found.emplace_back(c, head.ranks.front());
    }
  for (const auto& [c, rank] : found)
    c->rank = rank;
  return true;
}

using TracesByProcess = std::map<std::string, std::vector<std::string>>; ///< by WindowName::rest

/// Collects the ranks of one run from its files, and then fills the plan.
class Ranks {
public:
  Ranks(RunPlan& plan, const DiscoverOptions& options, Diagnostics& diag)
      : plan_(plan), options_(options), diag_(diag) {}

  /// Groups the files by rank. The rank is read from the file name, otherwise from the header; see
  /// also rank_by_node().
  Result<void> sort(std::vector<Candidate> files) {
    std::erase_if(files, [this](const Candidate& c) { return too_large(c); });
    rank_by_node(files, options_);
    for (const Candidate& c : files)
      if (c.rank)
        by_rank_[*c.rank].push_back(c.path);
    const bool by_name = !by_rank_.empty();
    std::vector<std::string> nameless;
    for (const Candidate& c : files) {
      if (c.rank)
        continue;
      // headers are read only if no file name contains a rank
      if (by_name || !ask(c.path))
        nameless.push_back(c.path);
    }
    return place(nameless);
  }

  /// Chooses one trace per rank and adds it to the plan.
  Result<void> choose() {
    for (auto& [rank, paths] : by_rank_)
      if (!options_.trace_name.empty())
        paths = with_name(std::move(paths), options_.trace_name);
    RS_CHECK(choose_windows(by_rank_, options_.step, plan_.folder, diag_));
    for (auto& [rank, paths] : by_rank_) {
      if (paths.size() > 1)
        return several(rank, paths);
      plan_.ranks.push_back(rank_file(rank, paths[0]));
    }
    return {};
  }

  /// Reports missing ranks: those below the largest rank that was found, or below the world size
  /// that most headers contain.
  Result<void> find_missing() {
    if (plan_.ranks.size() < 2 && !options_.require_all_ranks)
      return {};
    plan_.missing_ranks = missing_ranks(plan_.ranks, worlds_);
    if (plan_.missing_ranks.empty())
      return {};
    const std::string which = missing_ranks_text(plan_.missing_ranks);
    if (options_.require_all_ranks)
      return Error{ErrorCode::kUnreadable, plan_.folder, which, ""};
    diag_.add(counters::missing_ranks(which), plan_.folder, 1, plan_.configuration.label);
    return {};
  }

private:
  /// Returns up to three paths, relative to the folder, and how many more there are.
  [[nodiscard]] std::string few_of(const std::vector<std::string>& paths) const {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> named;
    for (std::size_t i = 0; i < std::min(paths.size(), kNamed); ++i)
      named.push_back(plan_.folder.empty()
                          ? paths[i]
                          : fs::path(paths[i]).lexically_proximate(plan_.folder).string());
    return fmt::format("{}{}", fmt::join(named, ", "),
                       paths.size() > kNamed ? fmt::format(" and {} more", paths.size() - kNamed)
                                             : "");
  }

  [[nodiscard]] Error several(std::int64_t rank, const std::vector<std::string>& paths) const {
    const auto folder = [](const std::string& path) { return fs::path(path).parent_path(); };
    const bool same_folder = std::ranges::all_of(
        paths, [&](const std::string& path) { return folder(path) == folder(paths[0]); });
    return {ErrorCode::kUsage, plan_.folder,
            fmt::format("rank {} has several traces: {}", rank, few_of(paths)),
            same_folder
                ? "the file names contain no step or time: choose a trace with --trace-name or "
                  "--trace-pattern"
                : "give the folder of one run; analyze and merge --all also accept a folder of "
                  "several runs"};
  }

  bool too_large(const Candidate& c) {
    if (c.too_large.empty())
      return false;
    diag_.add(
        counters::rank_too_large(c.too_large.substr(0, 24), c.too_large.size() > 24 ? "..." : ""),
        c.path);
    return true;
  }

  /// Adds a file to the ranks that its header contains. Returns false for a trace without a rank in
  /// its header.
  bool ask(const std::string& path) {
    const FileInfo& head = heads_[path] = inspect_file(path, options_.known);
    if (!head.trace)
      return true; // another JSON file, not a trace
    for (const std::int64_t rank : head.ranks)
      by_rank_[rank].push_back(path);
    return !head.ranks.empty();
  }

  Result<void> place(const std::vector<std::string>& nameless) {
    if (by_rank_.empty() && nameless.size() == 1) {
      by_rank_[0] = nameless;
      return {};
    }
    if (!nameless.empty() && by_rank_.empty()) {
      number_in_order(nameless);
      return {};
    }
    for (const std::string& path : nameless)
      diag_.add(counters::trace_without_rank(), path);
    return {};
  }

  /// Assigns ranks in the order of the file names. The windows of one process (trace_windows.h) get
  /// the same rank.
  void number_in_order(const std::vector<std::string>& nameless) {
    TracesByProcess processes;
    for (const std::string& path : nameless)
      processes[window_name(path).rest].push_back(path);
    for (auto& [rest, paths] : processes)
      by_rank_.emplace(static_cast<std::int64_t>(by_rank_.size()), std::move(paths));
    if (processes.size() > 1)
      diag_.add(counters::ranks_by_order(processes.size(), base_name(nameless.front())),
                plan_.folder);
  }

  RankFile rank_file(std::int64_t rank, const std::string& path) {
    RankFile file;
    file.rank = rank;
    file.path = path;
    std::error_code ec;
    const auto size = fs::file_size(path, ec);
    file.bytes = ec ? 0 : size;
    const auto known = heads_.find(path);
    if (!options_.check_header_rank && known == heads_.end())
      return file;
    const FileInfo head =
        known != heads_.end() ? known->second : inspect_file(path, options_.known);
    if (options_.check_header_rank && head.world_size)
      ++worlds_[*head.world_size];
    if (head.ranks.size() > 1)
      file.rank_in_file = rank;
    else if (!head.ranks.empty() && head.ranks.front() != rank)
      diag_.add(counters::rank_differs_from_header(rank, head.ranks.front()), path);
    return file;
  }

  RunPlan& plan_;
  const DiscoverOptions& options_;
  Diagnostics& diag_;
  TracesByRank by_rank_;
  std::map<std::string, FileInfo> heads_;
  std::map<std::int64_t, std::uint64_t> worlds_; ///< number of headers with each world size
};

/// Sets the ranks and missing ranks of a plan from its files.
Result<void> fill(RunPlan& plan, std::vector<Candidate> files, const DiscoverOptions& options,
                  Diagnostics& diag) {
  Ranks ranks(plan, options, diag);
  RS_CHECK(ranks.sort(std::move(files)));
  RS_CHECK(ranks.choose());
  return ranks.find_missing();
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

std::string last_part(const std::string& path) {
  const std::string name = base_name(without_slash(path));
  return name.empty() || name == "." ? fs::absolute(path).lexically_normal().filename().string()
                                     : name;
}

/// Returns a short label for a file name pattern: "sampled_rank" for "dir/sampled_rank-*.json.gz".
std::string group_label(const std::string& group) {
  std::string label = group;
  for (const char* end : {".gz", ".zst", ".json", ".trace", ".pt"})
    if (label.ends_with(end))
      label.resize(label.size() - std::string_view(end).size());
  std::string out;
  for (const char c : label)
    if (c == '/')
      out += '_';
    else if (c != '*' && c != '#')
      out += c;
  while (!out.empty() && (out.back() == '-' || out.back() == '_' || out.back() == '.'))
    out.pop_back();
  return out.empty() ? "run" : out;
}

/// The files of one configuration of a sweep, which become a run.
struct Group {
  RunPlan plan;
  std::vector<Candidate> files;
};
using Groups = std::map<std::string, Group>;

/// Returns the plan for the first file of a group.
RunPlan plan_of(const std::string& root, const std::string& file, const Candidate& c,
                const std::optional<ConfigName>& config) {
  RunPlan plan;
  const std::string top = without_slash(root);
  if (config) {
    plan.configuration = config->configuration;
    plan.folder = top + "/" + config->folder;
  } else if (rank_in_folder(c)) {
    const std::string parent =
        fs::path(c.group.substr(0, c.group.find('*'))).parent_path().string();
    plan.folder = parent.empty() ? root : top + "/" + parent;
    plan.configuration.label =
        parent.empty() || parent == "torch_profiler" ? last_part(root) : group_label(parent);
  } else {
    plan.folder = fs::path(file == root ? root : file).parent_path().string();
    plan.configuration.label = group_label(c.group);
  }
  return plan;
}

Groups group_files(const std::string& root, const std::vector<std::string>& files,
                   const RankNames& names, const ConfigNames& configs, bool only_configs) {
  Groups groups;
  const std::size_t prefix = without_slash(root).size() + 1;
  for (const std::string& file : files) {
    Candidate c;
    c.path = file == root ? base_name(file) : file.substr(prefix);
    if (!names.match(c))
      continue;
    const std::optional<ConfigName> config = configs.match(c.path);
    if (!config && only_configs)
      continue;
    const std::string key = group_key(c, config);
    Group& group = groups[key];
    if (group.files.empty())
      group.plan = plan_of(root, file, c, config);
    else if (key.front() == 'n' && c.group != group.files.front().group)
      // label without the step or time of the window
      group.plan.configuration.label = group_label(key.substr(1));
    c.path = file;
    group.files.push_back(std::move(c));
  }
  return groups;
}

enum class HeadRanks : std::uint8_t { kOne, kNone, kOther };

/// Sets the rank of each file from its header. kOne: each header contains one rank; kNone: there is
/// a trace without a rank; kOther: there is a file that is not a trace or contains several ranks.
HeadRanks rank_by_header(std::vector<Candidate>& files, const DiscoverOptions& options) {
  for (Candidate& c : files) {
    const FileInfo head = inspect_file(c.path, options.known);
    if (!head.trace || head.ranks.size() > 1)
      return HeadRanks::kOther;
    if (head.ranks.empty())
      return HeadRanks::kNone;
    c.rank = head.ranks.front();
  }
  return HeadRanks::kOne;
}

/// Returns the error for traces of one folder that may be either ranks of a run or separate runs.
Error ranks_or_runs(const std::string& folder, const std::vector<std::string>& files) {
  return {
      ErrorCode::kUsage, folder,
      fmt::format("{} and {} other trace{} have neither a rank nor a configuration in their names",
                  base_name(files.front()), files.size() - 1, files.size() == 2 ? "" : "s"),
      "if they are runs, give --files-as-runs or put each into a folder; if they are ranks of "
      "one run, give --rank-regex or --trace-pattern"};
}

/// Replaces groups by one run of `files` in `folder`.
void replace(const std::vector<std::string>& keys, std::vector<Candidate> files,
             const std::string& root, const std::string& folder, Groups& groups) {
  Group joined;
  joined.files = std::move(files);
  joined.plan.folder = folder;
  const std::string top = without_slash(root);
  joined.plan.configuration.label =
      folder.size() > top.size() + 1 ? group_label(folder.substr(top.size() + 1)) : last_part(root);
  for (const std::string& key : keys)
    groups.erase(key);
  groups.emplace("h" + folder, std::move(joined));
}

/// Joins the files of a folder into one run if their names contain no rank and their headers
/// contain different ranks: "worker3_step_12.1688.pt.trace.json", or "HOST_PID.TIME.pt.trace.json"
/// (the default of torch). If all headers contain the same rank, the groups do not change. Errors:
/// ranks_or_runs().
Result<void> join_by_header(const std::string& root, const DiscoverOptions& options,
                            Groups& groups) {
  std::map<std::string, std::vector<std::string>> by_folder; // keys of groups
  for (const auto& [key, group] : groups)
    if (key.front() == 'n' &&
        std::all_of(group.files.begin(), group.files.end(),
                    [](const Candidate& c) { return !c.rank && c.too_large.empty(); }))
      by_folder[group.plan.folder].push_back(key);
  for (const auto& [folder, keys] : by_folder) {
    if (keys.size() < 2)
      continue;
    std::vector<Candidate> joined;
    std::set<std::int64_t> ranks;
    std::vector<std::string> joined_keys;
    std::vector<std::string> nameless;
    for (const std::string& key : keys) {
      std::vector<Candidate> files = groups.at(key).files;
      const HeadRanks found = rank_by_header(files, options);
      if (found == HeadRanks::kNone)
        nameless.push_back(files.front().path);
      if (found != HeadRanks::kOne)
        continue;
      joined_keys.push_back(key);
      for (Candidate& c : files) {
        ranks.insert(*c.rank);
        joined.push_back(std::move(c));
      }
    }
    if (nameless.size() > 1 && !options.files_as_runs)
      return ranks_or_runs(folder, nameless);
    if (ranks.size() < 2)
      continue;
    replace(joined_keys, std::move(joined), root, folder, groups);
  }
  return {};
}

/// Joins the groups below a folder into one run if they are its nodes (rank_by_node()).
void join_nodes(const std::string& root, const DiscoverOptions& options, Groups& groups) {
  const std::string top = without_slash(root);
  // keys of groups by folder; a folder comes after the folders in it
  std::map<std::string, std::vector<std::string>, std::greater<>> by_folder;
  for (const auto& [key, group] : groups)
    if (key.front() == 'n' || key.front() == 'f')
      by_folder[without_slash(group.plan.folder)].push_back(key);
  for (auto at = by_folder.begin(); at != by_folder.end(); ++at) {
    const auto& [folder, keys] = *at;
    if (keys.size() == 1 && folder.size() > top.size()) {
      by_folder[fs::path(folder).parent_path().string()].push_back(keys.front());
      continue;
    }
    std::vector<Candidate> files;
    for (const std::string& key : keys)
      files.insert(files.end(), groups.at(key).files.begin(), groups.at(key).files.end());
    if (rank_by_node(files, options))
      replace(keys, std::move(files), root, folder, groups);
  }
}

/// Reports folders that are named like a configuration but contain no trace.
void name_empty(const std::string& root, const std::vector<std::string>& folders,
                const ConfigNames& configs, const Groups& groups, Diagnostics& diag) {
  constexpr std::ptrdiff_t kDeepest = 3; // configuration folders are not deeper than this
  const std::size_t prefix = without_slash(root).size() + 1;
  for (const std::string& folder : folders) {
    const std::string relative = folder.substr(prefix);
    if (std::count(relative.begin(), relative.end(), '/') > kDeepest)
      continue;
    const std::optional<ConfigName> config = configs.match(relative + "/x");
    const auto below = groups.lower_bound("c" + relative + "/"); // folder a=1 is only the parent of
                                                                 // configuration a=1/b=2
    if (config && config->folder == relative && groups.count("c" + relative) == 0 &&
        (below == groups.end() || below->first.rfind("c" + relative + "/", 0) != 0))
      diag.add(counters::config_without_traces(), folder);
  }
}

/// Returns the error if there is no trace. It names a known other format that was found instead, or
/// else the usual endings of trace files.
Error no_trace(const std::vector<std::string>& paths, const DiscoverOptions& options) {
  if (std::optional<Error> refusal = refusal_below(paths))
    return std::move(*refusal);
  const std::string first = paths.empty() ? "" : paths.front();
  for (const auto& [pattern, flag] : {std::pair(&options.trace_pattern, "--trace-pattern"),
                                      std::pair(&options.rank_regex, "--rank-regex")})
    if (!pattern->empty())
      return {ErrorCode::kUnreadable, first,
              fmt::format("no trace matches {} '{}'", flag, *pattern), ""};
  std::error_code ec;
  if (fs::is_regular_file(first, ec) && fs::file_size(first, ec) == 0)
    return {ErrorCode::kUnreadable, first, "the file is empty", ""};
  return {ErrorCode::kUnreadable, first,
          fs::is_directory(first, ec) ? "no trace found below this folder" : "is not a trace",
          "traces are " + trace_endings(options.known)};
}

} // namespace

std::vector<std::int64_t> missing_ranks(const std::vector<RankFile>& ranks,
                                        const std::map<std::int64_t, std::uint64_t>& worlds) {
  constexpr std::int64_t kMostRanks = 1 << 20; // missing ranks are listed only below this
  std::int64_t end = ranks.empty() ? 0 : std::min(ranks.back().rank, kMostRanks) + 1;
  const auto most = std::ranges::max_element(
      worlds, [](const auto& a, const auto& b) { return a.second < b.second; });
  // if most traces agree, higher ranks are those of other files: rank9_config.json
  if (most != worlds.end())
    end = most->second * 2 > ranks.size() ? most->first : std::max(end, most->first);
  std::vector<std::int64_t> out;
  auto next = ranks.begin();
  for (std::int64_t r = 0; r < std::min(end, kMostRanks); ++r) {
    while (next != ranks.end() && next->rank < r)
      ++next;
    if (next == ranks.end() || next->rank != r)
      out.push_back(r);
  }
  return out;
}

std::string missing_ranks_text(const std::vector<std::int64_t>& missing) {
  const bool several = missing.size() > 1;
  const std::string which = ranges_text(missing);
  const bool cut = which.ends_with("...");
  return fmt::format("rank{} {}{} {} no trace", several ? "s" : "", which,
                     cut ? fmt::format(" ({} in all)", missing.size()) : std::string(),
                     several ? "have" : "has");
}

Result<RunPlan> discover_run(const std::vector<std::string>& paths, const DiscoverOptions& options,
                             Diagnostics& diag) {
  RS_TRY(const RankNames names, RankNames::make(options));
  RunPlan plan;
  std::vector<Candidate> files;
  std::set<std::string> seen;
  std::error_code ec;
  const bool one_folder = paths.size() == 1 && fs::is_directory(paths[0], ec);
  for (const std::string& path : paths) {
    RS_TRY(const Listing found, list_traces(path, options.known, diag));
    for (const std::string& file : found.files) {
      Candidate c;
      c.path = file;
      // ignore ranks in the folders above the given folder: /data/rank0_tests/run
      const bool below = file.size() > path.size() && file != path;
      const std::size_t prefix = below ? without_slash(path).size() + 1 : 0;
      Candidate relative;
      relative.path = below ? file.substr(prefix) : file;
      if (!names.match(relative) || !seen.insert(file).second)
        continue;
      c.rank = relative.rank;
      c.group = relative.group;
      c.too_large = relative.too_large;
      files.push_back(std::move(c));
    }
  }
  plan.folder = one_folder      ? paths[0]
                : paths.empty() ? ""
                                : fs::path(paths[0]).parent_path().string();
  plan.configuration.label = one_folder ? last_part(paths[0]) : "run";
  if (!files.empty())
    RS_CHECK(fill(plan, std::move(files), options, diag));
  if (plan.ranks.empty())
    return no_trace(paths, options);
  return plan;
}

Result<std::vector<RunPlan>> discover_sweep(const std::string& root, const DiscoverOptions& options,
                                            Diagnostics& diag) {
  RS_TRY(const RankNames names, RankNames::make(options));
  RS_TRY(const ConfigNames configs, ConfigNames::make(options.config_regex));
  RS_TRY(const Listing found, list_traces(root, options.known, diag));
  Groups groups = group_files(root, found.files, names, configs, !options.config_regex.empty());
  RS_CHECK(join_by_header(root, options, groups));
  join_nodes(root, options, groups);
  name_empty(root, found.folders, configs, groups, diag);
  std::vector<RunPlan> out;
  std::set<std::string> labels;
  for (auto& [key, group] : groups) {
    if (const Result<void> filled = fill(group.plan, std::move(group.files), options, diag);
        !filled) {
      if (options.require_all_ranks)
        return filled.error();
      diag.add(counters::run_skipped(filled.error().message()), group.plan.folder, 1,
               group.plan.configuration.label);
      continue;
    }
    if (group.plan.ranks.empty())
      continue;
    std::string label = group.plan.configuration.label;
    for (int n = 2; !labels.insert(label).second; ++n)
      label = fmt::format("{}_{}", group.plan.configuration.label, n);
    group.plan.configuration.label = label;
    out.push_back(std::move(group.plan));
  }
  if (out.empty())
    return no_trace({root}, options);
  std::stable_sort(out.begin(), out.end(), [](const RunPlan& a, const RunPlan& b) {
    return ordered_before(a.configuration, b.configuration);
  });
  return out;
}

} // namespace rankscope
