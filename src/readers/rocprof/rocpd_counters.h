// Reads the hardware counters and PC samples of kernels, and the memory allocations, of a rocpd
// session.
#pragma once

#include "readers/rocprof/rocpd_session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rankscope {

/// Returns a kernel and its trace by event id.
using KernelOfEvent =
    std::function<std::optional<std::pair<ProcessTrace*, EventId>>(std::int64_t event)>;

/// Reads rocpd_pmc_event, which has one row per counter instance. Rows without a kernel (samples of
/// streaming counters) are counted in `first` as not read.
void read_rocpd_counters(const RocpdSession& session, const KernelOfEvent& kernel,
                         ProcessTrace& first);

/// Returns a kernel and its trace by process and dispatch number.
using KernelOfDispatch = std::function<std::optional<std::pair<ProcessTrace*, EventId>>(
    const RocpdPlace& place, std::int64_t dispatch)>;

/// Reads rocpd_gpu_pc_sample, which has one row per sample of the program counter. Rows without a
/// kernel are counted in `first` as not read.
void read_rocpd_pc_samples(const RocpdSession& session, const KernelOfDispatch& kernel,
                           ProcessTrace& first);
/// Returns the name of the session's table of PC samples; nullptr if it has no such table.
[[nodiscard]] const char* rocpd_pc_sample_table(const RocpdSession& session);

/// Reads rocpd_memory_allocate into the traces that `of` returns: memory of the program, and
/// scratch memory of queues.
void read_rocpd_allocations(const RocpdSession& session,
                            const std::function<ProcessTrace*(const RocpdPlace&)>& of);

} // namespace rankscope
