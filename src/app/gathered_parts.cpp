#include "app/gathered_parts.h"
#include "os/whole_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

std::string folder_of(const ScratchFolder& folder, std::size_t run, std::size_t copy) {
  return fmt::format("{}/{}_{}", folder.path(), run, copy);
}

} // namespace

Result<void> GatheredParts::put(std::size_t run, PartFile file) {
  const std::size_t runs = std::max(files_.size(), run + 1);
  files_.resize(runs);
  in_folders_.resize(runs);
  if (buffered_ + file.bytes.size() <= in_memory_) {
    buffered_ += file.bytes.size();
    files_[run].push_back(std::move(file));
    return {};
  }
  if (!folder_) {
    RS_TRY(ScratchFolder made, ScratchFolder::create());
    folder_.emplace(std::move(made));
  }
  const std::size_t copy = in_folders_[run][file.name]++;
  return write_with_folder(fmt::format("{}/{}", folder_of(*folder_, run, copy), file.name),
                           file.bytes);
}

const std::vector<PartFile>& GatheredParts::files(std::size_t run) {
  files_.resize(std::max(files_.size(), run + 1));
  return files_[run];
}

std::vector<std::string> GatheredParts::folders(std::size_t run) {
  in_folders_.resize(std::max(in_folders_.size(), run + 1));
  std::size_t copies = 0;
  for (const auto& [name, times] : in_folders_[run])
    copies = std::max(copies, times);
  std::vector<std::string> out;
  for (std::size_t copy = 0; copy < copies; ++copy)
    out.push_back(folder_of(*folder_, run, copy));
  return out;
}

} // namespace rankscope
