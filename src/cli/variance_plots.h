// The five plots of GEMM variance (sweep-and-compare.md 5), from the variance table.
#pragma once

#include "base/result.h"
#include "core/table.h"

#include <string>

namespace rankscope {

/// Writes variance_by_{threads,channels,ranks}_boxplot, variance_violin_combined and
/// variance_thread_channel_interaction to `folder` as .png and, with `svg`, as .svg too. Columns
/// read: threads, channel, rank, time_diff_us. Errors: kMissingTool, kOutput.
Result<void> write_variance_plots(const Table& variance, const std::string& folder, bool svg);

} // namespace rankscope
