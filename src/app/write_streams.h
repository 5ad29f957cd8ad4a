// write_outputs() for a report in which the rows of some tables are made while they are written.
#pragma once

#include "app/write_outputs.h"
#include "core/row_stream.h"

#include <string>
#include <vector>

namespace rankscope {

Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs,
                                               const RowStreams& streams);

} // namespace rankscope
