// Input: the index of a folder of graph captures. An entry must name a file in that folder and a
// valid batch size.
#include "fuzz/fuzz_target.h"
#include "readers/captures/capture_index.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>

RS_FUZZ_TARGET(capture_index) {
  static const rankscope::test::TempFolder folder;
  folder.write(rankscope::kCaptureIndexName, std::string(bytes));
  rankscope::Diagnostics diag;
  const auto index = rankscope::read_capture_index(folder.path(), diag);
  if (!index.has_value() || !index->has_value())
    return;
  for (const rankscope::CaptureIndexEntry& entry : **index)
    if (entry.file.empty() || entry.file.find('/') != std::string::npos || entry.file == ".." ||
        entry.batch_size < 0)
      std::abort();
}
