#include "collect/profile/run_log.h"

#include "os/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

namespace rankscope {
namespace {
constexpr std::size_t kLongest = 65536;
constexpr std::size_t kShortest = 21; ///< bytes; a shorter line may have no stamp
constexpr double kSameTime = 0.001;   ///< s
} // namespace

Result<RunLog> RunLog::create(const std::string& path) {
  RS_CHECK(refuse_input(path));
  RunLog out;
  out.file_.reset(std::fopen(path.c_str(), "we"));
  if (out.file_ == nullptr)
    return Error{ErrorCode::kOutput, path, std::strerror(errno), ""};
  return out;
}

/// Writes a line. A short line that belongs to the stamp above it has no stamp, so that stamps do
/// not make a log of short lines many times larger. A line that begins like a stamp always gets a
/// stamp.
void RunLog::line(std::size_t stream, std::string_view text, double t_s) {
  const bool stamped = text.size() >= kShortest || text.starts_with('[') ||
                       stream != stamp_stream_ || t_s - stamp_s_ > kSameTime;
  std::string out;
  if (stamped) {
    out = fmt::format("[{:12.6f}] {} ", t_s, stream == 1 ? "out" : "err");
    stamp_stream_ = stream;
    stamp_s_ = t_s;
  }
  out += text;
  out += '\n';
  if (std::fwrite(out.data(), 1, out.size(), file_.get()) < out.size())
    failed_ = true;
}

void RunLog::add(std::size_t stream, std::string_view bytes, double t_s) {
  std::string& open = open_[stream];
  while (!bytes.empty()) {
    if (open.empty())
      begun_s_[stream] = t_s;
    const std::size_t end = bytes.find('\n');
    const std::size_t size = std::min({end, bytes.size(), kLongest - open.size()});
    open.append(bytes.substr(0, size));
    const bool complete = size == end;
    bytes.remove_prefix(size + (complete ? 1 : 0));
    if (complete || open.size() >= kLongest) {
      line(stream, open, begun_s_[stream]);
      open.clear();
    }
  }
  if (std::fflush(file_.get()) != 0) // so that a kill loses no output
    failed_ = true;
}

bool RunLog::finish() {
  for (const std::size_t stream : {1U, 2U})
    if (!open_[stream].empty())
      line(stream, open_[stream], begun_s_[stream]);
  open_ = {};
  return std::fflush(file_.get()) == 0 && !failed_;
}

std::string last_lines(const std::string& path, int lines) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in)
    return "";
  const auto size = static_cast<std::streamoff>(in.tellg());
  const std::streamoff from = std::max<std::streamoff>(size - 4096, 0);
  in.seekg(from);
  std::string text(static_cast<std::size_t>(size - from), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  std::size_t at = text.size();
  for (int i = 0; i < lines && at != std::string::npos && at > 0; ++i)
    at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

} // namespace rankscope
