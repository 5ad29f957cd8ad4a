#include "readers/trace_files.h"

#include "base/counters.h"
#include "core/output_layout.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <utility>

namespace fs = std::filesystem;

namespace rankscope {

namespace {

/// Returns whether a file is omitted: a hidden file, or an output of rankscope or of the older
/// scripts.
bool left_out(const fs::path& path) {
  const std::string name = path.filename().string();
  std::string_view stem = name;
  for (const std::string_view packed : {".gz", ".zst"})
    if (stem.ends_with(packed))
      stem.remove_suffix(packed.size());
  return name.front() == '.' || name == "ground_truth.json" || name == "manifest.json" ||
         name == "metrics.json" || name == "config.json" || stem.ends_with("_merged.json");
}

bool output_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == kAnalysisFolder || name == kMergedFolder || name == "plots" ||
         (name.size() > 1 && name.front() == '.');
}

/// The maximum depth of folders; sweeps are not deeper.
constexpr std::size_t kDeepest = 64;

/// Returns whether a folder is in /proc, whose links lead to every file of the machine.
bool is_process_filesystem(const fs::path& folder) {
  constexpr auto kProcMagic = 0x9fa0;
  struct statfs info = {};
  return ::statfs(folder.c_str(), &info) == 0 && info.f_type == kProcMagic;
}

/// Enters each real folder once, even if several links lead to it. It enters folders first and then
/// the targets of links, sorted by name, so the result does not depend on the order of directory
/// entries.
class Walk {
public:
  Walk(Readers known, Diagnostics& diag) : known_(known), diag_(diag) {}

  /// Enters `root` and the folders below. Errors: kUnreadable when `root` itself cannot be entered.
  Result<void> enter_all(const fs::path& root) {
    (void)is_new(root);
    RS_CHECK(enter(root, 1));
    while (!links_.empty()) {
      std::vector<Link> links = std::exchange(links_, {});
      std::sort(links.begin(), links.end());
      for (const auto& [path, depth] : links)
        if (!is_process_filesystem(path))
          enter_below(path, depth);
    }
    return {};
  }

  Listing take() {
    std::sort(out_.files.begin(), out_.files.end());
    std::sort(out_.folders.begin(), out_.folders.end());
    return std::move(out_);
  }

private:
  using Link = std::pair<fs::path, std::size_t>; ///< path and depth

  Result<void> enter(const fs::path& folder, std::size_t depth) {
    std::error_code ec;
    fs::directory_iterator it(folder, ec);
    if (ec)
      return Error{ErrorCode::kUnreadable, folder.string(), ec.message(), ""};
    for (const fs::directory_iterator end; !ec && it != end; it.increment(ec))
      take_entry(*it, depth);
    if (ec)
      lost(folder, ec.message());
    return {};
  }

  void take_entry(const fs::directory_entry& entry, std::size_t depth) {
    std::error_code ec;
    if (entry.is_directory(ec)) {
      if (output_folder(entry.path()) || depth >= kDeepest)
        return;
      if (std::error_code aside; entry.is_symlink(aside))
        links_.emplace_back(entry.path(), depth + 1);
      else
        enter_below(entry.path(), depth + 1);
    } else if (entry.is_regular_file(ec) && !left_out(entry.path()) &&
               is_trace_file(entry.path().string(), known_)) {
      out_.files.push_back(entry.path().string());
    } else if (ec && ec != std::errc::no_such_file_or_directory) { // dangling links are ignored
      lost(entry.path(), ec.message());
    }
  }

  void enter_below(const fs::path& folder, std::size_t depth) {
    if (!is_new(folder))
      return;
    out_.folders.push_back(folder.string());
    if (const Result<void> entered = enter(folder, depth); !entered)
      lost(folder, entered.error().what);
  }

  [[nodiscard]] bool is_new(const fs::path& folder) {
    struct stat info = {};
    return ::stat(folder.c_str(), &info) != 0 || seen_.emplace(info.st_dev, info.st_ino).second;
  }

  void lost(const fs::path& path, const std::string& why) {
    diag_.add(counters::folder_unreadable(why), path.string());
  }

  Readers known_;
  Diagnostics& diag_;
  Listing out_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<Link> links_; ///< links that are not followed yet
};

} // namespace

Result<Listing> list_traces(const std::string& root, Readers known, Diagnostics& diag) {
  std::error_code ec;
  if (!fs::exists(root, ec))
    return Error{ErrorCode::kUnreadable, root,
                 ec && ec != std::errc::no_such_file_or_directory ? ec.message()
                                                                  : "no such file or folder",
                 ""};
  if (!fs::is_directory(root, ec)) {
    Listing listing;
    listing.files.push_back(root);
    return listing;
  }
  Walk walk(known, diag);
  RS_CHECK(walk.enter_all(root));
  return walk.take();
}

} // namespace rankscope
