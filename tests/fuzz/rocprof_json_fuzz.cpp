// Input: a file of rocprofv3, for the reader, the call tree and the report.
#include "fuzz/fuzz_target.h"
#include "fuzz/rocprof_fuzz.h"
#include "temp_folder.h"

RS_FUZZ_TARGET(rocprof_json) {
  static const rankscope::test::TempFolder folder;
  rankscope::test::through_all(folder.write("trace.json", std::string(bytes)));
}
