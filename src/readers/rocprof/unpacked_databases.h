// Unpacked copies of compressed databases, in temporary folders. A file is opened several times
// (for its reader, its ranks, its events), and unpacking takes most of the time of each.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "os/scratch_folder.h"

#include <memory>
#include <string>

namespace rankscope {

class ByteSource;

/// Enables the reuse of unpacked databases while an object exists. The oldest ones are removed when
/// they take more space than the file system has left. The last object removes all of them.
class ReuseUnpackedDatabases : NonCopyable {
public:
  ReuseUnpackedDatabases();
  ~ReuseUnpackedDatabases();
};

/// Returns a folder whose file "database" is the unpacked `path`. `source`: the opened file at its
/// start; it is not read if the database is reused. Thread-safe. Errors: kOutput.
[[nodiscard]] Result<std::shared_ptr<const ScratchFolder>>
unpacked_database(const std::string& path, ByteSource& source);

/// Returns the number of databases that this process has unpacked.
[[nodiscard]] std::size_t databases_unpacked();

} // namespace rankscope
