// Writes one rank of a simulated run as a rocpd database, in the form that rocprofv3 records.
#pragma once

#include "synth/synth_emit.h"

#include <string>

namespace rankscope::synth {

/// Writes the kernels, copies and calls of emit_rank() with their times in ns, on CLOCK_BOOTTIME,
/// in schema 3.0. Omits operators, which rocprofv3 does not record. Annotations become roctx
/// ranges. RCCL calls contain their launches and have count and datatype. Errors: kOutput.
Result<EmitResult> emit_rank_rocpd(const Options& options, const Program& program,
                                   const Groups& groups, const Run& run, std::int64_t rank,
                                   const std::string& path);

} // namespace rankscope::synth
