#include "app/part_set.h"

#include "app/command_parts.h"
#include "os/output_file.h"
#include "os/whole_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".part";

std::string leaf(const std::string& path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// Those that are no ranks which a part of the run has not: each shard lacks those of the others.
Diagnostics without_missing(const Diagnostics& all) {
  Diagnostics out;
  for (const Problem& p : all.problems()) {
    if (p.name.starts_with("missing_ranks_"))
      continue;
    if (p.by_place)
      out.add_at(p.severity, p.name, p.where, p.sentence, p.count);
    else
      out.add(p.severity, p.name, p.where, p.sentence, p.count);
  }
  return out;
}

/// The ranks of another shard beside those that a plan has.
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
      session.diagnostics.add_at(
          Severity::kDataLoss, "rank_twice", file.path,
          fmt::format("{}: another shard has a trace of it, {}, which is used",
                      to_text(RunKey{to.plan.configuration, file.rank}), place->path));
  }
}

} // namespace

Result<std::string> PartSet::bytes_of(const Place& place) {
  if (place.memory != nullptr)
    return place.memory->bytes;
  remember_input(place.path);
  return read_whole(place.path);
}

Result<RankParts> PartSet::read(const Place& place) const {
  const auto fails = [&](const std::string& why, const std::string& hint = "") {
    return Error{ErrorCode::kUnreadable, place.path, why, hint};
  };
  RS_TRY(const std::string bytes, bytes_of(place));
  Result<RankParts> parts = decode_rank_parts(bytes);
  if (!parts)
    return fails(parts.error().message(), "rankscope partial makes it again");
  if (parts->options != facts_.options.text())
    return fails("was made with other options, or by another version, than its shard's file",
                 "rankscope partial makes it again");
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
  return parts;
}

std::int64_t PartSet::modified_ns(const RankFile& file) const {
  const auto at = facts_.modified_ns.find(file.path);
  return at == facts_.modified_ns.end() ? 0 : at->second;
}

Result<std::unique_ptr<PartSet>> PartSet::open(Session& session,
                                               const std::vector<std::string>& folders,
                                               const std::vector<PartFile>& files) {
  std::vector<Place> shards, ranks;
  const auto sort_in = [&](const std::string& name, Place place) {
    if (!name.ends_with(kEnding))
      return;
    if (name.starts_with("shard_"))
      shards.push_back(std::move(place));
    else if (name.starts_with("rank"))
      ranks.push_back(std::move(place));
  };
  for (const std::string& folder : folders) {
    std::vector<std::string> names;
    std::error_code ec;
    for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
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
  std::vector<FoundShard> read = of_one_run(session, read_shards(session, shards));
  if (read.empty())
    return Error{ErrorCode::kUnreadable, folders.empty() ? "" : folders.front(),
                 "no shard left its parts here", "make them with rankscope partial"};
  std::unique_ptr<PartSet> out(new PartSet);
  out->unite(session, std::move(read));
  out->choose_ranks(session, ranks);
  return out;
}

/// Those that can be read, by their index; one that is there twice is named.
std::vector<PartSet::FoundShard> PartSet::read_shards(Session& session,
                                                      const std::vector<Place>& places) {
  std::vector<FoundShard> out;
  std::map<std::string, std::string> seen; // content, where it is
  for (const Place& place : places) {
    const Result<std::string> bytes = bytes_of(place);
    Result<ShardFile> shard = bytes ? decode_shard_file(*bytes) : bytes.error();
    if (!shard) {
      session.diagnostics.add_at(Severity::kDataLoss, "shard_unreadable", place.path,
                                 "the file of a shard is left out: " + shard.error().what);
      continue;
    }
    const auto [at, fresh] = seen.emplace(*bytes, place.path);
    if (fresh)
      out.push_back({place, std::move(*shard)});
    else
      session.diagnostics.add_at(Severity::kInfo, "shard_twice", place.path,
                                 fmt::format("is the same as {} and counts once", at->second));
  }
  std::stable_sort(out.begin(), out.end(), [](const FoundShard& a, const FoundShard& b) {
    return a.shard.index < b.shard.index;
  });
  return out;
}

/// The shards of the run that most of them are of; one that is complete goes before. The others are
/// named.
std::vector<PartSet::FoundShard> PartSet::of_one_run(Session& session,
                                                     std::vector<FoundShard> shards) {
  const auto run_of = [](const ShardFile& shard) {
    ShardFile same = shard;
    same.index = 0;
    same.modified_ns.clear();
    if (shard.local) { // each has seen its own, under whatever name its node has for it
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
    [[nodiscard]] bool whole() const { return indices.size() == count; }
  };
  std::map<std::string, Run> runs;
  for (const FoundShard& found : shards) {
    Run& run = runs[run_of(found.shard)];
    run.indices.insert(found.shard.index);
    run.count = found.shard.count;
  }
  if (runs.size() < 2)
    return shards;
  const auto best = std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.whole(), a.second.indices.size()) <
           std::pair(b.second.whole(), b.second.indices.size());
  });
  std::vector<FoundShard> out;
  for (FoundShard& found : shards) {
    if (run_of(found.shard) == best->first)
      out.push_back(std::move(found));
    else
      session.diagnostics.add_at(
          Severity::kDataLoss, "parts_of_another_run", found.place.path,
          fmt::format(
              "is left out: it is of other traces, options or shards than the {} of {} "
              "shards that are combined{}",
              best->second.indices.size(), best->second.count,
              found.shard.local ? "" : " (nodes with folders of their own need partial --local)"));
  }
  return out;
}

void PartSet::unite(Session& session, std::vector<FoundShard> shards) {
  facts_ = shards.front().shard;
  std::vector<std::uint64_t> absent;
  std::set<std::uint64_t> there;
  for (const FoundShard& found : shards) {
    there.insert(found.shard.index);
    facts_.modified_ns.insert(found.shard.modified_ns.begin(), found.shard.modified_ns.end());
  }
  constexpr std::size_t kNamed = 16;
  for (std::uint64_t i = 0; i < facts_.count && absent.size() < kNamed; ++i)
    if (there.count(i) == 0)
      absent.push_back(i);
  if (!absent.empty()) {
    const std::size_t all = facts_.count - there.size();
    const fs::path folder = fs::path(shards.front().place.path).parent_path();
    session.diagnostics.add(
        Severity::kDataLoss, "shards_missing", folder.string(),
        fmt::format("shard{} {}{} of {} left no parts", all > 1 ? "s" : "", fmt::join(absent, ", "),
                    all > kNamed ? fmt::format(" and {} more", all - kNamed) : "", facts_.count));
  }
  if (facts_.local)
    unite_local(session, shards);
}

/// Each shard found its own ranks: their union, and what that lacks.
void PartSet::unite_local(Session& session, std::vector<FoundShard>& shards) {
  const auto unite_plans = [&](KnownPlans ShardFile::*of, const char* kind) {
    KnownPlans out;
    std::map<std::string, std::size_t> by_label;
    for (FoundShard& found : shards) {
      KnownPlans& more = found.shard.*of;
      out.diagnostics.merge(without_missing(more.diagnostics));
      if (more.error && !out.error)
        out.error = more.error;
      for (KnownPlan& known : more.plans) {
        // of one run each node may call it as its folder is called
        const std::string label = *kind == 'r' ? "" : known.plan.configuration.label;
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
      if (known.plan.ranks.size() >= 2) // one trace is no run
        known.plan.missing_ranks = missing_ranks(known.plan.ranks, known.worlds);
      if (!known.plan.missing_ranks.empty())
        out.diagnostics.add(Severity::kDataLoss, "missing_ranks_" + known.plan.configuration.label,
                            known.plan.folder, missing_ranks_text(known.plan.missing_ranks));
    }
    if (!out.plans.empty() && out.error) {
      out.diagnostics.add(Severity::kDataLoss, fmt::format("shard_without_{}", kind),
                          out.error->where, "a shard has none of the ranks: " + out.error->what);
      out.error.reset();
    }
    std::stable_sort(out.plans.begin(), out.plans.end(),
                     [](const KnownPlan& a, const KnownPlan& b) {
                       return ordered_before(a.plan.configuration, b.plan.configuration);
                     });
    return out;
  };
  facts_.run = unite_plans(&ShardFile::run, "run");
  facts_.sweep = unite_plans(&ShardFile::sweep, "sweep");
}

/// One file for each name: where there are several, the first that can be used.
void PartSet::choose_ranks(Session& session, const std::vector<Place>& places) {
  for (const Place& place : places) {
    const auto [at, fresh] = ranks_.emplace(leaf(place.path), place);
    if (fresh)
      continue;
    const Result<RankParts> first = read(at->second), second = read(place);
    if (!first || !second) {
      const bool use = !first && second;
      const Place& left_out = use ? at->second : place;
      session.diagnostics.add_at(Severity::kDataLoss, "part_unusable", left_out.path,
                                 "is left out, another part of the rank is used: " +
                                     (use ? first : second).error().what);
      if (use)
        at->second = place;
    } else if (same_but_workbooks(*first, *second)) {
      session.diagnostics.add_at(
          Severity::kInfo, "part_twice", place.path,
          fmt::format("holds the same as {} and counts once", at->second.path));
    } else {
      session.diagnostics.add_at(
          Severity::kDataLoss, "part_contradicts", place.path,
          fmt::format("is left out: of the same trace {} holds something else", at->second.path));
    }
  }
}

Result<RunPlan> PartSet::run_plan(Session& session) const {
  session.diagnostics.merge(facts_.run.diagnostics);
  if (facts_.run.error)
    return *facts_.run.error;
  return facts_.run.plans.front().plan;
}

Result<std::vector<RunPlan>> PartSet::sweep_plans(Session& session) const {
  session.diagnostics.merge(facts_.sweep.diagnostics);
  if (facts_.sweep.error)
    return *facts_.sweep.error;
  std::vector<RunPlan> out;
  for (const KnownPlan& known : facts_.sweep.plans)
    out.push_back(known.plan);
  return out;
}

} // namespace rankscope
