#include "app/batch_notes.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kMostNoted = 8;
constexpr std::size_t kMostOperators = 3;

std::string joined(const std::vector<std::string>& texts, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i)
    out += (i > 0 ? ", " : "") + texts[i];
  if (texts.size() > most)
    out += fmt::format(", and {} more", texts.size() - most);
  return out;
}

/// Returns the ranks that have no event of a group.
std::vector<std::string> ranks_without(const BatchFacts& facts, std::size_t group) {
  std::vector<std::string> out;
  for (const BatchPart& part : facts.parts)
    if (part.groups[group].events == 0)
      out.push_back(std::to_string(part.rank));
  return out;
}

/// Adds notes on the operators of a rank that have shapes.
void list_shaped(const BatchPart& part, BatchReport& to) {
  if (part.shaped.empty() && std::all_of(part.groups.begin(), part.groups.end(),
                                         [](const auto& g) { return g.events == 0; })) {
    to.notes.push_back(fmt::format("rank {}: no operator has shapes (record_shapes was off, or "
                                   "the operators ran inside a graph)",
                                   part.rank));
    return;
  }
  for (std::size_t i = 0; i < std::min(part.shaped.size(), kMostOperators); ++i) {
    const BatchShapedRoot& root = part.shaped[i];
    to.notes.push_back(
        fmt::format("[rank{}] Parent: {} UID: {}, Duration: {:.3f} ms, Children: ({:.3f} ms): {}",
                    part.rank, root.name, root.uid, root.dur_ms, root.children_ms,
                    root.children.empty() ? "(none)" : joined(root.children, kMostNoted)));
  }
  if (part.shaped.size() > kMostOperators)
    to.notes.push_back(fmt::format("[rank{}] ... and {} more operators with shapes", part.rank,
                                   part.shaped.size() - kMostOperators));
}

/// Adds one note for all groups that lack events on the same ranks. The listed operators are from
/// the first rank without a group: ranks run the same model.
void note_missing_groups(const BatchFacts& facts, BatchReport& to) {
  std::vector<std::pair<std::vector<std::string>, std::string>> groups_by_ranks;
  for (const BatchGroup group : kBatchGroups) {
    std::vector<std::string> ranks = ranks_without(facts, static_cast<std::size_t>(group));
    if (ranks.empty())
      continue;
    const std::string name(batch_group_name(group));
    const auto known = std::find_if(groups_by_ranks.begin(), groups_by_ranks.end(),
                                    [&ranks](const auto& entry) { return entry.first == ranks; });
    if (known == groups_by_ranks.end())
      groups_by_ranks.emplace_back(std::move(ranks), name);
    else
      known->second += ", " + name;
  }
  if (groups_by_ranks.empty())
    return;
  for (const auto& [ranks, names] : groups_by_ranks)
    to.notes.push_back(
        fmt::format("{}: no events with shapes on rank {}", names, joined(ranks, kMostNoted)));
  to.notes.emplace_back("an operator is put into a group by its name and its recorded shapes. Was "
                        "the trace made with record_shapes=True, and does it contain the "
                        "operators' events? Operators with shapes, by their outermost caller:");
  const auto first = std::ranges::find_if(facts.parts, [&](const BatchPart& part) {
    return std::to_string(part.rank) == groups_by_ranks.front().first.front();
  });
  list_shaped(*first, to);
}

void note_left_out(const BatchFacts& facts, BatchReport& to) {
  for (const BatchFamily& family : facts.families) {
    const std::string_view name = batch_group_name(family.group);
    if (family.without_kernel > 0)
      to.notes.push_back(fmt::format("{}: {} calls launched no kernel and are left out", name,
                                     family.without_kernel));
    if (family.unfit > 0)
      to.notes.push_back(fmt::format(
          "{}: {} calls are left out, because no performance model accepts their arguments", name,
          family.unfit));
    if (family.rows.empty())
      to.warnings.push_back(
          fmt::format("{}: no call could be modelled, so this sheet is left out", name));
  }
}

} // namespace

void add_batch_notes(const BatchFacts& facts, BatchReport& to) {
  note_missing_groups(facts, to);
  note_left_out(facts, to);
  if (facts.unlinked.empty())
    to.notes.emplace_back("No unlinked kernel events found.");
  if (facts.short_ops.empty())
    to.notes.emplace_back("No short CPU ops found.");
  std::size_t gpu = 0;
  std::size_t linked = 0;
  for (const BatchPart& part : facts.parts) {
    gpu += part.gpu_events;
    linked += part.gpu_linked;
  }
  if (linked < gpu)
    to.warnings.push_back(fmt::format("{} of {} GPU events have no launch in their trace: "
                                      "gpu_timelines and kernel_launchers leave them out",
                                      gpu - linked, gpu));
  if (!facts.other.empty())
    to.warnings.push_back(fmt::format("grouped_breakdown: these operators and runtime calls are in "
                                      "no group and are counted in Other: {}",
                                      joined(facts.other, 2 * kMostNoted)));
  if (facts.parts.size() > 1 && facts.collectives.kernels.empty())
    to.notes.emplace_back("no collective kernels, so there are no sheets about collectives");
  const std::vector<std::string>& problems = facts.collectives.problems;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostNoted); ++i)
    to.warnings.push_back(problems[i]);
  if (problems.size() > kMostNoted)
    to.warnings.push_back(
        fmt::format("... and {} more disagreements between ranks", problems.size() - kMostNoted));
}

} // namespace rankscope
