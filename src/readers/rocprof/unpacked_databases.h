// Packed databases in temporary folders. One file is asked several times: which reader, which
// ranks, its events; unpacking takes most of the time of each.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "os/scratch_folder.h"

#include <memory>
#include <string>

namespace rankscope {

class ByteSource;

/// While one of these exists, an unpacked database is reused by the next call. Those unpacked first
/// are removed when they take more than the file system has left. The last object removes the rest.
class ReuseUnpackedDatabases : NonCopyable {
public:
  ReuseUnpackedDatabases();
  ~ReuseUnpackedDatabases();
};

/// A folder with the database of `path` in its file "database". `source`: the file opened, not read
/// yet; it stays unread where the database is reused. Thread-safe. Errors: kOutput.
[[nodiscard]] Result<std::shared_ptr<const ScratchFolder>>
unpacked_database(const std::string& path, ByteSource& source);

/// How many databases this process has unpacked.
[[nodiscard]] std::size_t databases_unpacked();

} // namespace rankscope
