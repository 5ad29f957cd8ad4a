// Where a report goes: a workbook (or JSON) and a folder of CSV files.
#pragma once

#include "base/result.h"
#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

struct ReportOutputs {
  std::string file;    ///< "" = none
  std::string format;  ///< of the file: the name of a writer; "" = json by its ending, else xlsx
  std::string csv_dir; ///< "" = none
};

/// Writes what is asked for; the paths written, the CSV folder first. Errors: kOutput.
Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs);

} // namespace rankscope
