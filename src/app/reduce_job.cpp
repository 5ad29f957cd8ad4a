#include "app/reduce_job.h"

#include "app/baseline.h"
#include "base/counters.h"
#include "core/error_part.h"
#include "core/part.h"
#include "os/tasks.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace rankscope {
namespace {

constexpr const char* kKind = "share";
constexpr std::uint32_t kVersion = 2;

/// The result of a process: its files for each run, or its error.
struct Share {
  std::vector<std::vector<PartFile>> runs;
  std::optional<Error> error;
};

/// One message of a process: some of its files, or its error.
struct Message {
  std::uint64_t run = 0;
  std::vector<PartFile> files;
  std::optional<Error> error;
};

/// The session for extracting parts: forwards threads, cache and progress to the outer session. The
/// parts contain the problems, and the process that reduces reports them once.
class MapSession final : public Session {
public:
  explicit MapSession(Session& outer) : outer_(outer) {
    threads = outer.threads;
    cache = outer.cache;
  }
  void begin_progress(std::size_t traces, std::uint64_t bytes) override {
    outer_.begin_progress(traces, bytes);
  }
  void step_progress(std::uint64_t bytes) override { outer_.step_progress(bytes); }

private:
  Session& outer_;
};

/// Returns the folder for the parts of each run; empty if parts are not stored.
std::vector<std::string> kept_folders(const JobRequest& request) {
  std::vector<std::string> out;
  if (request.keep_parts.empty())
    return out;
  for (std::size_t i = 0; i < request.runs.size(); ++i)
    out.push_back(request.runs.size() == 1 ? request.keep_parts
                                           : fmt::format("{}/{}", request.keep_parts, i));
  return out;
}

Result<std::vector<std::vector<PartFile>>> map_runs(Session& session, const Link& link,
                                                    const JobRequest& request) {
  MapSession map(session);
  const std::vector<std::string> kept = kept_folders(request);
  std::vector<std::vector<PartFile>> out(request.runs.size());
  for (std::size_t i = 0; i < request.runs.size(); ++i) {
    if (is_one_baseline(request.runs[i].inputs))
      continue;
    PartialRequest run = request.runs[i];
    run.shard_index = link.rank();
    run.shard_count = link.size();
    if (kept.empty()) {
      RS_TRY(out[i], partial_in_memory(map, run));
    } else {
      RS_CHECK(write_partial(map, run, kept[i]));
    }
  }
  return out;
}

/// Returns the result of this process. Any error or exception becomes part of the result, because
/// the other processes wait for its message.
Share share_of(Session& session, const Link& link, const JobRequest& request) {
  Share out;
  try {
    auto runs = map_runs(session, link, request);
    if (runs)
      out.runs = std::move(*runs);
    else
      out.error = std::move(runs.error());
  } catch (...) {
    out.error = error_of_current_exception();
  }
  return out;
}

std::string process_name(std::size_t rank, std::size_t size) {
  return fmt::format("process {} of {}", rank, size);
}

/// Splits the result of a process into messages of about `most` bytes, which are encoded when they
/// are sent.
class Messages {
public:
  Messages(Share share, std::size_t most) : share_(std::move(share)) {
    if (share_.error) {
      begins_ = {{0, 0}};
      return;
    }
    std::size_t bytes = 0;
    for (std::size_t run = 0; run < share_.runs.size(); ++run)
      for (std::size_t i = 0; i < share_.runs[run].size(); ++i) {
        const std::size_t more = share_.runs[run][i].bytes.size();
        if (i == 0 || bytes + more > most) {
          begins_.emplace_back(run, i);
          bytes = 0;
        }
        bytes += more;
      }
  }

  [[nodiscard]] std::uint64_t count() const { return begins_.size(); }

  /// Returns message `n`, and releases the files in it.
  std::string make(std::uint64_t n) {
    Message out;
    out.error = share_.error;
    if (!share_.error) {
      const auto [run, from] = begins_.at(n);
      std::vector<PartFile>& files = share_.runs[run];
      const std::size_t to = n + 1 < begins_.size() && begins_[n + 1].first == run
                                 ? begins_[n + 1].second
                                 : files.size();
      out.run = run;
      for (std::size_t i = from; i < to; ++i)
        out.files.push_back(std::exchange(files[i], {}));
    }
    return encode_part(kKind, kVersion, out);
  }

private:
  Share share_;
  std::vector<std::pair<std::size_t, std::size_t>> begins_; ///< (run, first file) of each message
};

/// Stores a message. An invalid message is accepted too, because the other processes wait until it
/// is received.
void take_message(JobShares& to, std::size_t from, std::string_view bytes, std::size_t runs) {
  Result<Message> message = decode_part<Message>(kKind, kVersion, bytes);
  if (!message || message->error || message->run >= runs) {
    Error why{ErrorCode::kInternal, "", "its message belongs to another run", ""};
    if (to.failed.empty() || to.failed.back().first != from) // once per process
      to.failed.emplace_back(from, !message ? message.error() : message->error.value_or(why));
    return;
  }
  for (PartFile& file : message->files)
    if (!to.store_error)
      if (Result<void> put = to.parts.put(message->run, std::move(file)); !put)
        to.store_error = std::move(put.error());
}

} // namespace

template <class Archive, PartOf<PartFile> Row> void part_fields(Archive& archive, Row& f) {
  archive(f.name, f.bytes);
}

template <class Archive, PartOf<Message> Row> void part_fields(Archive& archive, Row& m) {
  archive(m.run, m.files, m.error);
}

Result<JobShares> gather_shares(Session& session, Link& link, const JobRequest& request) {
  const std::vector<std::uint64_t> there =
      link.swap_numbers(std::vector<std::uint64_t>(link.size(), 1));
  if (const auto absent = std::find(there.begin(), there.end(), 0U); absent != there.end())
    return Error{ErrorCode::kUsage,
                 process_name(static_cast<std::size_t>(absent - there.begin()), link.size()),
                 "has not started", ""};
  JobShares out{GatheredParts(request.gathered_in_memory), link.size(), {}, {}};
  Messages messages(share_of(session, link, request), request.message_bytes);
  gather_in_turn(
      link, messages.count(), [&](std::uint64_t n) { return messages.make(n); },
      [&](std::size_t from, const std::string& bytes) {
        take_message(out, from, bytes, request.runs.size());
      });
  return out;
}

Result<void> open_shares(Session& session, JobShares& shares, const JobRequest& request) {
  if (shares.store_error)
    return *shares.store_error;
  if (shares.failed.size() == shares.processes)
    return shares.failed.front().second;
  for (const auto& [rank, error] : shares.failed)
    session.diagnostics.add(counters::process_failed(error.message()),
                            process_name(rank, shares.processes));
  auto runs = std::make_shared<PartRuns>();
  const std::vector<std::string> kept = kept_folders(request);
  for (std::size_t i = 0; i < request.runs.size(); ++i)
    if (!is_one_baseline(request.runs[i].inputs))
      RS_CHECK(kept.empty() ? runs->add(session, request.runs[i], shares.parts.folders(i),
                                        shares.parts.files(i))
                            : runs->add(session, request.runs[i], {kept[i]}, {}));
  session.source = std::move(runs);
  return {};
}

Result<void> check_single(const EnvironmentLookup& lookup) {
  // not SLURM_ARRAY_*: each element of a job array is a separate job; not RANK: a training script
  // may set it
  const auto launcher_variable = [&](std::string_view name) {
    const bool asked = name.starts_with("OMPI_") || name.starts_with("PMI") ||
                       (name.starts_with("SLURM_") && !name.starts_with("SLURM_ARRAY_"));
    return asked ? lookup(name) : std::nullopt;
  };
  const auto shard = shard_from("", launcher_variable);
  if (!shard || !shard.value() || shard.value()->count == 1)
    return {};
  return Error{ErrorCode::kUsage, shard.value()->source,
               fmt::format("the launcher started {} processes, but MPI finds only this process",
                           shard.value()->count),
               "start the processes with the mpirun of this MPI, or with an srun --mpi=TYPE that "
               "srun --mpi=list shows"};
}

void leave_job(Link& link) {
  (void)link.swap_numbers(std::vector<std::uint64_t>(link.size(), 0));
}

} // namespace rankscope
