// Input: a file of rocprofv3, for the reader, the call tree and the report.
#include "fuzz/fuzz_target.h"
#include "fuzz/rocprof_fuzz.h"
#include "temp_folder.h"

RS_FUZZ_TARGET(rocprof_csv) {
  static const rankscope::test::TempFolder folder;
  rankscope::test::through_all(folder.write("1_kernel_trace.csv", std::string(bytes)));
}
