// Writes the parts of a run of many ranks with many collectives, as `rankscope partial` would. For
// measurements of `reduce`, because generating and reading the traces would take hours. Each step
// has an all-reduce of all ranks, reduce-scatters and all-gathers of the ranks with the same
// position in their node, all-reduces within nodes of 8, and broadcasts in pairs.
//
//   many_rows FOLDER [RANKS=10000] [ROWS=10000 of each rank]
#include "app/rank_needs.h"
#include "engine/shard_file.h"
#include "os/output_file.h"
#include "os/whole_file.h"

#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <string>
#include <vector>

namespace rankscope {
namespace {

constexpr std::int64_t kPerNode = 8;
constexpr std::int64_t kStepRows = 20;
constexpr std::int64_t kStepNs = 20'000'000;

struct Group {
  std::string name, list;
  std::int64_t size = 0, number = 0; ///< `number`: index among the groups of its kind
};

std::string list_of(std::int64_t first, std::int64_t stride, std::int64_t size) {
  std::string out = "[";
  for (std::int64_t i = 0; i < size; ++i) {
    if (size > 30 && i == 30) { // PyTorch truncates long lists too
      out += ", ...";
      break;
    }
    out += fmt::format("{}{}", i > 0 ? ", " : "", first + i * stride);
  }
  return out + "]";
}

/// Returns a pseudo-random number, always the same for the same arguments.
std::int64_t noise(std::int64_t a, std::int64_t b, std::int64_t below) {
  auto x = static_cast<std::uint64_t>(a) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(b);
  x ^= x >> 31U;
  x *= 0xBF58476D1CE4E5B9U;
  x ^= x >> 29U;
  return static_cast<std::int64_t>(x % static_cast<std::uint64_t>(below));
}

RankCollectives collectives_of(std::int64_t rank, std::int64_t ranks, std::int64_t rows) {
  const std::int64_t nodes = std::max<std::int64_t>(1, ranks / kPerNode);
  const Group groups[] = {
      {"0", list_of(0, 1, ranks), ranks, 0},
      {fmt::format("{}", 1 + rank % kPerNode), list_of(rank % kPerNode, kPerNode, nodes), nodes,
       rank % kPerNode},
      {fmt::format("{}", 9 + rank / kPerNode), list_of(rank / kPerNode * kPerNode, 1, kPerNode),
       kPerNode, rank / kPerNode},
      {fmt::format("{}", 9 + nodes + rank / 2), list_of(rank / 2 * 2, 1, 2), 2, rank / 2}};
  struct Shape {
    const char* name;
    std::int64_t in, out;
  };
  const Shape shapes[] = {{"allreduce", 4096, 4096},
                          {"_reduce_scatter_base", 1 << 20, (1 << 20) / 64},
                          {"allreduce", 1 << 22, 1 << 22},
                          {"broadcast", 65536, 65536}};
  // group of each row of a step: 0 all ranks, 1 across nodes, 2 within nodes, 3 pairs
  const int kinds[kStepRows] = {1, 2, 2, 3, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 1, 2, 3, 1, 0};
  RankCollectives r;
  r.rank = rank;
  r.path = fmt::format("/run/rank{}.json", rank);
  r.base_time_ns = 1'700'000'000'000'000'000;
  r.device_count = kPerNode;
  std::int64_t seq[4] = {};
  r.rows.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const int kind = kinds[i % kStepRows];
    const Group& g = groups[kind];
    const Shape& shape = shapes[kind];
    Collective c;
    c.pg_name = r.texts.intern(g.name);
    c.pg_ranks = r.texts.intern(g.list);
    c.name = r.texts.intern(shape.name);
    c.kind = collective_kind(shape.name);
    c.dtype = r.texts.intern("BFloat16");
    c.kernel = r.texts.intern(fmt::format("ncclDevKernel_{}", shape.name));
    c.in_nelems = shape.in;
    c.out_nelems = shape.out;
    c.group_size = g.size;
    c.seq = ++seq[kind];
    c.stream = 20 + kind;
    c.step = i / kStepRows;
    const std::int64_t late = noise(rank, i, 40'000) + (rank == 77 ? 25'000 : 0);
    c.ts_ns = c.step * kStepNs + i % kStepRows * (kStepNs / kStepRows) + late;
    c.dur_ns = 90'000 - late + noise(g.number, i, 9'000) + noise(i, rank, 400);
    c.hidden_compute_ns = noise(i, rank + 1, c.dur_ns);
    c.has_ids = true;
    r.comm_ns += c.dur_ns;
    r.hidden_compute_ns += c.hidden_compute_ns;
    r.rows.push_back(c);
  }
  r.exposed_ns = r.comm_ns - r.hidden_compute_ns;
  return r;
}

Result<void> make(const std::string& folder, std::int64_t ranks, std::int64_t rows) {
  RS_CHECK(make_folder(folder));
  ShardFile shard;
  shard.inputs = {"/run"};
  shard.sweep.error = Error{ErrorCode::kUsage, "", "no sweep was requested", ""};
  KnownPlan& known = shard.run.plans.emplace_back();
  known.plan.folder = "/run";
  known.plan.configuration.label = "run";
  Needs needs;
  const CollectivesNeeds needed(needs);
  const LoadedTrace no_trace;
  std::uint64_t bytes = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const RankFile file{rank, fmt::format("/run/rank{}.json", rank), 1, {}};
    known.plan.ranks.push_back(file);
    RS_TRY(RankFacts facts,
           needs.extract({known.plan, file, 0, static_cast<std::size_t>(rank)}, no_trace));
    facts[needed.collectives] = collectives_of(rank, ranks, rows);
    facts[needed.notes] = {rank, kPerNode, {}};
    RankIdentity& identity = facts[needed.identity];
    identity.rank = rank;
    identity.header_rank = rank;
    identity.world_size = ranks;
    identity.largest_group = ranks;
    identity.content = static_cast<std::uint64_t>(rank) + 1;
    RankParts parts;
    parts.rank = rank;
    parts.path = file.path;
    parts.options = shard.options.text();
    needs.encode(facts, parts);
    const std::string encoded = encode_rank_parts(parts);
    bytes += encoded.size();
    RS_CHECK(write_with_folder(folder + "/" + rank_part_name(file), encoded));
  }
  RS_CHECK(write_with_folder(folder + "/" + shard_file_name(0, 1), encode_shard_file(shard)));
  fmt::print("{} ranks, {} rows, {:.1f} bytes per row\n", ranks, ranks * rows,
             static_cast<double>(bytes) / static_cast<double>(ranks * rows));
  return {};
}

} // namespace
} // namespace rankscope

int main(int argc, char** argv) {
  const auto number = [&](int at) {
    return argc > at ? std::strtoll(argv[at], nullptr, 10) : 10'000LL;
  };
  if (argc < 2 || number(2) < 2 || number(3) < 1) {
    std::cerr << "usage: many_rows FOLDER [RANKS] [ROWS]\n";
    return 2;
  }
  if (const auto done = rankscope::make(argv[1], number(2), number(3)); !done) {
    std::cerr << done.error().message() << '\n';
    return 1;
  }
  return 0;
}
