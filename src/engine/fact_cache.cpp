#include "engine/fact_cache.h"

#include "base/fnv.h"
#include "core/part.h"
#include "core/run_part.h"
#include "os/cleanup.h"
#include "os/clock.h"
#include "os/own_file.h"
#include "os/temporary_name.h"
#include "os/whole_file.h"
#include "readers/trace_stamp.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope {

/// The content of a file in the cache folder.
struct CachedFact {
  std::string program, trace, identity, key;
  std::string bytes;
};

template <class Archive, PartOf<CachedFact> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.program, r.trace, r.identity, r.key, r.bytes);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kFactKind = "cached fact";
constexpr std::uint32_t kFactVersion = 1;
constexpr std::string_view kFactEnding = ".fact";
constexpr std::size_t kHashed = std::size_t{64} << 10;
constexpr std::int64_t kSecond = 1'000'000'000;

/// Adds the identity of one file. Returns false if a later version of the file could have the same
/// identity.
bool add_identity(const std::string& path, std::string& out) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return false;
  struct stat info = {};
  bool known = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  Fnv64 hash;
  std::string block(kHashed, '\0');
  for (const off_t at : {off_t{0}, std::max<off_t>(0, info.st_size - off_t{kHashed})}) {
    const ssize_t got = known ? ::pread(fd, block.data(), block.size(), at) : -1;
    known = got >= 0;
    hash.update({block.data(), known ? static_cast<std::size_t>(got) : 0});
  }
  ::close(fd);
  out += fmt::format("{}:{}:{}:{}:{}:{}\n", info.st_dev, info.st_ino, info.st_size,
                     ns_of(info.st_mtim), ns_of(info.st_ctim), hash.hex());
  return known && clock_ns(CLOCK_REALTIME) - std::max(ns_of(info.st_mtim), ns_of(info.st_ctim)) >=
                      2 * kSecond;
}

/// Returns a text that identifies the running program file, because another version may compute
/// different facts.
std::string program_identity() {
  struct stat info = {};
  if (::stat(this_binary().c_str(), &info) != 0)
    return "";
  return fmt::format("{}:{}:{}:{}", info.st_dev, info.st_ino, info.st_size, ns_of(info.st_mtim));
}

/// Returns the name of the trace. It contains the path as the user gave it, because facts contain
/// this path.
std::string trace_name(const RankFile& file) {
  return fmt::format("{}\n{}\n{}", file.path, file.rank, file.rank_in_file.value_or(-1));
}

/// Writes a file completely or not at all; only this user can read it. If there is an error, it is
/// not reported, and the fact is not stored.
void write_quietly(const std::string& path, std::string_view bytes) {
  std::string temporary;
  const int fd = create_temporary(path, temporary);
  if (fd < 0)
    return;
  std::FILE* const file = ::fdopen(fd, "wb");
  bool complete = file != nullptr && ::fchmod(fd, 0600) == 0 &&
                  std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  complete = (file != nullptr ? std::fclose(file) : ::close(fd)) == 0 && complete;
  if (!complete || ::rename(temporary.c_str(), path.c_str()) != 0)
    ::unlink(temporary.c_str());
  cleanup::remove_path(temporary);
}

/// Creates the folder with access for this user only. Returns false if it cannot be created or
/// belongs to another user.
bool create_private_folder(const std::string& folder) {
  std::error_code ec;
  fs::create_directories(fs::path(folder).parent_path(), ec);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return false;
  struct stat info = {};
  return ::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

struct Listed {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t used_ns = 0;
};

/// Lists the facts in the folder.
std::vector<Listed> list(const std::string& folder) {
  std::vector<Listed> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string path = it->path().string();
    struct stat info = {};
    if (path.ends_with(kFactEnding) && ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      out.push_back({path, static_cast<std::uint64_t>(info.st_size), ns_of(info.st_mtim)});
  }
  return out;
}

} // namespace

TraceIdentity trace_identity(const RankFile& file) {
  const std::vector<std::string> files = files_of_trace(file.path);
  TraceIdentity out{"", !files.empty()};
  for (const std::string& path : files)
    out.unique = add_identity(path, out.text) && out.unique;
  return out;
}

FactCache::FactCache(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes), program_(program_identity()) {}

FactCache::~FactCache() {
  if (!stored_)
    return;
  try {
    trim(most_bytes_);
  } catch (const std::bad_alloc&) { // a later command will remove them
  }
}

std::string FactCache::path_of(const RankFile& file, const std::string& key) const {
  return fmt::format("{}/{}{}{}", folder_, fnv64_hex(trace_name(file)), fnv64_hex(key),
                     kFactEnding);
}

std::optional<std::string> FactCache::find(const RankFile& file, const std::string& identity,
                                           const std::string& key) const {
  const std::string path = path_of(file, key);
  Result<std::string> bytes = read_unregistered(path);
  if (!bytes)
    return std::nullopt;
  Result<CachedFact> fact = decode_part<CachedFact>(kFactKind, kFactVersion, *bytes);
  if (!fact || fact->program != program_ || fact->trace != trace_name(file) ||
      fact->identity != identity || fact->key != key)
    return std::nullopt;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // marks the fact as used now: trim() removes it
                                                   // last
  return std::move(fact->bytes);
}

void FactCache::store(const RankFile& file, const std::string& identity, const std::string& key,
                      std::string_view bytes) {
  if (program_.empty() || (!stored_ && !create_private_folder(folder_)))
    return;
  stored_ = true;
  write_quietly(path_of(file, key), encode_part(kFactKind, kFactVersion,
                                                CachedFact{program_, trace_name(file), identity,
                                                           key, std::string(bytes)}));
}

FactCache::Size FactCache::size() const {
  Size out;
  for (const Listed& file : list(folder_)) {
    ++out.files;
    out.bytes += file.bytes;
  }
  return out;
}

FactCache::Size FactCache::clear() {
  return trim(0);
}

FactCache::Size FactCache::trim(std::uint64_t most_bytes) {
  std::vector<Listed> files = list(folder_);
  std::sort(files.begin(), files.end(),
            [](const Listed& a, const Listed& b) { return a.used_ns < b.used_ns; });
  std::uint64_t all = 0;
  for (const Listed& file : files)
    all += file.bytes;
  Size removed;
  for (const Listed& file : files) {
    if (all <= most_bytes)
      break;
    if (::unlink(file.path.c_str()) != 0)
      continue;
    all -= file.bytes;
    removed.bytes += file.bytes;
    ++removed.files;
  }
  return removed;
}

std::string default_cache_folder() {
  const char* const given = std::getenv("XDG_CACHE_HOME");
  if (given != nullptr && *given == '/') // the XDG specification says that relative paths must be
                                         // ignored
    return std::string(given) + "/rankscope";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/rankscope" : "";
}

} // namespace rankscope
