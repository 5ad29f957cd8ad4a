#include "app/gathered_parts.h"
#include "os/whole_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

std::string folder_of(const ScratchFolder& folder, std::size_t run) {
  return fmt::format("{}/{}", folder.path(), run);
}

} // namespace

Result<void> GatheredParts::put(std::size_t run, PartFile file) {
  const std::size_t runs = std::max(files_.size(), run + 1);
  files_.resize(runs);
  in_folder_.resize(runs, false);
  if (held_ + file.bytes.size() <= in_memory_) {
    held_ += file.bytes.size();
    files_[run].push_back(std::move(file));
    return {};
  }
  if (!folder_) {
    RS_TRY(ScratchFolder made, ScratchFolder::create());
    folder_.emplace(std::move(made));
  }
  in_folder_[run] = true;
  return write_whole(fmt::format("{}/{}", folder_of(*folder_, run), file.name), file.bytes);
}

void GatheredParts::give(ReduceRequest& request) {
  request.runs.resize(std::max(request.runs.size(), files_.size()));
  for (std::size_t run = 0; run < files_.size(); ++run)
    if (in_folder_[run])
      request.runs[run] = {folder_of(*folder_, run)};
  request.files = std::move(files_);
}

} // namespace rankscope
