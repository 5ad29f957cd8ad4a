#include "engine/shard_file.h"

#include "base/fnv.h"
#include "core/diagnostics_part.h"
#include "core/error_part.h"
#include "core/run_part.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr const char* kShardKind = "shard";
constexpr std::string_view kEnding = ".part";
constexpr std::uint64_t kMostShards = 1U << 20;

} // namespace

template <class Archive, PartOf<PartOptions> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.wanted, r.gpu_arch, r.gpu_arch_mark, r.legacy_gemm_layout, r.top_k,
          r.batch_names.pattern, r.batch_names.extension, r.batch_names.filters, r.batch.compat,
          r.batch.all_kernels, r.workbooks);
  archive.choice(r.rank_by, static_cast<std::uint64_t>(GemmRanking::kTotalExcess) + 1);
}

template <class Archive, PartOf<RankFile> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.path, r.bytes, r.rank_in_file);
}

/// Returns whether the label, used as a path, stays inside the output folder.
bool below_folder(const std::string& label) {
  const std::filesystem::path path(label);
  return path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

template <class Archive, PartOf<KnownPlan> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.plan.configuration, r.plan.folder, r.plan.ranks, r.plan.missing_ranks, r.worlds);
  if constexpr (Archive::kReads) {
    const auto ascending = [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; };
    if (!std::is_sorted(r.plan.ranks.begin(), r.plan.ranks.end(), ascending))
      archive.fail("ranks of a plan are not in order");
    if (!below_folder(r.plan.configuration.label))
      archive.fail("a configuration whose name leads out of the folder");
  }
}

template <class Archive, PartOf<KnownPlans> Row> void part_fields(Archive& archive, Row& r) {
  bool failed = r.error.has_value();
  Error error = r.error.value_or(Error{});
  archive(r.plans, r.diagnostics, failed, error);
  if constexpr (Archive::kReads) {
    if (failed)
      r.error = std::move(error);
    if (!failed && r.plans.empty())
      archive.fail("neither a plan nor an error");
  }
}

template <class Archive, PartOf<ShardFile> Row> void part_fields(Archive& archive, Row& r) {
  archive.section("about", [&] {
    archive(r.index, r.count, r.local, r.options, r.inputs, r.one_file, r.page_ranks,
            r.modified_ns);
  });
  archive.section("run", [&] { archive(r.run); });
  archive.section("sweep", [&] { archive(r.sweep); });
  if constexpr (Archive::kReads)
    if (r.index >= r.count || r.count > kMostShards || r.inputs.empty())
      archive.fail("not a shard of a run");
}

std::string PartOptions::text() const {
  PartWriter writer("options", kShardFileVersion);
  writer(*this);
  return RANKSCOPE_VERSION " " + fnv64_hex(std::move(writer).finish());
}

std::string shard_file_name(std::uint64_t index, std::uint64_t count) {
  return fmt::format("shard_{}_of_{}{}", index, count, kEnding);
}

std::string encode_shard_file(const ShardFile& shard) {
  return encode_part(kShardKind, kShardFileVersion, shard);
}

Result<ShardFile> decode_shard_file(std::string_view bytes) {
  return decode_part<ShardFile>(kShardKind, kShardFileVersion, bytes);
}

std::string rank_part_name(const RankFile& file) {
  const std::string trace =
      file.path + (file.rank_in_file ? fmt::format("\n{}", *file.rank_in_file) : "");
  return fmt::format("rank{}_{}{}", file.rank, fnv64_hex(trace), kEnding);
}

std::string report_name(const std::string& part, std::string_view kind) {
  return fmt::format("{}.{}", std::string_view(part).substr(0, part.size() - kEnding.size()), kind);
}

} // namespace rankscope
