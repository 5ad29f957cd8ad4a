#include "engine/loader.h"

#include "core/gpu_work.h"
#include "engine/memory_limit.h"

#include "os/tasks.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <unistd.h>

namespace rankscope {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// In a catch block: what became of this file.
Error error_at(const std::string& path) {
  Error error = error_of_current_exception();
  try {
    error.where = path;
  } catch (const std::bad_alloc&) { // without its name: the caller knows which file it is
  }
  return error;
}

/// Runs when a scope ends, however it ends.
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
  // Kineto JSON packs about 16 to 1; columns take about a third of the text, the tree as much again
  const bool packed = ends_with(file.path, ".gz") || ends_with(file.path, ".zst");
  return file.bytes * (packed ? 16 : 1) / 2 + (std::uint64_t{16} << 20);
}

Result<LoadedTrace> load_trace(const std::string& path, const LoadOptions& options) {
  ReadOptions read;
  read.keep_python = options.keep_python;
  read.keep_launches = options.keep_launches;
  read.threads = options.threads;
  read.pool = options.pool;
  read.rank = options.rank;
  read.known = options.known;
  RS_TRY(Trace trace, read_trace(path, read));
  if (!has_gpu_work(trace))
    trace.diagnostics.add(Severity::kWarning, "no_gpu_events", path,
                          "the trace contains no GPU work (kernels, copies, fills)");
  LoadedTrace out;
  if (options.link)
    out.tree = CallTree::build(trace, {options.keep_python, options.old_reference});
  out.rank = trace.header.rank.value_or(0);
  out.label = path;
  out.trace = std::move(trace);
  return out;
}

Result<void> load_each(const std::vector<RankFile>& files, const LoadOptions& options,
                       const std::function<void(std::size_t, Result<LoadedTrace>)>& consume) {
  const unsigned threads = std::max(1U, options.threads);
  const std::size_t most = options.most_in_flight > 0 ? options.most_in_flight : threads;
  const auto in_parallel =
      static_cast<unsigned>(std::min({std::size_t{threads}, most, files.size()}));
  LoadOptions each = options;
  each.threads = std::max(1U, threads / std::max(1U, in_parallel));
  std::optional<TaskPool> own;
  if (options.pool == nullptr)
    each.pool = &own.emplace(threads);
  const std::uint64_t limit =
      options.memory_limit_bytes > 0 ? options.memory_limit_bytes : default_memory_limit();
  std::mutex mutex;
  std::condition_variable room;
  std::uint64_t in_use = 0;
  std::size_t admitted = 0;
  const auto one = [&](std::size_t i) {
    const std::uint64_t need = estimated_memory(files[i]);
    bool left_out = false;
    {
      std::unique_lock lock(mutex);
      // in the order of the files: a consumer may wait for those before it, never for later ones
      room.wait(lock, [&] { return admitted == i && (in_use == 0 || in_use + need <= limit); });
      in_use += need;
      ++admitted;
      // under the lock, so that no file is left out that a later, admitted one waits for
      left_out = options.cancelled && options.cancelled();
    }
    room.notify_all();
    const AtEnd release{[&] {
      {
        const std::lock_guard lock(mutex);
        in_use -= need;
      }
      room.notify_all();
    }};
    if (left_out)
      return;
    try {
      LoadOptions of_rank = each;
      of_rank.rank = files[i].rank_in_file;
      Result<LoadedTrace> loaded = load_trace(files[i].path, of_rank);
      if (loaded)
        loaded->rank = files[i].rank;
      consume(i, std::move(loaded));
    } catch (...) {
      consume(i, error_at(files[i].path));
    }
  };
  return parallel_for(each.pool, files.size(), one, in_parallel);
}

} // namespace rankscope
