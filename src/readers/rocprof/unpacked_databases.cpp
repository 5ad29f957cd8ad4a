#include "readers/rocprof/unpacked_databases.h"

#include "os/byte_source.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <list>
#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <tuple>

namespace rankscope {
namespace {

using Folder = std::shared_ptr<const ScratchFolder>;
/// Device, inode, size and modification time of a file.
using FileKey = std::tuple<dev_t, ino_t, off_t, time_t, long>;

/// Returns the key of a regular file. Other files (pipes) cannot be read a second time and have no
/// key.
std::optional<FileKey> key_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  return FileKey{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

Result<Folder> unpack(const std::string& path, ByteSource& source, std::uint64_t& bytes) {
  RS_TRY(ScratchFolder folder, ScratchFolder::create());
  std::ofstream out(folder.path() + "/database", std::ios::binary);
  std::string buffer(std::size_t{1} << 18, '\0');
  for (std::size_t got = buffer.size(); got == buffer.size(); bytes += got) {
    got = source.read(buffer.data(), buffer.size());
    out.write(buffer.data(), static_cast<std::streamsize>(got));
  }
  out.close();
  if (!out)
    return Error{ErrorCode::kOutput, path, "cannot be unpacked into a temporary file",
                 "is there free space in TMPDIR?"};
  return Folder(std::make_shared<const ScratchFolder>(std::move(folder)));
}

/// The decompressed databases, oldest first.
class Unpacked {
public:
  void open() {
    const std::lock_guard lock(mutex_);
    ++users_;
  }
  void close() {
    std::list<Entry> removed; // declared before the lock, so that the folders are removed after the
                              // lock is released
    const std::lock_guard lock(mutex_);
    if (--users_ == 0)
      removed.swap(entries_);
  }
  [[nodiscard]] Folder find(const FileKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(entries_, key, &Entry::key);
    return found == entries_.end() ? nullptr : found->folder;
  }
  void add(const FileKey& key, const Folder& folder, std::uint64_t bytes) {
    std::list<Entry> removed;
    const std::lock_guard lock(mutex_);
    if (users_ == 0)
      return;
    entries_.push_back({key, folder, bytes});
    struct statvfs room = {};
    if (::statvfs(folder->path().c_str(), &room) != 0)
      return;
    const std::uint64_t left = std::uint64_t{room.f_bavail} * room.f_frsize;
    std::uint64_t all = 0;
    for (const Entry& entry : entries_)
      all += entry.bytes;
    while (!entries_.empty() && all > left) {
      all -= entries_.front().bytes;
      removed.splice(removed.end(), entries_, entries_.begin());
    }
  }
  std::atomic<std::size_t> count = 0;

private:
  struct Entry {
    FileKey key;
    Folder folder;
    std::uint64_t bytes = 0;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;
  int users_ = 0;
};

Unpacked& unpacked_databases() {
  static Unpacked all;
  return all;
}

} // namespace

ReuseUnpackedDatabases::ReuseUnpackedDatabases() {
  unpacked_databases().open();
}

ReuseUnpackedDatabases::~ReuseUnpackedDatabases() {
  unpacked_databases().close();
}

Result<std::shared_ptr<const ScratchFolder>> unpacked_database(const std::string& path,
                                                               ByteSource& source) {
  const std::optional<FileKey> key = key_of(path);
  if (key)
    if (Folder folder = unpacked_databases().find(*key))
      return folder;
  std::uint64_t bytes = 0;
  RS_TRY(Folder folder, unpack(path, source, bytes));
  ++unpacked_databases().count;
  if (key && source.problem().empty())
    unpacked_databases().add(*key, folder, bytes);
  return folder;
}

std::size_t databases_unpacked() {
  return unpacked_databases().count;
}

} // namespace rankscope
