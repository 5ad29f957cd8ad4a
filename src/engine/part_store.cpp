#include "engine/part_store.h"

#include "core/part.h"
#include "core/run_part.h"
#include "os/byte_source.h"
#include "os/output_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {

namespace {

constexpr const char* kKind = "part-store";
constexpr std::uint32_t kVersion = 1;

/// All bytes of a file, as they are (a part never begins as something compressed does).
Result<std::string> bytes_of(const std::string& path) {
  RS_TRY(const auto source, ByteSource::open(path));
  std::string bytes;
  constexpr std::size_t kStep = std::size_t{1} << 20;
  for (;;) {
    const std::size_t had = bytes.size();
    bytes.resize(had + kStep);
    const std::size_t got = source->read(bytes.data() + had, kStep);
    bytes.resize(had + got);
    if (got < kStep)
      break;
  }
  if (!source->problem().empty())
    return Error{ErrorCode::kUnreadable, path, source->problem(), ""};
  return bytes;
}

} // namespace

template <class Archive, PartOf<StoredPart> Row> void part_fields(Archive& archive, Row& p) {
  archive(p.analysis, p.rank, p.bytes);
}

template <class Archive, PartOf<StoredParts> Row> void part_fields(Archive& archive, Row& s) {
  archive.section(
      "about", [&] { archive(s.fingerprint, s.configuration.label, s.configuration.parameters); });
  archive.section("parts", [&] { archive(s.parts); });
}

Result<StoredParts> extract_parts(Session& session, const RunPlan& plan,
                                  const std::vector<const RankAnalysis*>& analyses,
                                  const RankOptions& options, const RankRun& run,
                                  std::string fingerprint) {
  StoredParts out;
  out.fingerprint = std::move(fingerprint);
  out.configuration = plan.configuration;
  using OfRank = std::vector<StoredPart>; // one for each analysis
  RS_TRY(
      auto ranks,
      extract_ranks<OfRank>(
          session, {&plan}, run,
          [&](const RankItem& item, const LoadedTrace& trace) -> Result<OfRank> {
            OfRank parts;
            for (const RankAnalysis* analysis : analyses) {
              RS_TRY(const AnyPart part, analysis->extract(trace, options));
              parts.push_back({analysis->name, item.file.rank, analysis->encode(*analysis, part)});
            }
            return parts;
          }));
  for (std::size_t a = 0; a < analyses.size(); ++a)
    for (OfRank& rank : ranks.front())
      out.parts.push_back(std::move(rank[a]));
  return out;
}

Result<Report> combine_parts(const RankAnalysis& analysis, const StoredParts& stored,
                             const RankOptions& options) {
  std::vector<AnyPart> parts;
  for (const StoredPart& part : stored.parts) {
    if (part.analysis != analysis.name)
      continue;
    Result<AnyPart> decoded = analysis.decode(analysis, part.bytes);
    if (!decoded)
      return Error{
          decoded.error().code,
          fmt::format("{} of {}", part.analysis, to_text(RunKey{stored.configuration, part.rank})),
          decoded.error().message(), decoded.error().hint};
    parts.push_back(std::move(*decoded));
  }
  return analysis.combine(std::move(parts), options);
}

Result<void> save_parts(const StoredParts& stored, const std::string& path) {
  RS_TRY(OutputFile file, OutputFile::create(path));
  file.write(encode_part(kKind, kVersion, stored));
  return file.commit();
}

Result<StoredParts> load_parts(const std::string& path) {
  RS_TRY(const std::string bytes, bytes_of(path));
  Result<StoredParts> stored = decode_part<StoredParts>(kKind, kVersion, bytes);
  if (!stored)
    return Error{stored.error().code, path + ": " + stored.error().where, stored.error().what, ""};
  return stored;
}

Result<std::optional<StoredParts>> load_parts_of(const std::string& path,
                                                 const std::string& fingerprint) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec))
    return std::optional<StoredParts>();
  RS_TRY(StoredParts stored, load_parts(path));
  if (stored.fingerprint != fingerprint)
    return std::optional<StoredParts>();
  return std::optional(std::move(stored));
}

} // namespace rankscope
