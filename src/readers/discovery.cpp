#include "readers/discovery.h"

#include "core/output_layout.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <regex>
#include <set>
#include <span>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

struct Candidate {
  std::string path;
  std::optional<std::int64_t> rank; ///< from the name
  std::string group;                ///< path with the rank's digits replaced by '*'
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Hidden files, and what rankscope and the older scripts write themselves.
bool left_out(const fs::path& path) {
  const std::string name = path.filename().string();
  std::string_view stem = name;
  for (const std::string_view packed : {".gz", ".zst"})
    if (ends_with(stem, packed))
      stem.remove_suffix(packed.size());
  return name.front() == '.' || name == "ground_truth.json" || name == "manifest.json" ||
         name == "config.json" || ends_with(stem, "_merged.json");
}

bool output_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == kAnalysisFolder || name == kMergedFolder || name == "plots" ||
         (name.size() > 1 && name.front() == '.');
}

Result<std::regex> compiled(const std::string& text, const char* flag,
                            std::regex::flag_type flags = std::regex::ECMAScript) {
  // std::regex has no named groups: (?P<rank>...) and (?<rank>...) become plain groups
  const std::string plain = std::regex_replace(text, std::regex(R"(\(\?P?<([A-Za-z_]+)>)"), "(");
  try {
    return std::regex(plain, flags);
  } catch (const std::regex_error& e) {
    return Error{ErrorCode::kUsage, flag, fmt::format("'{}': {}", text, e.what()), ""};
  }
}

/// Number (1-based) of each named group of an expression, in order of its brackets.
std::map<std::string, std::size_t> group_names(const std::string& text) {
  std::map<std::string, std::size_t> out;
  std::size_t number = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '[') {
      in_class = true;
    } else if (text[i] == ']') {
      in_class = false;
    } else if (text[i] == '(' && !in_class) {
      if (text.compare(i, 3, "(?<") == 0 || text.compare(i, 4, "(?P<") == 0) {
        const std::size_t from = text.find('<', i) + 1;
        if (text[from] == '=' || text[from] == '!')
          continue;
        out[text.substr(from, text.find('>', from) - from)] = ++number;
      } else if (i + 1 >= text.size() || text[i + 1] != '?') {
        ++number;
      }
    }
  }
  return out;
}

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t v = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return v;
}

/// Finds the rank in names: by the pattern, the given expression, or the usual spellings.
class RankNames {
public:
  static Result<RankNames> make(const DiscoverOptions& o) {
    RankNames out;
    if (!o.trace_pattern.empty()) {
      if (std::count(o.trace_pattern.begin(), o.trace_pattern.end(), '*') != 1)
        return Error{ErrorCode::kUsage, "--trace-pattern", "needs exactly one '*' for the rank",
                     ""};
      std::string escaped = "(?:^|.*/)";
      const std::string pattern =
          o.trace_pattern.substr(o.trace_pattern.rfind("./", 0) == 0 ? 2 : 0);
      for (const char c : pattern)
        escaped += c == '*' ? std::string("([0-9]+)")
                   : std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '_'
                       ? std::string(1, c)
                       : std::string("\\") + c;
      RS_TRY(out.whole_, compiled(escaped + "$", "--trace-pattern"));
      out.pattern_ = true;
    } else if (!o.rank_regex.empty()) {
      RS_TRY(out.part_, compiled(o.rank_regex, "--rank-regex"));
      const auto names = group_names(o.rank_regex);
      out.group_ = names.count("rank") != 0 ? names.at("rank") : 1;
      if (out.part_.mark_count() < 1)
        return Error{ErrorCode::kUsage, "--rank-regex", "needs a group that holds the rank", ""};
    } else {
      out.part_ = std::regex(R"(rank[\[\-_/]?([0-9]+))", std::regex::icase);
    }
    return out;
  }

  /// False: the pattern does not take this file at all.
  bool match(Candidate& c) const {
    c.group = c.path;
    std::smatch m;
    if (pattern_) {
      if (!std::regex_match(c.path, m, whole_))
        return false;
      set(c, m, 1, 0);
      return true;
    }
    // the base name first, then the folders from the innermost outwards
    std::string rest = c.path;
    while (!rest.empty()) {
      const std::size_t slash = rest.rfind('/');
      const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
      const std::string part = rest.substr(from);
      if (std::regex_search(part, m, part_)) {
        set(c, m, group_, from);
        break;
      }
      if (slash == std::string::npos)
        break;
      rest.resize(slash);
    }
    return true;
  }

private:
  static void set(Candidate& c, const std::smatch& m, std::size_t group, std::size_t from) {
    c.rank = number_of(m[group].str());
    c.group.replace(from + static_cast<std::size_t>(m.position(group)),
                    static_cast<std::size_t>(m.length(group)), "*");
  }

  std::regex whole_;
  std::regex part_;
  std::size_t group_ = 1;
  bool pattern_ = false;
};

Result<std::vector<std::string>> list_files(const std::string& root, Readers known) {
  std::vector<std::string> out;
  std::error_code ec;
  if (!fs::exists(root, ec))
    return Error{ErrorCode::kUnreadable, root, "no such file or folder", ""};
  if (!fs::is_directory(root, ec)) {
    out.push_back(root);
    return out;
  }
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, ec);
  if (ec)
    return Error{ErrorCode::kUnreadable, root, ec.message(), ""};
  for (const fs::recursive_directory_iterator end; it != end; it.increment(ec)) {
    if (ec)
      break;
    if (it->is_directory(ec) && output_folder(it->path())) {
      it.disable_recursion_pending();
      continue;
    }
    if (it->is_regular_file(ec) && !left_out(it->path()) &&
        is_trace_file(it->path().string(), known))
      out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// Where one rank has several traces: the named file, then the named step.
std::vector<std::string> preferred(std::vector<std::string> paths, const DiscoverOptions& o) {
  const auto keep = [&](const std::function<bool(const std::string&)>& good) {
    std::vector<std::string> some;
    std::copy_if(paths.begin(), paths.end(), std::back_inserter(some), good);
    if (!some.empty())
      paths = std::move(some);
  };
  if (!o.trace_name.empty())
    keep([&](const std::string& p) {
      const std::string name = base_name(p);
      return name == o.trace_name || name == o.trace_name + ".gz" || name == o.trace_name + ".zst";
    });
  if (!o.step.empty()) {
    const std::regex step(
        "step[_\\-]?0*" +
        std::string(std::all_of(o.step.begin(), o.step.end(),
                                [](unsigned char c) { return std::isdigit(c) != 0; })
                        ? o.step
                        : "x") +
        "(?![0-9])");
    keep([&](const std::string& p) { return std::regex_search(base_name(p), step); });
  }
  return paths;
}

/// Fills ranks and missing ranks of a plan from its files.
Result<void> fill(RunPlan& plan, const std::vector<Candidate>& files, const DiscoverOptions& o,
                  bool expect_world, Diagnostics& diag) {
  std::map<std::int64_t, std::vector<std::string>> by_rank;
  std::map<std::string, FileInfo> heads;
  std::vector<std::string> nameless;
  for (const Candidate& c : files)
    if (c.rank)
      by_rank[*c.rank].push_back(c.path);
  const bool by_name = !by_rank.empty();
  for (const Candidate& c : files) {
    if (c.rank)
      continue;
    if (by_name) { // beside files that name their rank, others are not asked
      nameless.push_back(c.path);
      continue;
    }
    const FileInfo& head = heads[c.path] = inspect_file(c.path, o.known);
    if (!head.trace)
      continue; // some other JSON
    for (const std::int64_t rank : head.ranks)
      by_rank[rank].push_back(c.path);
    if (head.ranks.empty())
      nameless.push_back(c.path);
  }
  if (by_rank.empty() && nameless.size() == 1)
    by_rank[0] = nameless;
  else if (!nameless.empty() && by_rank.empty())
    return Error{
        ErrorCode::kUsage, plan.folder,
        fmt::format("several traces without a rank in the name: {}", fmt::join(nameless, ", ")),
        "name the rank with --rank-regex or --trace-pattern"};
  else
    for (const std::string& path : nameless)
      diag.add(Severity::kWarning, "trace_without_rank", path,
               "has no rank in its name, as the files beside it have, and is left out");
  std::optional<std::int64_t> world;
  for (auto& [rank, paths] : by_rank) {
    paths = preferred(std::move(paths), o);
    if (paths.size() > 1)
      return Error{ErrorCode::kUsage, plan.folder,
                   fmt::format("rank {} has several traces: {}", rank, fmt::join(paths, ", ")),
                   "choose with --trace-name, --trace-step or --trace-pattern"};
    RankFile file;
    file.rank = rank;
    file.path = paths[0];
    std::error_code ec;
    const auto size = fs::file_size(file.path, ec);
    file.bytes = ec ? 0 : size;
    const auto known = heads.find(file.path);
    if (o.check_header_rank || known != heads.end()) {
      const FileInfo head = known != heads.end() ? known->second : inspect_file(file.path, o.known);
      if (o.check_header_rank && head.world_size && !world)
        world = head.world_size;
      if (head.ranks.size() > 1)
        file.rank_in_file = rank;
      else if (!head.ranks.empty() && head.ranks.front() != rank)
        diag.add(Severity::kWarning, "rank_differs_from_header", file.path,
                 fmt::format("is rank {} by its name but rank {} by its header; the name is used",
                             rank, head.ranks.front()));
    }
    plan.ranks.push_back(std::move(file));
  }
  if (plan.ranks.size() < 2 && !o.require_all_ranks)
    return {};
  constexpr std::int64_t kMostRanks = 1 << 20; // ranks beyond are no reason to name those below
  std::int64_t end = plan.ranks.empty() ? 0 : std::min(plan.ranks.back().rank, kMostRanks) + 1;
  if (world && (expect_world || o.require_all_ranks))
    end = std::max(end, *world);
  for (std::int64_t r = 0; r < std::min(end, kMostRanks); ++r)
    if (by_rank.count(r) == 0)
      plan.missing_ranks.push_back(r);
  if (plan.missing_ranks.empty())
    return {};
  const std::size_t missing = plan.missing_ranks.size();
  constexpr std::size_t kNamed = 64; // a sentence, not a list of a million numbers
  const std::string more =
      missing > kNamed ? fmt::format(" and {} more", missing - kNamed) : std::string();
  const std::string which =
      fmt::format("rank{} {}{} {} no trace", missing > 1 ? "s" : "",
                  fmt::join(std::span(plan.missing_ranks).first(std::min(missing, kNamed)), ", "),
                  more, missing > 1 ? "have" : "has");
  if (o.require_all_ranks)
    return Error{ErrorCode::kUnreadable, plan.folder, which, ""};
  diag.add(Severity::kDataLoss, "missing_ranks_" + plan.configuration.label, plan.folder, which);
  return {};
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

/// The configuration that a path below the root belongs to.
struct ConfigName {
  std::string folder; ///< relative, ends where the match ends
  Configuration configuration;
};

class ConfigNames {
public:
  static Result<ConfigNames> make(const std::string& text) {
    ConfigNames out;
    if (!text.empty()) {
      RS_TRY(out.own_, compiled(text, "--config-regex"));
      out.groups_ = group_names(text);
      out.has_own_ = true;
    }
    return out;
  }

  std::optional<ConfigName> match(const std::string& relative) const {
    const std::size_t slash = relative.rfind('/');
    const std::string folder =
        slash == std::string::npos ? std::string() : relative.substr(0, slash);
    std::optional<ConfigName> out = has_own_ ? by_own(folder) : by_folders(folder);
    if (out)
      out->configuration.label = configuration_label(out->configuration, out->folder);
    return out;
  }

private:
  /// Whole folder names: up to the next slash behind a match.
  static std::string up_to(const std::string& folder, const std::smatch& m) {
    const auto at = static_cast<std::size_t>(m.position(0) + m.length(0));
    return folder.substr(0, folder.find('/', at));
  }

  std::optional<ConfigName> by_own(const std::string& folder) const {
    std::smatch m;
    if (!std::regex_search(folder, m, own_))
      return std::nullopt;
    ConfigName out;
    out.folder = up_to(folder, m);
    for (const auto& [name, group] : groups_) // by name: the expression's order tells nobody more
      if (m[group].matched && name != "rank")
        out.configuration.set(name, m[group].str());
    return out;
  }

  static std::optional<ConfigName> by_folders(const std::string& folder) {
    static const std::regex kThread(R"((^|/)([0-9]+)threads?/nccl_([0-9]+)channels(?=/|$))");
    static const std::regex kCu(R"((^|/)([0-9]+)cu_([0-9]+)threads?(?=/|$))");
    static const std::regex kNamed(R"((^|/)([A-Za-z][A-Za-z0-9_.-]*)=([^/=]+)(?=/|$))");
    ConfigName out;
    std::smatch m;
    const auto end_at = [&](const std::string& end) {
      if (end.size() > out.folder.size())
        out.folder = end;
    };
    for (std::sregex_iterator it(folder.begin(), folder.end(), kNamed), end; it != end; ++it)
      if ((*it)[2] != "rank") {
        out.configuration.set((*it)[2].str(), (*it)[3].str());
        end_at(up_to(folder, *it));
      }
    if (std::regex_search(folder, m, kThread)) {
      end_at(up_to(folder, m));
      out.configuration.set(kThreads, m[2].str());
      out.configuration.set(kChannels, m[3].str());
    } else if (std::regex_search(folder, m, kCu)) {
      end_at(up_to(folder, m));
      out.configuration.set(kCus, m[2].str());
      out.configuration.set(kThreads, m[3].str());
    }
    if (out.folder.empty())
      return std::nullopt;
    return out;
  }

  std::regex own_;
  std::map<std::string, std::size_t> groups_;
  bool has_own_ = false;
};

/// The shortest name of a pattern group: "dir/sampled_rank-*.json.gz" is "sampled_rank".
std::string group_label(const std::string& group) {
  std::string label = group;
  for (const char* end : {".gz", ".zst", ".json", ".trace", ".pt"})
    if (ends_with(label, end))
      label.resize(label.size() - std::string_view(end).size());
  std::string out;
  for (const char c : label)
    if (c == '/')
      out += '_';
    else if (c != '*')
      out += c;
  while (!out.empty() && (out.back() == '-' || out.back() == '_' || out.back() == '.'))
    out.pop_back();
  return out.empty() ? "run" : out;
}

/// True for ".../rank*/name": the folder, not the file, names the rank.
bool rank_in_folder(const Candidate& c) {
  const std::size_t star = c.group.find('*');
  return star != std::string::npos && c.group.find('/', star) != std::string::npos;
}

} // namespace

Result<RunPlan> discover_run(const std::vector<std::string>& paths, const DiscoverOptions& options,
                             Diagnostics& diag) {
  RS_TRY(const RankNames names, RankNames::make(options));
  RunPlan plan;
  std::vector<Candidate> files;
  std::set<std::string> seen;
  const bool one_folder = paths.size() == 1 && fs::is_directory(paths[0]);
  for (const std::string& path : paths) {
    RS_TRY(const std::vector<std::string> found, list_files(path, options.known));
    for (const std::string& file : found) {
      Candidate c;
      c.path = file;
      // folders above the given one do not tell ranks: /data/rank0_tests/run is no rank
      const bool below = file.size() > path.size() && file != path;
      const std::size_t prefix = below ? without_slash(path).size() + 1 : 0;
      Candidate relative;
      relative.path = below ? file.substr(prefix) : file;
      if (!names.match(relative) || !seen.insert(file).second)
        continue;
      c.rank = relative.rank;
      c.group = relative.group;
      files.push_back(std::move(c));
    }
  }
  plan.folder = one_folder      ? paths[0]
                : paths.empty() ? ""
                                : fs::path(paths[0]).parent_path().string();
  plan.configuration.label = one_folder ? last_part(paths[0]) : "run";
  if (files.empty())
    return Error{ErrorCode::kUnreadable, paths.empty() ? "" : paths[0], "no trace found",
                 "traces are " + trace_endings(options.known)};
  RS_CHECK(fill(plan, files, options, false, diag));
  if (plan.ranks.empty())
    return Error{ErrorCode::kUnreadable, plan.folder, "no trace found", ""};
  return plan;
}

Result<std::vector<RunPlan>> discover_sweep(const std::string& root, const DiscoverOptions& options,
                                            Diagnostics& diag) {
  RS_TRY(const RankNames names, RankNames::make(options));
  RS_TRY(const ConfigNames configs, ConfigNames::make(options.config_regex));
  RS_TRY(const std::vector<std::string> files, list_files(root, options.known));
  const std::size_t prefix = without_slash(root).size() + 1;
  struct Group {
    RunPlan plan;
    std::vector<Candidate> files;
    bool config = false;
  };
  std::map<std::string, Group> groups;
  for (const std::string& file : files) {
    const std::string relative = file == root ? base_name(file) : file.substr(prefix);
    Candidate c;
    c.path = relative;
    if (!names.match(c))
      continue;
    const std::optional<ConfigName> config = configs.match(relative);
    std::string key;
    if (config)
      key = "c" + config->folder;
    else if (!options.config_regex.empty())
      continue;
    else if (rank_in_folder(c))
      key = "f" + c.group.substr(0, c.group.find('*'));
    else
      key = "n" + c.group;
    Group& group = groups[key];
    if (group.files.empty()) {
      group.config = config.has_value();
      if (config) {
        group.plan.configuration = config->configuration;
        group.plan.folder = without_slash(root) + "/" + config->folder;
      } else if (rank_in_folder(c)) {
        const std::string parent =
            fs::path(c.group.substr(0, c.group.find('*'))).parent_path().string();
        group.plan.folder = parent.empty() ? root : without_slash(root) + "/" + parent;
        group.plan.configuration.label =
            parent.empty() || parent == "torch_profiler" ? last_part(root) : group_label(parent);
      } else {
        group.plan.folder = file == root ? fs::path(root).parent_path().string()
                                         : fs::path(file).parent_path().string();
        group.plan.configuration.label = group_label(c.group);
      }
    }
    c.path = file;
    group.files.push_back(std::move(c));
  }
  // a configuration folder that holds no trace at all
  std::error_code ec;
  if (fs::is_directory(root, ec)) {
    fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, ec);
    for (const fs::recursive_directory_iterator end; !ec && it != end; it.increment(ec)) {
      if (!it->is_directory(ec))
        continue;
      if (output_folder(it->path()) || it.depth() > 3) {
        it.disable_recursion_pending();
        continue;
      }
      const std::string relative = it->path().string().substr(prefix);
      const std::optional<ConfigName> config = configs.match(relative + "/x");
      const auto below = groups.lower_bound("c" + relative + "/"); // a=1 of a=1/b=2 is none
      if (config && config->folder == relative && groups.count("c" + relative) == 0 &&
          (below == groups.end() || below->first.rfind("c" + relative + "/", 0) != 0))
        diag.add(Severity::kDataLoss, "config_without_traces_" + relative, it->path().string(),
                 "holds no trace");
    }
  }
  std::vector<RunPlan> out;
  std::set<std::string> labels;
  for (auto& [key, group] : groups) {
    Result<void> filled = fill(group.plan, group.files, options, group.config, diag);
    if (!filled) {
      if (options.require_all_ranks)
        return std::move(filled.error());
      diag.add(Severity::kDataLoss, "run_skipped_" + group.plan.configuration.label,
               group.plan.folder, fmt::format("is skipped: {}", filled.error().message()));
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
    return Error{ErrorCode::kUnreadable, root, "no trace found below this folder",
                 "traces are " + trace_endings(options.known)};
  std::stable_sort(out.begin(), out.end(), [](const RunPlan& a, const RunPlan& b) {
    return ordered_before(a.configuration, b.configuration);
  });
  return out;
}

} // namespace rankscope
