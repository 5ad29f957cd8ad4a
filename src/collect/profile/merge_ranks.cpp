#include "collect/profile/merge_ranks.h"

#include "base/sort.h"
#include "base/to_number.h"
#include "collect/finding_json.h"
#include "collect/library_trace/line_splitter.h"
#include "os/byte_source.h"
#include "os/output_file.h"
#include "os/whole_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFormat = "rankscope-profile-ranks-1";
constexpr const char* kRunFormat = "rankscope-profile-1";
/// Least covered part of a run that counts as complete: a little is missing at its begin and end.
constexpr double kCompleteRun = 0.99;

/// Returns the nested member at `keys`; nullptr if a member is missing.
const Json* below(const Json& root, std::initializer_list<const char*> keys) {
  const Json* at = &root;
  for (const char* key : keys)
    if (at != nullptr)
      at = at->find(key);
  return at;
}

std::optional<double> number_at(const Json& root, std::initializer_list<const char*> keys) {
  const Json* value = below(root, keys);
  return value == nullptr ? std::nullopt : value->number();
}

/// Returns the number at `keys` as an integer: times since 1970 in ns have more digits than a
/// double.
std::optional<std::int64_t> integer_at(const Json& root, std::initializer_list<const char*> keys) {
  const Json* value = below(root, keys);
  return value == nullptr || !value->is(Json::Kind::kNumber) ? std::nullopt
                                                             : to_number(value->text);
}

std::string text_at(const Json& root, std::initializer_list<const char*> keys) {
  const Json* value = below(root, keys);
  return value == nullptr || !value->is(Json::Kind::kText) ? std::string() : value->text;
}

/// Returns a time since 1970; empty for an earlier time, so that the difference of two times cannot
/// overflow.
std::optional<std::int64_t> time_at(const Json& root, std::initializer_list<const char*> keys) {
  const std::optional<std::int64_t> ns = integer_at(root, keys);
  return ns && *ns >= 0 ? ns : std::nullopt;
}

/// Returns N of a folder rank_N.
std::optional<std::int64_t> rank_of_name(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.rfind("rank_", 0) == 0 ? to_number(std::string_view(name).substr(5)) : std::nullopt;
}

template <class T> void keep_larger(std::optional<T>& kept, const std::optional<T>& value) {
  if (value && (!kept || *value > *kept))
    kept = value;
}

class Merge {
public:
  Result<void> add_folder(const std::string& name) {
    fs::path folder = fs::path(name).lexically_normal();
    if (!folder.has_filename())
      folder = folder.parent_path(); // "run/"
    std::error_code ec;
    std::vector<fs::path> ranks;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
      if (it->is_directory(ec) && rank_of_name(it->path()))
        ranks.push_back(it->path());
    if (ranks.empty() && !fs::is_regular_file(folder / "manifest.json", ec))
      return Error{ErrorCode::kUnreadable, name, "has neither folders rank_N nor a manifest.json",
                   "give the folder that was the --out of rankscope profile"};
    if (ranks.empty())
      ranks.push_back(folder);
    for (const fs::path& rank : ranks)
      RS_CHECK(add_rank(rank));
    return {};
  }

  ProfiledRanks finish() {
    sort_stably(out_.ranks, [](const ProfiledRank& a, const ProfiledRank& b) {
      return a.rank.value_or(INT64_MAX) < b.rank.value_or(INT64_MAX);
    });
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    for (const ProfiledRank& r : out_.ranks) {
      out_.succeeded += r.status == "success" ? 1 : 0;
      keep_larger(out_.longest_s, r.seconds);
      if (r.seconds && (!out_.shortest_s || *r.seconds < *out_.shortest_s))
        out_.shortest_s = r.seconds;
      keep_larger(out_.peak_vram_b, r.peak_vram_b);
      keep_larger(end, r.end_ns);
      if (r.begin_ns && (!begin || *r.begin_ns < *begin))
        begin = r.begin_ns;
    }
    if (begin && end)
      out_.wall_s = static_cast<double>(*end - *begin) / 1e9;
    out_.gpus = gpus_.size();
    for (const auto& gpu : gpus_)
      if (gpu.second)
        out_.joules = out_.joules.value_or(0) + *gpu.second;
    find_missing();
    return std::move(out_);
  }

private:
  Result<void> add_rank(const fs::path& folder) {
    ProfiledRank r;
    r.folder = folder.string();
    r.rank = rank_of_name(folder);
    std::error_code ec;
    const fs::path file = folder / "manifest.json";
    r.samples = fs::is_regular_file(folder / "gpu_samples.csv", ec);
    if (!fs::exists(file, ec)) {
      r.status = r.problem = "no manifest"; // the rank was killed or still runs
    } else if (const Result<Json> json = parse_json_file(file.string(), nullptr); !json) {
      r.status = "unreadable";
      r.problem = json.error().message();
    } else if (text_at(*json, {"format"}) != kRunFormat) {
      r.status = "unreadable";
      r.problem = fmt::format("{} is not the manifest of a profiling run", file.string());
    } else {
      read_manifest(*json, r);
    }
    if (r.rank && !seen_.insert(*r.rank).second)
      return Error{ErrorCode::kUsage, r.folder, fmt::format("rank {} occurs twice", *r.rank),
                   "give one folder for each rank"};
    if (!r.known())
      out_.facts.push_back({"", profile::UnreadableRank{r.folder, r.problem}});
    out_.ranks.push_back(std::move(r));
    return {};
  }

  void read_manifest(const Json& json, ProfiledRank& r) {
    if (const auto rank = integer_at(json, {"rank"}))
      r.rank = rank;
    r.run_id = text_at(json, {"run_id"});
    r.host = text_at(json, {"host", "name"});
    r.status = text_at(json, {"status"});
    r.exit_status = integer_at(json, {"exit_status"});
    r.seconds = number_at(json, {"seconds"});
    r.begin_ns = time_at(json, {"clock_begin", "unix_ns"});
    r.end_ns = time_at(json, {"clock_end", "unix_ns"});
    const Json* gpus = below(json, {"figures", "samplers", "gpus"});
    if (gpus == nullptr)
      return;
    for (const Json& gpu : gpus->items) {
      const std::optional<double> joules = number_at(gpu, {"joules"});
      if (joules)
        r.joules = r.joules.value_or(0) + *joules;
      keep_larger(r.peak_vram_b, integer_at(gpu, {"peak_vram_bytes"}));
      std::string place = text_at(gpu, {"bdf"});
      if (place.empty())
        place = fmt::format("{}", number_at(gpu, {"index"}).value_or(-1));
      keep_larger(gpus_[r.host + " " + place], joules);
      const double covered = number_at(gpu, {"covered"}).value_or(1);
      const std::string source = text_at(gpu, {"energy_source"});
      if (source == "aliased" || (joules && covered < kCompleteRun))
        out_.facts.push_back(
            {"",
             profile::PartialEnergy{r.folder, place, joules ? std::optional(covered) : std::nullopt,
                                    number_at(gpu, {"joules_low"}).value_or(0),
                                    number_at(gpu, {"joules_high"}).value_or(0)}});
    }
  }

  /// Reports up to 20 rank numbers that are missing below the highest one.
  void find_missing() {
    profile::MissingRanks missing;
    for (std::int64_t n = 0, count = 0; !seen_.empty() && n < *seen_.rbegin() && count < 20; ++n)
      if (seen_.count(n) == 0) {
        missing.ranks.push_back(std::to_string(n));
        ++count;
      }
    if (!missing.ranks.empty())
      out_.facts.push_back({"", std::move(missing)});
  }

  ProfiledRanks out_;
  std::set<std::int64_t> seen_;
  std::map<std::string, std::optional<double>> gpus_; ///< host and address to joules
};

Json rank_json(const ProfiledRank& r) {
  return Json::object({{"rank", r.rank},
                       {"folder", r.folder},
                       {"run_id", r.run_id},
                       {"host", r.host},
                       {"status", r.status},
                       {"exit_status", r.exit_status},
                       {"seconds", r.seconds},
                       {"joules", r.joules},
                       {"peak_vram_bytes", r.peak_vram_b}});
}

std::string cell_merge_ranks(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.3f} {}", *value, unit) : "-";
}

std::string memory(const std::optional<std::int64_t>& bytes) {
  return bytes ? fmt::format("{:.3f} GB", static_cast<double>(*bytes) / 1e9) : "-";
}

/// Appends the rows of a rank's samples, each with the rank number in front. An incomplete last
/// row, left by a killed process, is left out.
Result<void> append_samples(const ProfiledRank& r, std::string& header, OutputFile& file) {
  const std::string path = r.folder + "/gpu_samples.csv";
  RS_TRY(const auto source, ByteSource::open(path));
  const std::string front = r.rank ? fmt::format("{},", *r.rank) : ",";
  std::size_t number = 0;
  bool same = true;
  const auto row = [&](std::string_view text, std::string_view end) {
    if (end.empty())
      return;
    if (++number == 1) {
      if (header.empty()) {
        header = text;
        file.write("rank," + header + "\n");
      }
      same = header == text;
    } else if (same) {
      file.write(front);
      file.write(text);
      file.write("\n");
    }
  };
  each_line(*source, row);
  if (!same)
    return Error{ErrorCode::kUnreadable, path, "its columns differ from those of the previous rank",
                 ""};
  return {};
}

} // namespace

Result<ProfiledRanks> merge_ranks(const std::vector<std::string>& folders) {
  Merge merge;
  for (const std::string& folder : folders)
    RS_CHECK(merge.add_folder(folder));
  return merge.finish();
}

Json merged_json(const ProfiledRanks& run, std::span<const Finding> findings) {
  Json out = Json::object(
      {{"format", kFormat}, {"status", run.succeeded == run.ranks.size() ? "success" : "failure"}});
  out.at("ranks") = Json::list(run.ranks, rank_json);
  Json& total = out.at("total");
  total.at("ranks") = run.ranks.size();
  total.at("succeeded") = run.succeeded;
  total.at("wall_s") = run.wall_s;
  total.at("longest_s") = run.longest_s;
  total.at("shortest_s") = run.shortest_s;
  total.at("gpus_sampled") = run.gpus;
  total.at("joules") = run.joules;
  total.at("peak_vram_bytes") = run.peak_vram_b;
  out.at("findings") = findings_json(findings);
  return out;
}

std::string merged_text(const ProfiledRanks& run, std::span<const Finding> findings) {
  std::string out = fmt::format("{:<6}{:<24}{:<14}{:>6}{:>14}{:>16}{:>14}\n", "rank", "host",
                                "status", "exit", "wall", "energy", "peak VRAM");
  for (const ProfiledRank& r : run.ranks)
    out += fmt::format(
        "{:<6}{:<24}{:<14}{:>6}{:>14}{:>16}{:>14}\n", r.rank ? fmt::format("{}", *r.rank) : "-",
        r.host, r.status, r.exit_status ? fmt::format("{}", *r.exit_status) : "-",
        cell_merge_ranks(r.seconds, "s"), cell_merge_ranks(r.joules, "J"), memory(r.peak_vram_b));
  out += fmt::format("{:<6}{:<24}{:<14}{:>6}{:>14}{:>16}{:>14}\n", "all",
                     fmt::format("{} GPUs", run.gpus),
                     fmt::format("{} of {} ok", run.succeeded, run.ranks.size()), "",
                     cell_merge_ranks(run.wall_s, "s"), cell_merge_ranks(run.joules, "J"),
                     memory(run.peak_vram_b));
  return out + findings_text(findings);
}

Result<void> write_merged(const ProfiledRanks& run, std::span<const Finding> findings,
                          const std::string& out) {
  std::error_code ec;
  const std::string manifest = out + "/manifest.json";
  if (fs::exists(manifest, ec)) {
    const Result<std::string> before = read_unregistered(manifest);
    const Result<Json> json = before ? parse_json(*before, manifest, nullptr) : before.error();
    if (!json || text_at(*json, {"format"}) != kFormat)
      return Error{ErrorCode::kUsage, manifest,
                   "is the manifest of a profiling run, not of merged ranks",
                   "choose another --out"};
  }
  RS_CHECK(make_folder(out));
  const bool samples = std::any_of(run.ranks.begin(), run.ranks.end(),
                                   [](const ProfiledRank& r) { return r.samples; });
  if (samples) {
    RS_TRY(OutputFile file, OutputFile::create(out + "/gpu_samples.csv"));
    std::string header;
    for (const ProfiledRank& r : run.ranks)
      if (r.samples)
        RS_CHECK(append_samples(r, header, file));
    RS_CHECK(file.commit());
  }
  RS_CHECK(write_file(out + "/summary.txt", merged_text(run, findings)));
  return write_file(manifest, merged_json(run, findings).dump() + "\n");
}

} // namespace rankscope
