// What a rocpd session has beside its timeline: hardware counters of kernels and allocations.
#pragma once

#include "readers/rocprof/rocpd_session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rankscope {

/// A kernel by the id of its event, in the trace that has it.
using KernelOfEvent =
    std::function<std::optional<std::pair<ProcessTrace*, EventId>>(std::int64_t event)>;

/// rocpd_pmc_event: a row an instance of a counter. Those of no kernel (samples of streaming
/// counters) go to `first` as not read.
void read_rocpd_counters(const RocpdSession& session, const KernelOfEvent& kernel,
                         ProcessTrace& first);

/// rocpd_memory_allocate into the traces that `of` gives; rows of scratch memory go to `first` as
/// not read.
void read_rocpd_allocations(const RocpdSession& session,
                            const std::function<ProcessTrace*(const RocpdPlace&)>& of,
                            ProcessTrace& first);

} // namespace rankscope
