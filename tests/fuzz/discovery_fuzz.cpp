// Input: names of files and folders; each line is a path below an empty folder.
#include "fuzz/fuzz_target.h"
#include "readers/discovery.h"
#include "temp_folder.h"

#include <filesystem>

namespace {

namespace fs = std::filesystem;

/// Creates the file, unless its path is outside the folder or too long for a file system.
void make_file(const fs::path& root, const std::string& name) {
  if (name.empty() || name.size() > 200 || name.find('\0') != std::string::npos)
    return;
  for (const fs::path& part : fs::path(name))
    if (part == ".." || part.is_absolute())
      return;
  std::error_code error;
  const fs::path path = root / name;
  fs::create_directories(path.parent_path(), error);
  if (!error && !fs::exists(path, error))
    std::ofstream(path)
        << R"({"distributedInfo": {"rank": 1, "world_size": 4}, "traceEvents": []})";
}

} // namespace

RS_FUZZ_TARGET(discovery) {
  const rankscope::test::TempFolder folder;
  for (int files = 0; !bytes.empty() && files < 24; ++files) {
    const std::size_t end = bytes.find('\n');
    make_file(folder.path(), std::string(bytes.substr(0, end)));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  rankscope::Diagnostics diagnostics;
  rankscope::DiscoverOptions options;
  (void)rankscope::discover_sweep(folder.path(), options, diagnostics);
  (void)rankscope::discover_run({folder.path()}, options, diagnostics);
  options.step = "3";
  options.trace_pattern = folder.path("rank*/t.json");
  (void)rankscope::discover_run({folder.path()}, options, diagnostics);
}
