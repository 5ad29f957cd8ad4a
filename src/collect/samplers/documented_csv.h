// The documented CSVs of power and memory: which columns, and a row of them.
#pragma once

#include "base/result.h"
#include "collect/samplers/device_choice.h"
#include "collect/samplers/sampler.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A column is one GPU, or with --dual-gcd the dies of a package together.
struct DocumentedColumn {
  std::vector<std::size_t> gpus; ///< positions; the power of several is that of the first
  std::string name;              ///< GPU0, GPU0+1
};

/// Power: one column per package. Memory: one per GPU. `dual_gcd` adds one per package with two
/// dies (or a note if no such package is sampled).
[[nodiscard]] std::vector<DocumentedColumn> documented_columns(DocumentedKind kind, bool dual_gcd,
                                                               std::span<const GpuIdentity> gpus,
                                                               const GpuChoice& choice,
                                                               std::vector<std::string>& notes);
/// `time,Power(Watt) GPU0,...` or `time,vram(%) GPU0,...` with its line end.
[[nodiscard]] std::string documented_header(DocumentedKind kind,
                                            std::span<const DocumentedColumn> columns);
/// `readings` by position. Memory in percent of the total.
[[nodiscard]] std::string documented_row(DocumentedKind kind,
                                         std::span<const DocumentedColumn> columns,
                                         std::int64_t unix_ns,
                                         std::span<const GpuReading> readings);

} // namespace rankscope
