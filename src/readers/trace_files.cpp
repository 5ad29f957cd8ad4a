#include "readers/trace_files.h"

#include "core/output_layout.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace fs = std::filesystem;

namespace rankscope {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

namespace {

/// Hidden files, and what rankscope and the older scripts write themselves.
bool left_out(const fs::path& path) {
  const std::string name = path.filename().string();
  std::string_view stem = name;
  for (const std::string_view packed : {".gz", ".zst"})
    if (ends_with(stem, packed))
      stem.remove_suffix(packed.size());
  return name.front() == '.' || name == "ground_truth.json" || name == "manifest.json" ||
         name == "config.json" || ends_with(stem, "_merged.json");
}

bool output_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == kAnalysisFolder || name == kMergedFolder || name == "plots" ||
         (name.size() > 1 && name.front() == '.');
}

/// Folders within folders; deeper is no sweep, and links may cross without end.
constexpr std::size_t kDeepest = 64;

class Walk {
public:
  Walk(Readers known, Diagnostics& diag) : known_(known), diag_(diag) {}

  /// Errors: kUnreadable when `folder` itself cannot be entered.
  Result<void> enter(const fs::path& folder) {
    std::error_code ec;
    fs::path real = fs::canonical(folder, ec);
    // a link that leads back to a folder above it has nothing that was not seen
    if (!ec && std::find(above_.begin(), above_.end(), real) != above_.end())
      return {};
    above_.push_back(std::move(real));
    fs::directory_iterator it(folder, ec);
    if (ec) {
      above_.pop_back();
      return Error{ErrorCode::kUnreadable, folder.string(), ec.message(), ""};
    }
    for (const fs::directory_iterator end; !ec && it != end; it.increment(ec))
      one(*it);
    if (ec)
      lost(folder, ec.message());
    above_.pop_back();
    return {};
  }

  Listing take() {
    std::sort(out_.files.begin(), out_.files.end());
    std::sort(out_.folders.begin(), out_.folders.end());
    return std::move(out_);
  }

private:
  void one(const fs::directory_entry& entry) {
    std::error_code ec;
    if (entry.is_directory(ec)) {
      if (output_folder(entry.path()) || above_.size() >= kDeepest)
        return;
      out_.folders.push_back(entry.path().string());
      if (const Result<void> entered = enter(entry.path()); !entered)
        lost(entry.path(), entered.error().what);
    } else if (entry.is_regular_file(ec) && !left_out(entry.path()) &&
               is_trace_file(entry.path().string(), known_)) {
      out_.files.push_back(entry.path().string());
    } else if (ec && ec != std::errc::no_such_file_or_directory) { // a dangling link is no folder
      lost(entry.path(), ec.message());
    }
  }

  void lost(const fs::path& path, const std::string& why) {
    diag_.add_at(Severity::kDataLoss, "folder_unreadable", path.string(),
                 fmt::format("cannot be entered ({}): traces below it are missing", why));
  }

  Readers known_;
  Diagnostics& diag_;
  Listing out_;
  std::vector<fs::path> above_; ///< the folders on the way down, without links
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
    Listing one;
    one.files.push_back(root);
    return one;
  }
  Walk walk(known, diag);
  RS_CHECK(walk.enter(root));
  return walk.take();
}

} // namespace rankscope
