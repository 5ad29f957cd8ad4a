// Columns and rows of the documented CSVs of power and memory.
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
  std::vector<std::size_t> gpus; ///< positions; power is read from the first GPU only
  std::string name;              ///< GPU0, GPU0+1
};

/// Returns the columns. Power has one column per package, memory one per GPU. `dual_gcd` adds one
/// column per package with two dies (or a note if no such package is sampled).
[[nodiscard]] std::vector<DocumentedColumn> documented_columns(DocumentedKind kind, bool dual_gcd,
                                                               std::span<const GpuIdentity> gpus,
                                                               const GpuChoice& choice,
                                                               std::vector<std::string>& notes);
/// Returns `time,Power(Watt) GPU0,...` or `time,vram(%) GPU0,...` with its line end.
[[nodiscard]] std::string documented_header(DocumentedKind kind,
                                            std::span<const DocumentedColumn> columns);
/// Returns a row. `readings` has one entry per GPU of the back end; DocumentedColumn::gpus contains
/// their positions. Memory is in percent of the total.
[[nodiscard]] std::string documented_row(DocumentedKind kind,
                                         std::span<const DocumentedColumn> columns,
                                         std::int64_t unix_ns,
                                         std::span<const GpuReading> readings);

} // namespace rankscope
