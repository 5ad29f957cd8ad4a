#include "readers/pipeline_timeline.h"

#include "core/json_parse.h"
#include "core/trace.h"
#include "os/byte_source.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kTimelineHead = std::size_t{64} << 10U;
constexpr std::size_t kMostTimelineBytes = std::size_t{1} << 30U; ///< after decompression
constexpr std::int64_t kTracksOfWorker = 5;
constexpr std::int64_t kMostWorkers = 1 << 20;
constexpr double kClockErrorUs = 10'000; ///< a duration may be negative, but not below minus this
                                         ///< value

Error broken(const std::string& path, std::string what) {
  return {ErrorCode::kUnreadable, path, std::move(what),
          "expected the timeline of a pipeline-parallel job (docs/whatif.md)"};
}

std::optional<PipelineOp> op_of(std::string_view name) {
  const auto at = std::ranges::find(kPipelineOpNames, name);
  if (at == kPipelineOpNames.end())
    return std::nullopt;
  return static_cast<PipelineOp>(at - kPipelineOpNames.begin());
}

Result<std::string> all_bytes(const std::string& path) {
  RS_TRY(const std::unique_ptr<ByteSource> source, ByteSource::open(path));
  std::string out;
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  for (;;) {
    const std::size_t had = out.size();
    if (had >= kMostTimelineBytes)
      return broken(path, "more than 1 GiB after decompression");
    out.resize(had + kPiece);
    const std::size_t got = source->read(out.data() + had, kPiece);
    out.resize(had + got);
    if (got < kPiece)
      break;
  }
  if (!source->problem().empty())
    return Error{ErrorCode::kUnreadable, path, source->problem(), ""};
  return out;
}

/// Returns the stage in the name of a track: 1 for "PP rank 1, TP rank 0, compute".
std::optional<std::int64_t> stage_of(std::string_view track) {
  constexpr std::string_view kBegin = "PP rank ";
  if (!track.starts_with(kBegin))
    return std::nullopt;
  std::int64_t out = 0;
  std::size_t k = kBegin.size();
  for (; k < track.size() && track[k] >= '0' && track[k] <= '9' && out < kMostWorkers; ++k)
    out = 10 * out + (track[k] - '0');
  return k == kBegin.size() ? std::nullopt : std::optional(out);
}

class TimelineReader {
public:
  explicit TimelineReader(const std::string& path) : path_(path) {}

  Result<PipelineTimeline> read() {
    RS_TRY(const std::string text, all_bytes(path_));
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (const auto error = parse_json(parser, text).get(root))
      return broken(path_, fmt::format("JSON: {}", simdjson::error_message(error)));
    simdjson::dom::array events;
    if (root.get(events) != simdjson::SUCCESS &&
        root["traceEvents"].get(events) != simdjson::SUCCESS)
      return broken(path_, "no list of events");
    std::size_t number = 0;
    for (const simdjson::dom::element event : events) {
      ++number;
      std::string_view ph;
      if (event["ph"].get(ph) != simdjson::SUCCESS)
        return broken(path_, fmt::format("event {}: no \"ph\"", number));
      const bool good = ph == "M" ? add_name(event) : ph != "X" || add_row(event);
      if (!good)
        return broken(path_, fmt::format("event {}: {}", number, why_));
    }
    return finished();
  }

private:
  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool add_name(const simdjson::dom::element& event) {
    std::string_view name, track;
    std::int64_t tid = 0;
    if (event["name"].get(name) == simdjson::SUCCESS && name == "thread_name" &&
        event["tid"].get(tid) == simdjson::SUCCESS &&
        event["args"]["name"].get(track) == simdjson::SUCCESS)
      if (const std::optional<std::int64_t> stage = stage_of(track))
        stages_[tid / kTracksOfWorker] = *stage;
    return true;
  }

  bool add_row(const simdjson::dom::element& event) {
    std::string_view name;
    if (event["name"].get(name) != simdjson::SUCCESS)
      return fail("no \"name\"");
    const std::optional<PipelineOp> op = op_of(name);
    if (!op)
      return fail(fmt::format("unknown operation \"{}\"", name.substr(0, 60)));
    Row row;
    row.op = *op;
    double start = 0, dur = 0;
    if (event["pid"].get(row.data_parallel) != simdjson::SUCCESS ||
        event["tid"].get(row.rank) != simdjson::SUCCESS ||
        event["ts"].get(start) != simdjson::SUCCESS || event["dur"].get(dur) != simdjson::SUCCESS ||
        event["args"]["step"].get(row.step) != simdjson::SUCCESS ||
        event["args"]["seq_id"].get(row.seq) != simdjson::SUCCESS)
      return fail("needs pid, tid, ts, dur, args.step and args.seq_id");
    if (event["args"]["model_chunk"].get(row.chunk) != simdjson::SUCCESS)
      row.chunk = -1; // send and receive events have no chunk
    if (!is_computation(row.op) ||
        event["args"]["mb_id"].get(row.micro_batch) != simdjson::SUCCESS || row.micro_batch < 0)
      row.micro_batch = -1; // the numbers of other operations have no meaning
    row.rank /= kTracksOfWorker;
    if (row.rank < 0 || row.rank >= kMostWorkers || row.data_parallel < 0 ||
        row.data_parallel >= kMostWorkers || row.seq < 0 || row.seq >= kMostWorkers ||
        row.chunk < -1 || row.chunk >= kMostWorkers)
      return fail("a number out of range");
    constexpr double kMostUs = static_cast<double>(kMaxTimeNs) / 4e3;
    if (!(std::abs(start) < kMostUs && dur > -kClockErrorUs && dur < kMostUs))
      return fail("a time out of range");
    row.start_ns = std::llround(start * 1e3);
    row.dur_ns = std::llround(dur * 1e3);
    rows_.push_back(row);
    return true;
  }

  Result<PipelineTimeline> finished() const {
    PipelineTimeline out;
    std::map<std::int64_t, std::int64_t> data_parallel; // by rank
    std::set<std::int64_t> steps;
    for (const Row& row : rows_) {
      steps.insert(row.step);
      if (const auto [at, added] = data_parallel.emplace(row.rank, row.data_parallel);
          !added && at->second != row.data_parallel)
        return broken(path_, fmt::format("rank {} has two data-parallel ranks", row.rank));
    }
    if (rows_.empty())
      return broken(path_, "no operations");
    std::map<std::int64_t, std::uint32_t> worker_of, step_of;
    for (const auto& [rank, dp] : data_parallel) {
      const auto stage = stages_.find(rank);
      if (stage == stages_.end())
        return broken(path_, fmt::format("rank {}: no track name with its stage", rank));
      worker_of[rank] = static_cast<std::uint32_t>(out.workers.size());
      out.workers.push_back({rank, dp, stage->second});
    }
    for (const std::int64_t step : steps) {
      step_of[step] = static_cast<std::uint32_t>(out.steps.size());
      out.steps.push_back(step);
    }
    out.rows.reserve(rows_.size());
    for (const Row& row : rows_)
      out.rows.push_back({row.op, worker_of[row.rank], step_of[row.step], row.seq, row.chunk,
                          row.micro_batch, row.start_ns, row.dur_ns});
    return out;
  }

  struct Row {
    PipelineOp op = PipelineOp::kForwardCompute;
    std::int64_t rank = 0, data_parallel = 0, step = 0, seq = 0, chunk = -1;
    std::int64_t micro_batch = -1;
    std::int64_t start_ns = 0, dur_ns = 0;
  };
  const std::string& path_;
  std::vector<Row> rows_;
  std::map<std::int64_t, std::int64_t> stages_; ///< by rank
  std::string why_;
};

} // namespace

bool is_pipeline_timeline(std::string_view head) {
  head = head.substr(0, kTimelineHead);
  return head.find("\"seq_id\"") != std::string_view::npos &&
         head.find("\"model_chunk\"") != std::string_view::npos &&
         std::ranges::any_of(kPipelineOpNames, [head](std::string_view name) {
           return head.find(fmt::format("\"{}\"", name)) != std::string_view::npos;
         });
}

bool is_pipeline_timeline_file(const std::string& path) {
  const Result<std::unique_ptr<ByteSource>> source = ByteSource::open(path);
  return source && is_pipeline_timeline((*source)->peek(kTimelineHead));
}

Result<PipelineTimeline> read_pipeline_timeline(const std::string& path) {
  return TimelineReader(path).read();
}

} // namespace rankscope
