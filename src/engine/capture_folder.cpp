#include "engine/capture_folder.h"

#include "core/arg_text.h"
#include "readers/captures/capture_index.h"
#include "readers/folder_names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Error unreadable(const std::string& folder, const std::string& what) {
  return {ErrorCode::kUnreadable, folder, what,
          "a capture folder contains the traces of graph captures"};
}

LoadOptions load_options(const CaptureOptions& options, bool python) {
  LoadOptions out;
  out.threads = options.threads;
  out.pool = options.pool;
  out.keep_python = python;
  out.keep_launches = true;
  return out;
}

/// Returns the traces directly in the folder, sorted by name.
Result<std::vector<std::string>> traces_in(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> out;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (name != kCaptureIndexName &&
        (name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst")))
      out.push_back(name);
  }
  if (failed)
    return unreadable(folder, "cannot list this folder: " + failed.message());
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns N and MODE if the name is "capture_N_MODE".
std::optional<std::pair<std::int64_t, std::string_view>> capture_name(std::string_view name) {
  constexpr std::string_view kStart = "capture_";
  if (name.substr(0, kStart.size()) != kStart)
    return std::nullopt;
  std::int64_t batch = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + kStart.size(), last, batch);
  if (error != std::errc() || batch < 0 || last - end < 2 || *end != '_')
    return std::nullopt;
  return std::pair(batch, std::string_view(end + 1, static_cast<std::size_t>(last - end - 1)));
}

/// Returns whether a name is "vllm/v1/worker/gpu_model_runner.py(123): _dummy_run", with any line
/// number.
bool dummy_run(std::string_view name) {
  constexpr std::string_view kFile = "vllm/v1/worker/gpu_model_runner.py(";
  if (name.substr(0, kFile.size()) != kFile)
    return false;
  const std::size_t end = name.find_first_not_of("0123456789", kFile.size());
  return end != kFile.size() && end != std::string_view::npos &&
         name.substr(end).starts_with("): _dummy_run");
}

/// Returns the most frequent first extent of all tensors of all operators; if several have the same
/// frequency, the one that occurs first.
std::int64_t likely_batch(const Trace& trace) {
  struct Count {
    std::uint64_t times = 0;
    std::uint64_t first = 0;
  };
  std::map<std::int64_t, Count> counts;
  std::uint64_t seen = 0;
  for (EventId i = 0; i < trace.events.size(); ++i) {
    const OpArgs* const args = trace.op(i);
    if (args == nullptr || args->input_dims == kEmptyStr)
      continue;
    for (const ArgValue& shape : trace.arg(args->input_dims)->list)
      if (shape.kind == ArgValue::Kind::kList && !shape.list.empty() &&
          shape.list.front().kind == ArgValue::Kind::kInt) {
        Count& count = counts[shape.list.front().i];
        if (count.times++ == 0)
          count.first = seen++;
      }
  }
  const auto best = std::ranges::max_element(counts, [](const auto& a, const auto& b) {
    return a.second.times != b.second.times ? a.second.times < b.second.times
                                            : a.second.first > b.second.first;
  });
  return best == counts.end() ? 0 : std::max<std::int64_t>(best->first, 0);
}

CaptureFile examine_capture(const std::string& path, const CaptureOptions& options) {
  CaptureFile out;
  out.path = path;
  const Result<LoadedTrace> loaded = load_trace(path, load_options(options, true));
  if (!loaded) {
    out.problem = loaded.error().message();
    return out;
  }
  const Trace& trace = loaded->trace;
  const Events& e = trace.events;
  EventId annotation = kNoEvent;
  std::size_t annotations = 0;
  std::size_t runs = 0;
  std::size_t begins = 0;
  for (EventId i = 0; i < e.size(); ++i) {
    runs += dummy_run(trace.name(i)) ? 1 : 0;
    begins += e.category[i] == Category::kRuntime &&
                      trace.name(i).find("StreamBeginCapture") != std::string_view::npos
                  ? 1
                  : 0;
    if (e.category[i] != Category::kUserAnnotation || !capture_name(trace.name(i)))
      continue;
    ++annotations;
    if (annotation == kNoEvent || e.ts_ns[i] < e.ts_ns[annotation])
      annotation = i;
  }
  if (annotations > 0 && annotations == runs) {
    const auto named = capture_name(trace.name(annotation));
    out.batch_size = named->first;
    out.full = named->second == "FULL";
    if (!out.full && named->second != "PIECEWISE")
      out.problem = fmt::format("{}: mode {} is neither FULL nor PIECEWISE", path, named->second);
  } else {
    out.batch_size = likely_batch(trace);
    out.full = begins <= 1;
  }
  return out;
}

/// Returns the rank in the file's distributedInfo, else the rank in its name; kNoId = neither
/// contains a rank.
std::int64_t rank_of(const std::string& path) {
  const FileInfo info = inspect_file(path, readers());
  if (info.ranks.size() == 1)
    return info.ranks.front();
  if (const auto names = RankNames::make({})) {
    Candidate candidate;
    candidate.path = fs::path(path).filename().string();
    if (names->match(candidate) && candidate.rank)
      return *candidate.rank;
  }
  return kNoId;
}

/// For each batch size and mode, keeps only one file.
void choose_by_rank(std::vector<CaptureFile>& files, std::int64_t rank) {
  std::map<std::pair<std::int64_t, bool>, std::vector<std::size_t>> same;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i].problem.empty()) // otherwise batch size and mode are unknown
      same[{files[i].batch_size, files[i].full}].push_back(i);
  std::vector<bool> drop(files.size());
  for (const auto& [key, list] : same) {
    if (list.size() == 1)
      continue;
    std::vector<std::size_t> matching;
    for (const std::size_t i : list)
      if (rank != kNoId && rank_of(files[i].path) == rank)
        matching.push_back(i);
    const std::size_t keep = matching.size() == 1 ? matching.front() : list.front();
    if (matching.size() != 1)
      files[keep].problem = fmt::format("{} captures of batch {} ({}); their ranks do not show "
                                        "which capture belongs to this trace",
                                        list.size(), key.first, key.second ? "FULL" : "PIECEWISE");
    for (const std::size_t i : list)
      drop[i] = i != keep;
  }
  std::size_t at = 0;
  std::erase_if(files, [&](const CaptureFile&) { return drop[at++]; });
}

} // namespace

Result<std::vector<CaptureFile>> list_captures(const std::string& folder, std::int64_t rank,
                                               const CaptureOptions& options, Diagnostics& diag) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    return unreadable(folder, "no such folder");
  RS_TRY(const auto index, read_capture_index(folder, diag));
  std::vector<CaptureFile> out;
  if (index) {
    for (const CaptureIndexEntry& entry : *index) {
      CaptureFile& file = out.emplace_back();
      file.path = (fs::path(folder) / entry.file).string();
      file.batch_size = entry.batch_size;
      file.full = entry.full;
    }
  } else {
    RS_TRY(const std::vector<std::string> names, traces_in(folder));
    for (const std::string& name : names)
      out.push_back(examine_capture((fs::path(folder) / name).string(), options));
  }
  if (!options.compat)
    choose_by_rank(out, rank);
  return out;
}

Result<void> merge_capture_folder(LoadedTrace& trace, const std::string& folder,
                                  const CaptureOptions& options) {
  std::int64_t rank = trace.trace.header.rank.value_or(kNoId);
  if (rank == kNoId && trace.trace.path != "-")
    rank = rank_of(trace.trace.path);
  Diagnostics diag;
  RS_TRY(const std::vector<CaptureFile> files, list_captures(folder, rank, options, diag));
  if (files.empty())
    return unreadable(folder, "no trace in this folder");
  trace.trace.diagnostics.merge(diag);
  merge_captures(trace, files,
                 [&options](const CaptureFile& file) -> Result<LoadedTrace> {
                   if (!file.problem.empty())
                     return Error{ErrorCode::kUnreadable, "", file.problem, ""};
                   return load_trace(file.path, load_options(options, options.keep_python));
                 },
                 {options.compat});
  return {};
}

} // namespace rankscope
