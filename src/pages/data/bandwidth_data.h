// Writes the bandwidths of collectives as page data.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/json_writer.h"

namespace rankscope {

/// Adds members to the open object: kind, size and group, the mean bus bandwidth with its 95 %
/// interval, latency and skew.
void add_bandwidth(JsonWriter& json, const SyncSummary& summary);

} // namespace rankscope
