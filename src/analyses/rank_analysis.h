// Rank analyses: what needs several ranks. Of each rank a part is extracted while its trace is in
// memory; the parts, which may come from this process, from disk or from another machine, are
// combined into a report. Nothing here prints or writes.
#pragma once

#include "analyses/analysis.h"
#include "base/result.h"
#include "core/any_part.h"
#include "core/loaded_trace.h"
#include "core/part.h"
#include "core/report.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// What the type-erased form passes on; a use case with more to say calls the typed functions.
struct RankOptions {
  ReportOptions report;
};

/// One file ends in one of these, made by rank_analysis() from typed functions.
struct RankAnalysis {
  const char* name; ///< kind of its parts too
  const char* help;
  std::uint32_t version; ///< of the parts' fields: raised whenever part_fields changes

  Result<AnyPart> (*extract)(const LoadedTrace& trace, const RankOptions& options);
  std::string (*encode)(const RankAnalysis& self, const AnyPart& part);
  Result<AnyPart> (*decode)(const RankAnalysis& self, std::string_view bytes);
  /// `parts` ascending by rank, of one configuration; all of them made by this analysis.
  Result<Report> (*combine)(std::vector<AnyPart> parts, const RankOptions& options);
};

/// The descriptor of typed functions:
///   Result<Part> Extract(const LoadedTrace&, const RankOptions&)
///   Result<Report> Combine(const std::vector<Part>&, const RankOptions&)
/// and part_fields() of Part (core/part.h).
template <class Part, auto Extract, auto Combine>
[[nodiscard]] constexpr RankAnalysis rank_analysis(const char* name, const char* help,
                                                   std::uint32_t version) {
  return {name,
          help,
          version,
          [](const LoadedTrace& trace, const RankOptions& options) -> Result<AnyPart> {
            RS_TRY(Part part, Extract(trace, options));
            return AnyPart::of(std::move(part));
          },
          [](const RankAnalysis& self, const AnyPart& part) {
            return encode_part(self.name, self.version, *part.get<Part>());
          },
          [](const RankAnalysis& self, std::string_view bytes) -> Result<AnyPart> {
            RS_TRY(Part part, decode_part<Part>(self.name, self.version, bytes));
            return AnyPart::of(std::move(part));
          },
          [](std::vector<AnyPart> parts, const RankOptions& options) {
            std::vector<Part> typed;
            typed.reserve(parts.size());
            for (AnyPart& part : parts)
              typed.push_back(std::move(*part.get<Part>()));
            return Combine(typed, options);
          }};
}

/// In the order of rank_analyses.def.
[[nodiscard]] std::span<const RankAnalysis* const> rank_analyses();
/// By name; nullptr when there is none.
[[nodiscard]] const RankAnalysis* find_rank_analysis(std::string_view name);

#define RANKSCOPE_RANK_ANALYSIS(id) extern const RankAnalysis id##_rank_analysis;
#include "analyses/rank_analyses.def"
#undef RANKSCOPE_RANK_ANALYSIS

} // namespace rankscope
