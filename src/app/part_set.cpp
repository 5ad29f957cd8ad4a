#include "app/part_set.h"

#include "base/counters.h"
#include "base/number_text.h"
#include "base/sort.h"
#include "os/file_stamp.h"
#include "os/whole_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".part";

std::string leaf(const std::string& path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// Returns the problems except missing ranks: each shard lacks the ranks of other shards.
Diagnostics without_missing(const Diagnostics& all) {
  Diagnostics out;
  for (const Problem& p : all.problems())
    if (p.name != counters::missing_ranks.key)
      out.merge(p);
  return out;
}

/// Adds the ranks of another shard to a plan.
void unite_plan(Session& session, KnownPlan& to, KnownPlan more) {
  for (const auto& [world, heads] : more.worlds)
    to.worlds[world] += heads;
  for (RankFile& file : more.plan.ranks) {
    const auto place =
        std::lower_bound(to.plan.ranks.begin(), to.plan.ranks.end(), file.rank,
                         [](const RankFile& a, std::int64_t rank) { return a.rank < rank; });
    if (place == to.plan.ranks.end() || place->rank != file.rank)
      to.plan.ranks.insert(place, std::move(file));
    else if (place->path != file.path)
      session.diagnostics.add(
          counters::rank_twice(to_text(RunKey{to.plan.configuration, file.rank}), place->path),
          file.path);
  }
}

} // namespace

Result<std::string> PartSet::bytes_of(const Place& place) {
  if (place.memory != nullptr)
    return place.memory->bytes;
  return read_input_file(place.path);
}

Result<RankParts> PartSet::read(const Place& place) const {
  const auto fails = [&](const std::string& why, const std::string& hint = "") {
    return Error{ErrorCode::kUnreadable, place.path, why, hint};
  };
  RS_TRY(const std::string bytes, bytes_of(place));
  Result<RankParts> parts = decode_rank_parts(bytes);
  if (!parts)
    return fails(parts.error().message(), "run rankscope partial again");
  if (parts->options != facts_.options.text())
    return fails("was made with other options or by another version than the file of its shard",
                 "run rankscope partial again");
  return parts;
}

Result<RankParts> PartSet::parts_of(const RunPlan&, const RankFile& file) const {
  const auto at = ranks_.find(rank_part_name(file));
  if (at == ranks_.end())
    return Error{ErrorCode::kUnreadable, file.path,
                 fmt::format("its part {} is missing", rank_part_name(file)), ""};
  RS_TRY(RankParts parts, read(at->second));
  if (parts.lost)
    return *parts.lost;
  if (parts.rank != file.rank || parts.path != file.path)
    return Error{ErrorCode::kUnreadable, at->second.path,
                 fmt::format("is the part of rank {} of {}", parts.rank, parts.path), ""};
  if (!is_current(parts, at->first))
    return Error{ErrorCode::kUnreadable, at->second.path,
                 fmt::format("was made before its trace {} changed", parts.path),
                 "run rankscope partial again"};
  return parts;
}

Result<void> PartSet::copy_report(const RankFile& file, std::string_view kind,
                                  const std::string& path) const {
  const Place& part = ranks_.find(rank_part_name(file))->second;
  const std::string name = report_name(part.path, kind);
  const auto found = other_files_.find(leaf(name));
  if (found == other_files_.end())
    return Error{ErrorCode::kUnreadable, name, "is missing", "run rankscope partial again"};
  // prefer the file in the part's folder; for a part in memory, the file may be in another folder
  const auto same = std::find_if(found->second.begin(), found->second.end(),
                                 [&name](const Place& place) { return place.path == name; });
  RS_TRY(const std::string bytes,
         bytes_of(same != found->second.end() ? *same : found->second.front()));
  return write_with_folder(path, bytes);
}

/// Returns whether the trace of the part is unchanged since the shards found it.
bool PartSet::is_current(const RankParts& parts, const std::string& name) const {
  if (facts_.local) {
    const auto at = changed_ns_.find(name);
    return at != changed_ns_.end() && at->second.count(parts.modified_ns) > 0;
  }
  const auto at = facts_.modified_ns.find(parts.path);
  return parts.modified_ns == (at == facts_.modified_ns.end() ? 0 : at->second);
}

std::int64_t PartSet::modified_ns(const RankFile& file) const {
  const auto at = facts_.modified_ns.find(file.path);
  return at == facts_.modified_ns.end() ? 0 : at->second;
}

Result<std::shared_ptr<PartSet>> PartSet::open(Session& session,
                                               const std::vector<std::string>& folders,
                                               const std::vector<PartFile>& files) {
  std::vector<Place> shards, ranks;
  std::map<std::string, std::vector<Place>, std::less<>> other_files;
  const auto sort_in = [&](const std::string& name, Place place) {
    if (!name.ends_with(kEnding))
      other_files[name].push_back(std::move(place));
    else if (name.starts_with("shard_"))
      shards.push_back(std::move(place));
    else if (name.starts_with("rank"))
      ranks.push_back(std::move(place));
  };
  for (const std::string& folder : folders) {
    std::vector<std::string> names;
    std::error_code ec;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
      if (std::error_code aside; it->is_regular_file(aside)) // opening a pipe blocks
        names.push_back(it->path().filename().string());
    if (ec)
      return Error{ErrorCode::kUnreadable, folder, "cannot be listed: " + ec.message(),
                   "expected a folder that rankscope partial wrote"};
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      sort_in(name, {folder + "/" + name, nullptr});
  }
  for (const PartFile& file : files)
    sort_in(file.name, {file.name, &file});
  std::vector<FoundShard> read = shards_of_run(session, read_shards(session, shards));
  if (read.empty())
    return Error{ErrorCode::kUnreadable, folders.empty() ? "" : folders.front(),
                 "no shard has written its parts here", "make them with rankscope partial"};
  std::shared_ptr<PartSet> out(new PartSet);
  out->other_files_ = std::move(other_files);
  out->unite(session, std::move(read), ranks);
  out->choose_ranks(session, ranks);
  return out;
}

/// Returns the shards that can be read, sorted by index. Reports duplicate shards.
std::vector<PartSet::FoundShard> PartSet::read_shards(Session& session,
                                                      const std::vector<Place>& places) {
  std::vector<FoundShard> out;
  std::map<std::string, std::string> seen; // file content to its path
  for (const Place& place : places) {
    const Result<std::string> bytes = bytes_of(place);
    Result<ShardFile> shard = bytes ? decode_shard_file(*bytes) : bytes.error();
    if (!shard) {
      session.diagnostics.add(counters::shard_unreadable(shard.error().what), place.path);
      continue;
    }
    const auto [at, fresh] = seen.emplace(*bytes, place.path);
    if (fresh)
      out.push_back(
          {place, std::move(*shard),
           place.memory == nullptr ? file_stamp(place.path).value_or(FileStamp{}).written_ns : 0});
    else
      session.diagnostics.add(counters::shard_twice(at->second), place.path);
  }
  sort_stably(
      out, [](const FoundShard& a, const FoundShard& b) { return a.shard.index < b.shard.index; });
  return out;
}

/// Returns the shards of one run: the newest complete run, else the run with the most shards.
/// Reports the shards of other runs in the diagnostics.
std::vector<PartSet::FoundShard> PartSet::shards_of_run(Session& session,
                                                        std::vector<FoundShard> shards) {
  const auto run_of = [](const ShardFile& shard) {
    ShardFile same = shard;
    same.index = 0;
    same.modified_ns.clear();
    if (shard.local) { // each node found its own ranks, and may name the run differently
      same.inputs.clear();
      same.run = same.sweep = {};
      same.one_file = false;
      same.page_ranks = 0;
    }
    return encode_shard_file(same);
  };
  struct Run {
    std::set<std::uint64_t> indices;
    std::uint64_t count = 1;
    std::int64_t newest_ns = 0;
    std::string asked;                     ///< inputs and options of the request
    std::set<std::string> traces, folders; ///< traces found, and folders of the shard files
    /// Returns whether this run found all traces of `found` again in the same folder. False for
    /// another node whose folder has the same name.
    [[nodiscard]] bool holds_all_of(const FoundShard& found) const {
      return folders.count(fs::path(found.place.path).parent_path().string()) > 0 &&
             std::all_of(found.shard.modified_ns.begin(), found.shard.modified_ns.end(),
                         [this](const auto& trace) { return traces.count(trace.first) > 0; });
    }
    [[nodiscard]] bool is_complete() const { return indices.size() == count; }
    [[nodiscard]] auto rank() const {
      return std::tuple(is_complete(), is_complete() ? newest_ns : 0, indices.size(), newest_ns);
    }
  };
  const auto asked_of = [](const ShardFile& shard) {
    return shard.options.text() + fmt::format("{}\n{}", shard.local, fmt::join(shard.inputs, "\n"));
  };
  std::map<std::string, Run> runs;
  for (const FoundShard& found : shards) {
    Run& run = runs[run_of(found.shard)];
    run.indices.insert(found.shard.index);
    run.count = found.shard.count;
    run.newest_ns = std::max(run.newest_ns, found.written_ns);
    run.asked = asked_of(found.shard);
  }
  if (runs.size() < 2)
    return shards;
  for (const FoundShard& found : shards) {
    Run& run = runs[run_of(found.shard)];
    run.folders.insert(fs::path(found.place.path).parent_path().string());
    for (const auto& [path, changed_ns] : found.shard.modified_ns)
      run.traces.insert(path);
  }
  const auto best = std::ranges::max_element(
      runs, [](const auto& a, const auto& b) { return a.second.rank() < b.second.rank(); });
  std::vector<FoundShard> out;
  for (FoundShard& found : shards) {
    if (run_of(found.shard) == best->first)
      out.push_back(std::move(found));
    else if (best->second.is_complete() && asked_of(found.shard) == best->second.asked &&
             best->second.holds_all_of(found))
      session.diagnostics.add(counters::parts_of_before(best->second.count), found.place.path);
    else
      session.diagnostics.add(
          counters::parts_of_another_run(
              best->second.indices.size(), best->second.count,
              found.shard.local ? "" : " (nodes with separate folders need partial --local)"),
          found.place.path);
  }
  return out;
}

/// Returns a shard for each node that is not in `there` but has finished ranks; the shard contains
/// only these ranks.
std::vector<PartSet::FoundShard> PartSet::finished_by(const std::set<std::uint64_t>& there,
                                                      const std::vector<Place>& places,
                                                      const ShardFile& like) {
  std::map<std::uint64_t, FoundShard> found;
  for (const Place& place : places) {
    if (changed_ns_.count(leaf(place.path)) > 0) // the part belongs to a shard in `there`
      continue;
    const Result<RankParts> parts = read(place);
    const std::optional<NodeShard> node_shard = parts ? parts->node : std::nullopt;
    if (!node_shard || parts->lost || node_shard->count != facts_.count ||
        there.count(node_shard->index) > 0)
      continue;
    FoundShard& shard = found[node_shard->index];
    if (shard.shard.run.plans.empty()) {
      shard.place = place;
      shard.shard.index = node_shard->index;
      shard.shard.run.plans.push_back({});
      if (!like.run.plans.empty())
        shard.shard.run.plans.front().plan.configuration =
            like.run.plans.front().plan.configuration;
    }
    RankFile file;
    file.rank = parts->rank;
    file.path = parts->path;
    file.rank_in_file = parts->rank_in_file;
    file.bytes = parts->trace_bytes;
    shard.shard.run.plans.front().plan.ranks.push_back(std::move(file));
    changed_ns_[leaf(place.path)].insert(parts->modified_ns);
    facts_.modified_ns[parts->path] = parts->modified_ns;
  }
  std::vector<FoundShard> out;
  for (auto& [index, shard] : found) {
    RunPlan& plan = shard.shard.run.plans.front().plan;
    std::ranges::sort(plan.ranks, {}, &RankFile::rank);
    if (like.sweep.plans.size() == 1) { // otherwise the rank's configuration is unknown
      shard.shard.sweep = shard.shard.run;
      shard.shard.sweep.plans.front().plan.configuration =
          like.sweep.plans.front().plan.configuration;
    }
    out.push_back(std::move(shard));
  }
  return out;
}

void PartSet::unite(Session& session, std::vector<FoundShard> shards,
                    const std::vector<Place>& ranks) {
  facts_ = shards.front().shard;
  std::vector<std::uint64_t> absent;
  std::set<std::uint64_t> there;
  for (FoundShard& found : shards) {
    there.insert(found.shard.index);
    for (const auto& [path, ns] : found.shard.modified_ns) {
      std::int64_t& newest = facts_.modified_ns[path]; // shards may have run at different times
      newest = std::max(newest, ns);
    }
    if (!found.shard.local)
      continue;
    for (const KnownPlans* known_plans : {&found.shard.run, &found.shard.sweep})
      for (const KnownPlan& known : known_plans->plans)
        for (const RankFile& file : known.plan.ranks) {
          changed_ns_[rank_part_name(file)].insert(found.shard.modified_ns[file.path]);
        }
  }
  constexpr std::size_t kNamed = 16;
  for (std::uint64_t i = 0; i < facts_.count && absent.size() < kNamed; ++i)
    if (there.count(i) == 0)
      absent.push_back(i);
  std::size_t finished = 0;
  if (!absent.empty() && facts_.local) {
    std::vector<FoundShard> more = finished_by(there, ranks, shards.front().shard);
    for (FoundShard& shard : more) {
      finished += shard.shard.run.plans.front().plan.ranks.size();
      shards.push_back(std::move(shard));
    }
  }
  if (!absent.empty()) {
    const std::size_t all = facts_.count - there.size();
    const fs::path folder = fs::path(shards.front().place.path).parent_path();
    absent_shards_ = fmt::format(
        "shard{} {}{} of {} wrote no parts", all > 1 ? "s" : "", fmt::join(absent, ", "),
        all > kNamed ? fmt::format(" and {} more", all - kNamed) : "", facts_.count);
    const std::string used =
        fmt::format("; {} rank{} that {} had completed {} used", finished, finished == 1 ? "" : "s",
                    all > 1 ? "these shards" : "this shard", finished == 1 ? "is" : "are");
    session.diagnostics.add(counters::shards_missing(absent_shards_, finished > 0 ? used : ""),
                            folder.string());
  }
  if (facts_.local)
    unite_local(session, shards);
}

/// Unites the ranks that each shard found, and reports missing ranks.
void PartSet::unite_local(Session& session, std::vector<FoundShard>& shards) {
  // nodes may name the same run differently, after their folders
  std::set<std::int64_t> ranks;
  const bool one_run = std::all_of(shards.begin(), shards.end(), [&](const FoundShard& found) {
    const std::vector<KnownPlan>& plans = found.shard.sweep.plans;
    return plans.empty() ||
           (plans.size() == 1 && plans.front().plan.configuration.parameters.empty() &&
            std::all_of(plans.front().plan.ranks.begin(), plans.front().plan.ranks.end(),
                        [&](const RankFile& file) { return ranks.insert(file.rank).second; }));
  });
  const auto unite_plans = [&](KnownPlans ShardFile::*member, const char* kind) {
    KnownPlans out;
    std::map<std::string, std::size_t> by_label;
    for (FoundShard& found : shards) {
      KnownPlans& more = found.shard.*member;
      out.diagnostics.merge(without_missing(more.diagnostics));
      if (more.error && !out.error)
        out.error = more.error;
      for (KnownPlan& known : more.plans) {
        const std::string label = *kind == 'r' || one_run ? "" : known.plan.configuration.label;
        const auto [at, fresh] = by_label.emplace(label, out.plans.size());
        if (fresh) {
          out.plans.push_back(std::move(known));
          continue;
        }
        KnownPlan& to = out.plans[at->second];
        unite_plan(session, to, std::move(known));
      }
    }
    for (KnownPlan& known : out.plans) {
      known.plan.missing_ranks.clear();
      if (known.plan.ranks.size() >= 2) // a single trace is not a run
        known.plan.missing_ranks = missing_ranks(known.plan.ranks, known.worlds);
      if (!known.plan.missing_ranks.empty())
        out.diagnostics.add(counters::missing_ranks(missing_ranks_text(known.plan.missing_ranks)),
                            known.plan.folder, 1, known.plan.configuration.label);
    }
    if (!out.plans.empty() && out.error) {
      out.diagnostics.add(counters::shard_without_ranks(out.error->what), out.error->where);
      out.error.reset();
    }
    sort_stably(out.plans, [](const KnownPlan& a, const KnownPlan& b) {
      return ordered_before(a.plan.configuration, b.plan.configuration);
    });
    return out;
  };
  facts_.run = unite_plans(&ShardFile::run, "run");
  facts_.sweep = unite_plans(&ShardFile::sweep, "sweep");
}

/// Chooses one file for each part name: the first usable file. Reports the other files in the
/// diagnostics.
void PartSet::choose_ranks(Session& session, const std::vector<Place>& places) {
  for (const Place& place : places) {
    const auto [at, fresh] = ranks_.emplace(leaf(place.path), place);
    if (fresh)
      continue;
    const Result<RankParts> first = read(at->second), second = read(place);
    if (!first || !second) {
      const bool use = !first && second;
      const Place& left_out = use ? at->second : place;
      session.diagnostics.add(counters::part_unusable((use ? first : second).error().what),
                              left_out.path);
      if (use)
        at->second = place;
    } else if (first->encoded == second->encoded) {
      session.diagnostics.add(counters::part_twice(at->second.path), place.path);
    } else if (const bool old = is_current(*second, at->first);
               old != is_current(*first, at->first)) {
      session.diagnostics.add(counters::part_of_before(first->path),
                              (old ? at->second : place).path);
      if (old)
        at->second = place;
    } else {
      session.diagnostics.add(counters::part_contradicts(at->second.path), place.path);
    }
  }
}

/// Returns the plan. If shards left no parts, moves ranks without a part to the missing ranks and
/// reports these ranks together.
RunPlan PartSet::planned(Diagnostics& diag, const KnownPlan& known) const {
  RunPlan plan = known.plan;
  plan.parts = shared_from_this();
  if (absent_shards_.empty() || facts_.local)
    return plan;
  std::vector<std::int64_t> absent;
  std::erase_if(plan.ranks, [&](const RankFile& file) {
    const bool gone = ranks_.count(rank_part_name(file)) == 0;
    if (gone)
      absent.push_back(file.rank);
    return gone;
  });
  if (absent.empty())
    return plan;
  diag.add(
      counters::missing_parts(absent.size() == 1 ? "" : "s", ranges_text(absent), absent_shards_),
      plan.folder, 1, plan.configuration.label);
  plan.missing_ranks.insert(plan.missing_ranks.end(), absent.begin(), absent.end());
  std::sort(plan.missing_ranks.begin(), plan.missing_ranks.end());
  return plan;
}

Result<RunPlan> PartSet::run_plan(Diagnostics& diag) const {
  diag.merge(facts_.run.diagnostics);
  if (facts_.run.error)
    return *facts_.run.error;
  return planned(diag, facts_.run.plans.front());
}

Result<std::vector<RunPlan>> PartSet::sweep_plans(Diagnostics& diag) const {
  diag.merge(facts_.sweep.diagnostics);
  if (facts_.sweep.error)
    return *facts_.sweep.error;
  std::vector<RunPlan> out;
  for (const KnownPlan& known : facts_.sweep.plans)
    out.push_back(planned(diag, known));
  return out;
}

} // namespace rankscope
