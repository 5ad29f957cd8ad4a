#include "engine/loader.h"

#include "base/counters.h"
#include "core/gpu_work.h"
#include "core/steps.h"
#include "engine/memory_limit.h"

#include "os/condition_wait.h"
#include "os/tasks.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unistd.h>

namespace rankscope {
namespace {

/// Returns the current exception as an Error for this file. Call it in a catch block.
Error error_at(const std::string& path) {
  Error error = error_of_current_exception();
  try {
    error.where = path;
  } catch (const std::bad_alloc&) { // no memory for the path; the caller knows which file it is
  }
  return error;
}

/// Calls `body` at the end of a scope, also after an exception.
template <class Body> struct AtEnd {
  Body body;
  ~AtEnd() { body(); }
};
template <class Body> AtEnd(Body) -> AtEnd<Body>;

} // namespace

std::uint64_t default_memory_limit() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_AVPHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return std::max<std::uint64_t>(pages * page / 2, std::uint64_t{256} << 20);
}

std::uint64_t estimated_memory(const RankFile& file) {
  // Kineto JSON compresses by a factor of about 16. The columns need about a third of the size of
  // the text, and the call tree as much again.
  const bool packed = file.path.ends_with(".gz") || file.path.ends_with(".zst");
  return file.bytes * (packed ? 16 : 1) / 2 + (std::uint64_t{16} << 20);
}

namespace {

ReadOptions read_options(const LoadOptions& options) {
  ReadOptions read;
  read.keep_python = options.keep_python;
  read.keep_launches = options.keep_launches;
  read.threads = options.threads;
  read.pool = options.pool;
  read.rank = options.rank;
  read.known = options.known;
  return read;
}

LoadedTrace linked(Trace trace, const std::string& path, const LoadOptions& options) {
  if (!has_gpu_work(trace))
    trace.diagnostics.add(counters::no_gpu_events(), path);
  if (const std::size_t gpus = kernel_gpus(trace); gpus > 1)
    trace.diagnostics.add(counters::several_gpus(gpus), path);
  bool restarted = false;
  if (!profiler_steps(trace, &restarted).empty() && restarted)
    trace.diagnostics.add(counters::steps_restart(), path);
  LoadedTrace out;
  if (options.link)
    out.tree =
        CallTree::build(trace, {options.keep_python && options.frames_in_tree, options.rules});
  out.rank = trace.header.rank.value_or(0);
  out.label = path;
  out.trace = std::move(trace);
  return out;
}

/// The files [begin, end) of a list: one file, or several ranks in the same file.
struct FileGroup {
  std::size_t begin = 0, end = 0;
};

/// Groups the ranks that are in the same file, so that the file is read once and not once per rank.
std::vector<FileGroup> groups_of(const std::vector<RankFile>& files) {
  std::vector<FileGroup> out;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (i > 0 && files[i].rank_in_file && files[i - 1].rank_in_file &&
        files[i].path == files[i - 1].path && *files[i - 1].rank_in_file < *files[i].rank_in_file)
      out.back().end = i + 1;
    else
      out.push_back({i, i + 1});
  return out;
}

using Consume = std::function<void(std::size_t, Result<LoadedTrace>)>;

/// Reads all ranks of a group together, then handles each of them like a separate file.
void load_group(const std::vector<RankFile>& files, const FileGroup& group,
                const LoadOptions& options, unsigned in_parallel, const Consume& consume) {
  const std::string& path = files[group.begin].path;
  std::map<std::int64_t, std::optional<Trace>> traces;
  for (std::size_t i = group.begin; i < group.end; ++i)
    traces[*files[i].rank_in_file];
  Error error{ErrorCode::kUnreadable, path, "this rank is not in the file", ""};
  try {
    const Result<void> status =
        read_traces(path, read_options(options), [&](Trace trace) -> Result<void> {
          const auto wanted = traces.find(trace.header.rank.value_or(-1));
          if (wanted != traces.end() && !wanted->second)
            wanted->second = std::move(trace);
          return {};
        });
    if (!status)
      error = status.error();
  } catch (...) {
    error = error_at(path);
  }
  const auto link_rank = [&](std::size_t n) {
    const std::size_t i = group.begin + n;
    std::optional<Trace>& trace = traces.at(*files[i].rank_in_file);
    try { // each file that is begun must be consumed, because a later file may wait for it
      if (!trace)
        return consume(i, error);
      LoadedTrace loaded = linked(std::move(*trace), path, options);
      trace.reset();
      loaded.rank = files[i].rank;
      consume(i, std::move(loaded));
    } catch (...) {
      consume(i, error_at(path));
    }
  };
  // the result is ignored, because `consume` has got all errors
  (void)parallel_for(options.pool, group.end - group.begin, link_rank, in_parallel);
}

} // namespace

Result<LoadedTrace> load_trace(const std::string& path, const LoadOptions& options) {
  RS_TRY(Trace trace, read_trace(path, read_options(options)));
  return linked(std::move(trace), path, options);
}

Result<void> load_each(const std::vector<RankFile>& files, const LoadOptions& options,
                       const Consume& consume) {
  const unsigned threads = std::max(1U, options.threads);
  const std::size_t most = options.most_in_flight > 0 ? options.most_in_flight : threads;
  const std::vector<FileGroup> groups = groups_of(files);
  const auto in_parallel =
      static_cast<unsigned>(std::min({std::size_t{threads}, most, groups.size()}));
  LoadOptions each = options;
  each.threads = std::max(1U, threads / std::max(1U, in_parallel));
  std::optional<TaskPool> local_pool;
  if (options.pool == nullptr)
    each.pool = &local_pool.emplace(threads);
  const std::uint64_t limit =
      options.memory_limit_bytes > 0 ? options.memory_limit_bytes : default_memory_limit();
  std::mutex mutex;
  std::condition_variable room;
  std::uint64_t in_use = 0;
  std::size_t admitted = 0;
  const auto load_group_at = [&](std::size_t g) {
    const FileGroup group = groups[g];
    const RankFile& file = files[group.begin];
    bool known = static_cast<bool>(options.left_out);
    for (std::size_t i = group.begin; options.left_out && i < group.end; ++i)
      known = options.left_out(i) && known; // left_out() must be called once for each file
    const std::uint64_t need = known ? 0 : estimated_memory(file);
    bool cancelled = false;
    {
      std::unique_lock lock(mutex);
      // admit files in order, because `consume` may wait for earlier files, but not for later ones
      wait_on(room, lock, [&] { return admitted == g && (in_use == 0 || in_use + need <= limit); });
      in_use += need;
      ++admitted;
      // check it under the lock: otherwise a later file could be admitted and wait for this one
      // forever
      cancelled = options.cancelled && options.cancelled();
    }
    room.notify_all();
    const AtEnd release{[&] {
      {
        const std::lock_guard lock(mutex);
        in_use -= need;
      }
      room.notify_all();
    }};
    if (cancelled)
      return;
    if (known) {
      for (std::size_t i = group.begin; i < group.end; ++i)
        consume(i, LoadedTrace());
      return;
    }
    if (group.end - group.begin > 1)
      return load_group(files, group, each, static_cast<unsigned>(most), consume);
    try {
      LoadOptions rank_options = each;
      rank_options.rank = file.rank_in_file;
      Result<LoadedTrace> loaded = load_trace(file.path, rank_options);
      if (loaded)
        loaded->rank = file.rank;
      consume(group.begin, std::move(loaded));
    } catch (...) {
      consume(group.begin, error_at(file.path));
    }
  };
  return parallel_for(each.pool, groups.size(), load_group_at, in_parallel);
}

} // namespace rankscope
