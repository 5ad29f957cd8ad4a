#include "app/watch_log_files.h"

#include "base/fnv.h"
#include "os/byte_source.h"
#include "os/file_stamp.h"
#include "os/input_file.h"
#include "os/signals.h"
#include "readers/inspector/inspector_log.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{64} << 10U;
/// Number of first bytes that identify a log: a different log at the same path has different times
/// in microseconds.
constexpr std::size_t kWatchLogFilesHead = 512;
/// A record whose clock is further ahead of the current time than this is not usable.
constexpr std::int64_t kMostAheadUs = std::int64_t{86'400} * 1'000'000;

/// Returns up to `most` bytes of a file, fewer at its end; "" if the file cannot be read.
std::string bytes_at(const std::string& path, std::uint64_t offset, std::size_t most) {
  const int fd = open_input(path, O_NONBLOCK);
  if (fd < 0)
    return {};
  std::string out(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const ssize_t n =
        ::pread(fd, out.data() + have, most - have, static_cast<off_t>(offset + have));
    if (n <= 0)
      break;
    have += static_cast<std::size_t>(n);
  }
  ::close(fd);
  out.resize(have);
  return out;
}

constexpr std::array<std::string_view, 2> kPackings = {".gz", ".zst"};

bool is_packed(std::string_view path) {
  return std::any_of(kPackings.begin(), kPackings.end(),
                     [path](std::string_view packing) { return path.ends_with(packing); });
}

/// Returns the text of a log from an offset on; offsets ascend. A compressed log is decompressed
/// once per poll.
class LogText {
public:
  explicit LogText(std::string path) : path_(std::move(path)), packed_(is_packed(path_)) {}

  /// Returns up to `most` bytes, fewer at the end.
  std::string at(std::uint64_t offset, std::size_t most) {
    if (!packed_)
      return bytes_at(path_, offset, most);
    if (!source_) {
      auto opened = ByteSource::open(path_);
      if (!opened)
        return {};
      source_ = std::move(*opened);
    }
    std::string piece(kPiece, '\0');
    while (begin_ + text_.size() < offset + most) {
      const std::size_t n = source_->read(piece.data(), piece.size());
      if (n == 0)
        break;
      text_.append(piece, 0, n);
      drop(offset);
    }
    drop(offset);
    return begin_ == offset ? text_.substr(0, most) : std::string();
  }

private:
  /// Drops the text before `offset`, which is not requested again.
  void drop(std::uint64_t offset) {
    const auto gone = static_cast<std::size_t>(
        std::min<std::uint64_t>(text_.size(), offset - std::min(offset, begin_)));
    text_.erase(0, gone);
    begin_ += gone;
  }

  std::string path_;
  bool packed_;
  std::unique_ptr<ByteSource> source_;
  std::string text_;
  std::uint64_t begin_ = 0; ///< position of text_ in the log
};

std::uint64_t head_hash(std::string_view bytes) {
  Fnv64 hash;
  hash.update(bytes);
  return hash.value();
}

/// Returns the log's name; if an earlier log has the same name, adds the folder or path. Containers
/// with equal host names and process ids write equal names into separate folders.
std::string process_name(const fs::path& path, const LogWatch& logs) {
  const fs::path plain = is_packed(path.string()) ? path.parent_path() / path.stem() : path;
  const std::string name = plain.stem().string();
  if (!logs.knows(name))
    return name;
  const std::string placed = (plain.parent_path().filename() / plain.stem()).string();
  return logs.knows(placed) ? path.string() : placed;
}

/// A log with new data.
struct Grown {
  const std::string* path;
  WatchState::LogFile* file;
  LogText text;
  std::uint64_t bad = 0;
};

/// Returns whether the file of a log changed: the log grew, or another log replaced it. Another log
/// is read from its beginning.
bool grew(const std::string& path, WatchState::LogFile& file, std::vector<std::string>& warnings) {
  const std::optional<FileStamp> stamp = file_stamp(path);
  if (!stamp || *stamp == FileStamp{file.bytes, file.written_ns})
    return false;
  const auto [bytes, written_ns] = *stamp;
  file.bytes = bytes;
  file.written_ns = written_ns;
  const auto anew = [&](const char* why) {
    warnings.push_back(fmt::format("{}: {}: read from its beginning", path, why));
    file.offset = 0;
    file.head_bytes = 0;
    file.last = {};
  };
  if (bytes < file.offset && !is_packed(path))
    anew("is shorter than the part already read (cut off or rewritten)");
  else if (file.head_bytes > 0 && head_hash(bytes_at(path, 0, file.head_bytes)) != file.head)
    anew("is not the log that was here before (rotated)");
  return true;
}

/// Reads the next piece of a log; returns false if it has no further complete record.
bool read_piece(Grown& log, WatchState& state, std::int64_t now_ns, LogPoll& out) {
  WatchState::LogFile& file = *log.file;
  if (file.head_bytes < kWatchLogFilesHead) {
    const std::string head = bytes_at(*log.path, 0, kWatchLogFilesHead);
    file.head_bytes = static_cast<std::uint32_t>(head.size());
    file.head = head_hash(head);
  }
  std::string text = log.text.at(file.offset, kPiece);
  InspectorHeader last = file.last;
  InspectorPiece piece = read_inspector(text, last);
  if (piece.used == 0 && text.size() == kPiece) { // an object is longer than the piece
    text = log.text.at(file.offset, kLongestInspectorObject);
    piece = read_inspector(text, last = file.last);
  }
  file.last = last;
  file.offset += piece.used;
  log.bad += piece.bad;
  for (const InspectorRecord& record : piece.records) {
    if (record.header.written_us > now_ns / 1000 + kMostAheadUs) {
      ++log.bad;
      continue;
    }
    state.logs.take(file.process, record);
    state.rhythm.note_written(record.header.written_us * 1000);
    ++out.records;
  }
  state.logs.note_dropped(piece.dropped);
  if (piece.works_us > 0 && piece.works_us <= now_ns / 1000 + kMostAheadUs) {
    state.logs.hear(file.process, piece.works_us, now_ns);
    out.heard = true;
  }
  return piece.used > 0;
}

/// Reads a piece of each log that is at most one window ahead of the slowest log. If a log has no
/// further complete record, removes it from `more`. A piece may cover hours of a log with few
/// records, but only seconds of a log with many records. This order keeps the number of waiting
/// records low, and a window is judged only after all of its existing records were read.
void read_round(std::vector<Grown*>& more, WatchState& state, std::int64_t now_ns, LogPoll& out) {
  const auto newest = [&](const Grown* log) {
    return state.logs.newest_window(log->file->process);
  };
  std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
  for (const Grown* log : more)
    slowest = std::min(slowest, newest(log));
  std::erase_if(more, [&](Grown* log) {
    return newest(log) <= slowest + 1 && !read_piece(*log, state, now_ns, out);
  });
}

} // namespace

bool is_log_name(std::string_view path) {
  for (const std::string_view packing : kPackings)
    if (path.ends_with(packing))
      path.remove_suffix(packing.size());
  return path.ends_with(".log") || path.ends_with(".jsonl");
}

std::vector<std::string> LogFiles::logs_below(const std::vector<std::string>& inputs,
                                              const WatchState& state) {
  std::vector<std::string> out;
  const auto add_if_log = [&](const std::string& path) {
    if (!is_log_name(path) || others_.count(path) > 0)
      return;
    if (state.log_files.count(path) == 0) {
      constexpr std::size_t kEnough = 8192;
      const std::string head = LogText(path).at(0, kEnough);
      if (!is_inspector_log(head)) {
        if (head.size() == kEnough) // otherwise the file may still become a log
          others_.insert(path);
        return;
      }
    }
    out.push_back(path);
  };
  for (const std::string& input : inputs) {
    std::error_code ec;
    if (fs::is_regular_file(input, ec)) {
      add_if_log(input);
      continue;
    }
    fs::recursive_directory_iterator it(input, fs::directory_options::skip_permission_denied, ec);
    for (; !ec && it != fs::recursive_directory_iterator(); it.increment(ec)) {
      std::error_code aside;
      const std::string name = it->path().filename().string();
      if (it->is_directory(aside) && name.starts_with("."))
        it.disable_recursion_pending();
      else if (it->is_regular_file(aside) && !name.starts_with("."))
        add_if_log(it->path().string());
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<LogPoll> LogFiles::poll(const std::vector<std::string>& inputs, WatchState& state,
                               std::int64_t now_ns, std::int64_t still_ns, bool last) {
  LogPoll out;
  std::vector<Grown> grown;
  for (const std::string& path : logs_below(inputs, state)) {
    const auto [at, fresh] = state.log_files.try_emplace(path);
    if (fresh)
      at->second.process = state.logs.process(process_name(path, state.logs));
    if (grew(path, at->second, out.warnings))
      grown.push_back({&at->first, &at->second, LogText(path), 0});
  }
  std::vector<Grown*> more;
  for (Grown& log : grown)
    more.push_back(&log);
  while (!more.empty()) {
    if (interrupt_token().cancelled())
      return Error{ErrorCode::kInterrupted, "", "interrupted", ""};
    read_round(more, state, now_ns, out);
    state.logs.advance(now_ns, LogWatch::Read::kSome, out.alarms, out.windows);
  }
  for (const Grown& log : grown)
    if (log.bad > 0)
      out.warnings.push_back(fmt::format("{}: {} line{}", *log.path, log.bad,
                                         log.bad == 1 ? " is not a record" : "s are not records"));
  state.logs.advance(now_ns, last ? LogWatch::Read::kLast : LogWatch::Read::kAll, out.alarms,
                     out.windows);
  state.logs.judge_still(now_ns, still_ns, out.alarms);
  return out;
}

} // namespace rankscope
