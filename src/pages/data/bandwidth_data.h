// Bandwidths of collectives as data of a page.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/json_writer.h"

namespace rankscope {

/// Members of the open object: kind, size and group, the mean bus bandwidth with its 95 % interval,
/// latency and skew.
void add_bandwidth(JsonWriter& json, const SyncSummary& summary);

} // namespace rankscope
