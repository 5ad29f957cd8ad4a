#include "collect/library_trace/config_spill.h"

#include "base/saturated.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} << 10;
constexpr std::size_t kFanIn = 32; ///< runs that are read at once: 8 MiB of buffers

Error failed(const char* what) {
  return {ErrorCode::kOutput, "the temporary file of configurations",
          fmt::format("{}: {}", what, std::strerror(errno)), ""}; // NOLINT(concurrency-mt-unsafe)
}

/// The texts of a call, in a fixed order.
constexpr std::array<std::string LibraryCall::*, 7> kTexts = {
    &LibraryCall::config, &LibraryCall::operation, &LibraryCall::dtype, &LibraryCall::problem,
    &LibraryCall::layout, &LibraryCall::solution,  &LibraryCall::kernel};

template <class Value> void put(std::string& out, const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}
void put_time(std::string& out, const std::optional<double>& t) {
  put(out, t.has_value());
  put(out, t.value_or(0));
}
void put_ids(std::string& out, const std::vector<std::uint32_t>& ids) {
  put(out, ids.size());
  for (const std::uint32_t id : ids)
    put(out, id);
}

std::string bytes_of(const ConfigCount& c) {
  std::string out;
  put(out, c.call.kind);
  for (const auto text : kTexts) {
    put(out, (c.call.*text).size());
    out += c.call.*text;
  }
  put(out, c.call.bytes);
  put(out, c.call.flops);
  put(out, c.calls);
  put_time(out, c.first_s);
  put_time(out, c.last_s);
  put_time(out, c.kernel_us);
  put_ids(out, c.processes);
  put_ids(out, c.ranks);
  return out;
}

/// Parses the bytes that bytes_of() made.
class Bytes {
public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}
  template <class Value> void get(Value& value) {
    if (rest_.size() < sizeof value) {
      good_ = false;
      return;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void get(std::string& text) {
    std::size_t size = 0;
    get(size);
    good_ = good_ && size <= rest_.size();
    if (!good_)
      return;
    text.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  void get_time(std::optional<double>& t) {
    bool has = false;
    double value = 0;
    get(has);
    get(value);
    t = has ? std::optional(value) : std::nullopt;
  }
  void get_ids(std::vector<std::uint32_t>& ids) {
    std::size_t size = 0;
    get(size);
    good_ = good_ && size <= rest_.size() / sizeof(std::uint32_t);
    ids.resize(good_ ? size : 0);
    for (std::uint32_t& id : ids)
      get(id);
  }
  [[nodiscard]] bool good() const { return good_; }

private:
  std::string_view rest_;
  bool good_ = true;
};

bool read_entry(std::string_view bytes, ConfigCount& c) {
  Bytes in(bytes);
  in.get(c.call.kind);
  for (const auto text : kTexts)
    in.get(c.call.*text);
  in.get(c.call.bytes);
  in.get(c.call.flops);
  in.get(c.calls);
  in.get_time(c.first_s);
  in.get_time(c.last_s);
  in.get_time(c.kernel_us);
  in.get_ids(c.processes);
  in.get_ids(c.ranks);
  return in.good();
}

void join(std::vector<std::uint32_t>& ids, const std::vector<std::uint32_t>& more) {
  std::vector<std::uint32_t> both;
  std::set_union(ids.begin(), ids.end(), more.begin(), more.end(), std::back_inserter(both));
  ids = std::move(both);
}

} // namespace

bool config_text_before(const ConfigCount& a, const ConfigCount& b) {
  return a.call.kind != b.call.kind ? a.call.kind < b.call.kind : a.call.config < b.call.config;
}

bool config_row_before(const ConfigCount& a, const ConfigCount& b) {
  if (a.call.kind == b.call.kind && a.calls != b.calls)
    return a.calls > b.calls;
  return config_text_before(a, b);
}

void add_config(ConfigCount& first, ConfigCount&& later) {
  add_saturated(first.calls, later.calls);
  if (!first.first_s)
    first.first_s = later.first_s;
  if (later.last_s)
    first.last_s = later.last_s;
  if (later.kernel_us)
    first.kernel_us = first.kernel_us.value_or(0) + *later.kernel_us;
  join(first.processes, later.processes);
  join(first.ranks, later.ranks);
}

/// Reads the entries of a run in their order.
class ConfigSpill::Reader {
public:
  Reader(int file, Run run) : file_(file), at_(run.begin), end_(run.end) {}
  /// Reads the next entry. Returns false after the last entry.
  Result<bool> next() {
    std::size_t size = 0;
    if (left() == 0)
      return false;
    RS_CHECK(need(sizeof size));
    std::memcpy(&size, buffer_.data() + used_, sizeof size);
    used_ += sizeof size;
    RS_CHECK(need(size));
    if (!read_entry(std::string_view(buffer_).substr(used_, size), entry))
      return Error{ErrorCode::kOutput, "the temporary file of configurations", "is damaged", ""};
    used_ += size;
    return true;
  }
  ConfigCount entry;

private:
  [[nodiscard]] std::uint64_t left() const { return end_ - at_ + (buffer_.size() - used_); }
  /// Reads until the buffer has `bytes` bytes after `used_`.
  Result<void> need(std::size_t bytes) {
    if (bytes > left())
      return Error{ErrorCode::kOutput, "the temporary file of configurations", "is cut off", ""};
    if (buffer_.size() - used_ >= bytes)
      return {};
    buffer_.erase(0, used_);
    used_ = 0;
    const std::size_t old = buffer_.size();
    const std::size_t more = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(kBuffer, bytes - old), end_ - at_));
    buffer_.resize(old + more);
    for (std::size_t got = 0; got < more;) {
      const ssize_t n =
          ::pread(file_, buffer_.data() + old + got, more - got, static_cast<off_t>(at_ + got));
      if (n <= 0 && errno == EINTR && n < 0)
        continue;
      if (n <= 0)
        return failed("reading");
      got += static_cast<std::size_t>(n);
    }
    at_ += more;
    return {};
  }

  int file_;
  std::uint64_t at_, end_;
  std::string buffer_;
  std::size_t used_ = 0;
};

ConfigSpill::~ConfigSpill() {
  if (file_ >= 0)
    ::close(file_);
}

ConfigSpill::ConfigSpill(ConfigSpill&& other) noexcept {
  *this = std::move(other);
}

ConfigSpill& ConfigSpill::operator=(ConfigSpill&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(buffer_, other.buffer_);
  std::swap(runs_, other.runs_);
  return *this;
}

Result<void> ConfigSpill::open(const std::string& folder) {
  if (file_ >= 0)
    return {};
  std::error_code ec;
  const std::filesystem::path where =
      folder.empty() ? std::filesystem::temp_directory_path(ec) : std::filesystem::path(folder);
  std::string name = (where / ".rankscope-configs-XXXXXX").string();
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0)
    return failed(name.c_str());
  (void)::unlink(name.c_str());
  return {};
}

Result<void> ConfigSpill::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed("writing");
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
  return {};
}

Result<void> ConfigSpill::write(const ConfigCount& entry) {
  const std::string bytes = bytes_of(entry);
  put(buffer_, bytes.size());
  buffer_ += bytes;
  size_ += sizeof bytes.size() + bytes.size();
  return buffer_.size() >= kBuffer ? flush() : Result<void>();
}

Result<void> ConfigSpill::add_run(std::vector<ConfigCount>& entries, ConfigOrder before,
                                  const std::string& folder) {
  RS_CHECK(open(folder));
  std::sort(entries.begin(), entries.end(), before);
  const std::uint64_t begin = size_;
  for (const ConfigCount& entry : entries)
    RS_CHECK(write(entry));
  RS_CHECK(flush());
  end_run(begin);
  entries.clear();
  return {};
}

Result<void> ConfigSpill::merge_runs(std::size_t first, std::size_t last, ConfigOrder before,
                                     const std::function<Result<void>(ConfigCount&&)>& each) const {
  std::vector<Reader> readers;
  for (std::size_t i = first; i < last; ++i) {
    readers.emplace_back(file_, runs_[i]);
    RS_TRY(const bool any, readers.back().next());
    if (!any)
      readers.pop_back();
  }
  while (!readers.empty()) {
    std::size_t least = 0;
    for (std::size_t i = 1; i < readers.size(); ++i)
      if (before(readers[i].entry, readers[least].entry))
        least = i;
    RS_CHECK(each(std::move(readers[least].entry)));
    RS_TRY(const bool more, readers[least].next());
    if (!more)
      readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return {};
}

Result<void> ConfigSpill::merge(ConfigOrder before, const std::string& folder,
                                const std::function<Result<void>(ConfigCount&&)>& each) {
  while (runs_.size() > kFanIn) { // merges adjacent runs, so that earlier runs stay first
    ConfigSpill next;
    RS_CHECK(next.open(folder));
    for (std::size_t i = 0; i < runs_.size(); i += kFanIn) {
      const std::uint64_t begin = next.size_;
      RS_CHECK(merge_runs(i, std::min(i + kFanIn, runs_.size()), before,
                          [&](ConfigCount&& entry) { return next.write(entry); }));
      RS_CHECK(next.flush());
      next.end_run(begin);
    }
    *this = std::move(next);
  }
  return merge_runs(0, runs_.size(), before, each);
}

} // namespace rankscope
