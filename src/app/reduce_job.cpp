#include "app/reduce_job.h"

#include "app/part_files.h"
#include "core/error_part.h"
#include "core/part.h"
#include "os/scratch_folder.h"
#include "os/tasks.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

namespace rankscope {
namespace {

constexpr const char* kKind = "share";
constexpr std::uint32_t kVersion = 1;

/// What a process hands over: of each run its files, or why it has none.
struct Share {
  std::vector<std::vector<PartFile>> runs;
  std::optional<Error> error;
};

/// The map's view of the session: its threads and its progress. What it finds wrong stands in the
/// parts, and is told once, by the one who reduces.
class MapSession final : public Session {
public:
  explicit MapSession(Session& outer) : outer_(outer) { threads = outer.threads; }
  void begin_progress(std::size_t traces, std::uint64_t bytes) override {
    outer_.begin_progress(traces, bytes);
  }
  void step_progress(std::uint64_t bytes) override { outer_.step_progress(bytes); }

private:
  Session& outer_;
};

/// Where the parts of each run are kept; none when they are not.
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

/// Whatever happens to this process's share becomes part of it: the others wait for its message.
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

/// The files of all processes, by run; names those that failed. Errors: the first one's, when all
/// did.
Result<std::vector<std::vector<PartFile>>> joined(Session& session,
                                                  std::vector<std::string> messages) {
  std::vector<std::vector<PartFile>> out;
  std::vector<std::pair<std::size_t, Error>> failed;
  const std::size_t size = messages.size();
  for (std::size_t r = 0; r < size; ++r) {
    Result<Share> share = decode_part<Share>(kKind, kVersion, std::exchange(messages[r], {}));
    if (!share || share->error) {
      failed.emplace_back(r, share ? *share->error : share.error());
      continue;
    }
    out.resize(std::max(out.size(), share->runs.size()));
    for (std::size_t i = 0; i < share->runs.size(); ++i)
      std::move(share->runs[i].begin(), share->runs[i].end(), std::back_inserter(out[i]));
  }
  if (failed.size() == size)
    return failed.front().second;
  for (const auto& [rank, error] : failed)
    session.diagnostics.add_at(Severity::kDataLoss, "process_failed", process_name(rank, size),
                               error.message());
  return out;
}

/// Runs beside the first have to be folders.
Result<ReduceResult> reduce_files(Session& session, ReduceRequest request,
                                  std::vector<std::vector<PartFile>> runs) {
  if (runs.size() == 1) {
    request.runs = {{}};
    request.files = std::move(runs.front());
    return reduce_parts(session, request);
  }
  RS_TRY(const ScratchFolder scratch, ScratchFolder::create());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string folder = fmt::format("{}/{}", scratch.path(), i);
    for (const PartFile& file : std::exchange(runs[i], {}))
      RS_CHECK(write_file(folder + "/" + file.name, file.bytes));
    request.runs.push_back({folder});
  }
  return reduce_parts(session, request);
}

} // namespace

template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, PartFile>
void part_fields(Archive& archive, Row& f) {
  archive(f.name, f.bytes);
}

template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, Share>
void part_fields(Archive& archive, Row& s) {
  archive(s.runs, s.error);
}

Result<std::vector<std::string>> gather_shares(Session& session, Link& link,
                                               const JobRequest& request) {
  const std::vector<std::uint64_t> there =
      link.swap_numbers(std::vector<std::uint64_t>(link.size(), 1));
  if (const auto absent = std::find(there.begin(), there.end(), 0U); absent != there.end())
    return Error{ErrorCode::kUsage,
                 process_name(static_cast<std::size_t>(absent - there.begin()), link.size()),
                 "has not begun", ""};
  return gather_at_first(link, encode_part(kKind, kVersion, share_of(session, link, request)));
}

Result<ReduceResult> reduce_shares(Session& session, std::vector<std::string> messages,
                                   const JobRequest& request) {
  RS_TRY(auto runs, joined(session, std::move(messages)));
  const std::vector<std::string> kept = kept_folders(request);
  if (kept.empty())
    return reduce_files(session, request.reduce, std::move(runs));
  ReduceRequest reduce = request.reduce;
  for (const std::string& folder : kept)
    reduce.runs.push_back({folder});
  return reduce_parts(session, reduce);
}

Result<void> check_single(const EnvironmentLookup& lookup) {
  // of an array each element is a job, and RANK may be that of a training
  const auto of_launcher = [&](std::string_view name) {
    const bool asked = name.starts_with("OMPI_") || name.starts_with("PMI") ||
                       (name.starts_with("SLURM_") && !name.starts_with("SLURM_ARRAY_"));
    return asked ? lookup(name) : std::nullopt;
  };
  const auto shard = shard_from("", of_launcher);
  if (!shard || !shard.value() || shard.value()->count == 1)
    return {};
  return Error{
      ErrorCode::kUsage, shard.value()->source,
      fmt::format("{} processes were begun, and MPI knows of this one alone", shard.value()->count),
      "begin them with this MPI's own mpirun, or srun --mpi= as srun --mpi=list has it"};
}

void leave_job(Link& link) {
  (void)link.swap_numbers(std::vector<std::uint64_t>(link.size(), 0));
}

} // namespace rankscope
