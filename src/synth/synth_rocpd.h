// Writes one rank of a simulated run as a rocpd database, as rocprofv3 would have recorded it.
#pragma once

#include "synth/synth_emit.h"

#include <string>

namespace rankscope::synth {

/// The kernels, copies and calls that emit_rank() writes, to the nanosecond, on CLOCK_BOOTTIME:
/// schema 3.0, without operators, which rocprofv3 does not see; annotations are roctx ranges, and
/// the calls of RCCL lie around their launches with count and datatype. Errors: kOutput.
Result<EmitResult> emit_rank_rocpd(const Options& options, const Program& program,
                                   const Groups& groups, const Run& run, std::int64_t rank,
                                   const std::string& path);

} // namespace rankscope::synth
