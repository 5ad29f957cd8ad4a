// Input: the annotation of a server step and the index of a folder of captures, separated by NUL.
#include "base/diagnostics.h"
#include "fuzz_target.h"
#include "model/step_annotation.h"
#include "readers/captures/capture_index.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

void annotation(const std::string& name) {
  using namespace rankscope;
  const auto counts = parse_step_counts(name);
  const auto sums = parse_step_annotation(name);
  const auto bare = parse_step_annotation(name, false);
  if (counts && (counts->context_requests < 0 || counts->generation_requests < 0 ||
                 counts->batch_size < 0 || counts->requests() < 0))
    std::abort();
  if (sums.has_value() != bare.has_value() || (sums && !counts))
    std::abort();
  // a detailed annotation must have all sums, and no negative sum
  if (counts && has_all_sums(counts->kind) && (!sums || !sums->detailed))
    std::abort();
  if (sums && (sums->c_sq < 0 || sums->g_sq < 0 || sums->c_sqsk < 0 || sums->g_sqsk < 0))
    std::abort();
  for (const std::int64_t length : step_request_lengths(name))
    if (length < 0)
      std::abort();
}

void index(const std::string& text) {
  using namespace rankscope;
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("rs_index_fuzz_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / kCaptureIndexName, std::ios::binary) << text;
  Diagnostics diagnostics;
  const auto list = read_capture_index(folder.string(), diagnostics);
  if (list && *list)
    for (const CaptureIndexEntry& entry : **list)
      if (entry.file.empty() || entry.file.find('/') != std::string::npos || entry.file == ".." ||
          entry.batch_size < 0)
        std::abort(); // the file would be outside the folder
  std::filesystem::remove_all(folder);
}

} // namespace

RS_FUZZ_TARGET(step_annotation) {
  std::string parts[2];
  rankscope::test::split_parts(bytes, parts);
  annotation(parts[0]);
  index(parts[1]);
}
