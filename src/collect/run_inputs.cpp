#include "collect/run_inputs.h"

#include "base/fnv.h"
#include "collect/secrets.h"
#include "os/whole_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t kMostHashed = std::uintmax_t{64} << 20;
constexpr std::array<std::string_view, 9> kLibraryPrefixes = {
    "NCCL_", "RCCL_", "HSA_", "HIP_", "ROCR_", "CUDA_", "TORCH_", "MIOPEN_", "PYTORCH_"};
constexpr std::array<std::string_view, 10> kTraceEndings = {
    ".json",   ".json.gz", ".json.zst", ".db",      ".rpd",
    ".rpd.gz", ".csv",     ".sqlite",   ".pftrace", ".nsys-rep"};

/// Returns size and hash of a file, or size and time of a large file; "" = not a file.
std::string file_state(const std::string& path) {
  std::error_code ec;
  if (!fs::is_regular_file(path, ec))
    return "";
  const std::uintmax_t size = fs::file_size(path, ec);
  if (ec)
    return "";
  if (size > kMostHashed)
    return fmt::format("{} bytes of {}", size,
                       fs::last_write_time(path, ec).time_since_epoch().count());
  const Result<std::string> bytes = read_input_file(path);
  return bytes ? fmt::format("{} bytes {}", size, fnv64_hex(*bytes)) : "";
}

std::string was_and_is(const std::string& what, const std::string& was, const std::string& is) {
  const auto value = [](const std::string& v) {
    return v.empty() ? std::string("not set") : fmt::format("'{}'", v);
  };
  return fmt::format("{} was {} and is now {}", what, value(was), value(is));
}

/// Returns the sentence of `describe` for the first name whose values differ; "" = no difference.
template <class Describe>
std::string first_difference(const std::map<std::string, std::string>& saved,
                             const std::map<std::string, std::string>& now, Describe describe) {
  std::set<std::string> names;
  for (const auto* map : {&saved, &now})
    for (const auto& entry : *map)
      names.insert(entry.first);
  for (const std::string& name : names) {
    const auto was = saved.find(name);
    const auto is = now.find(name);
    const std::string before = was == saved.end() ? "" : was->second;
    const std::string after = is == now.end() ? "" : is->second;
    if (before != after)
      return describe(name, before, after);
  }
  return "";
}

std::string command_difference(const SavedRun& saved, const PlannedRun& run) {
  const std::vector<std::string> now = masked_arguments(run.argv);
  if (saved.argv.size() != now.size())
    return fmt::format("the command had {} words and now has {}", saved.argv.size(), now.size());
  for (std::size_t i = 0; i < now.size(); ++i)
    if (saved.argv[i] != now[i])
      return was_and_is(fmt::format("word {} of the command", i + 1), saved.argv[i], now[i]);
  std::map<std::string, std::string> set;
  for (const auto& [name, value] : run.environment)
    set[name] = masked_value(name, value);
  const std::string changed = first_difference(saved.set, set, was_and_is);
  return changed.empty()
             ? "the list of unset variables, or a value that is not stored because it is a secret"
             : changed;
}

} // namespace

std::map<std::string, std::string> read_run_inputs(const PlannedRun& run) {
  std::map<std::string, std::string> out;
  const auto is_set = [&run](std::string_view name) {
    return std::any_of(run.environment.begin(), run.environment.end(),
                       [&](const auto& change) { return change.first == name; });
  };
  if (run.container_name.empty())
    for (const std::string& entry : changed_environment({}, run.unset)) {
      const std::size_t at = entry.find('=');
      const std::string name = entry.substr(0, at);
      if (at == std::string::npos || name.starts_with("NCCL_DEBUG") || is_set(name) ||
          std::none_of(kLibraryPrefixes.begin(), kLibraryPrefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); }))
        continue;
      const std::string value = entry.substr(at + 1);
      out[name] = is_secret(name, value) ? fnv64_hex(value) : value;
    }
  for (const std::string& word : run.argv) {
    const std::size_t equals = word.find('=');
    for (const std::string& path :
         {word, equals == std::string::npos ? std::string() : word.substr(equals + 1)})
      if (!path.empty() && !path.starts_with(run.folder + "/"))
        if (std::string state = file_state(path); !state.empty())
          out[path] = std::move(state);
  }
  return out;
}

std::vector<std::string> trace_files_below(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  using Walk = fs::recursive_directory_iterator;
  for (Walk it(folder, fs::directory_options::skip_permission_denied, ec), end; !ec && it != end;
       it.increment(ec)) {
    const std::string path = it->path().string();
    if (it->is_regular_file(ec) && it->path().filename() != "manifest.json" &&
        std::any_of(kTraceEndings.begin(), kTraceEndings.end(),
                    [&](std::string_view ending) { return path.ends_with(ending); }))
      out.push_back(path.substr(folder.size() + 1));
    ec.clear();
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string difference_to_saved(const SavedRun& saved, const PlannedRun& run) {
  if (saved.mark != run.mark())
    return command_difference(saved, run);
  if (!saved.inputs)
    return "";
  return first_difference(
      *saved.inputs, read_run_inputs(run),
      [](const std::string& name, const std::string& was, const std::string& is) {
        return (was + is).find(" bytes ") != std::string::npos
                   ? fmt::format("the file {} has changed", name)
                   : was_and_is(name, was, is);
      });
}

std::string missing_trace(const SavedRun& saved, const PlannedRun& run) {
  std::error_code ec;
  for (const std::string& trace : saved.traces)
    if (!fs::exists(fs::path(run.folder) / trace, ec))
      return trace;
  return "";
}

} // namespace rankscope
