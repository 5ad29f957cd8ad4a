// Decompressed copies of compressed databases, in temporary folders. A file is opened several times
// (to find its reader, its ranks, its events), and most of the time would be spent on
// decompression.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "os/scratch_folder.h"

#include <memory>
#include <string>

namespace rankscope {

class ByteSource;

/// While an object of this class exists, decompressed databases are reused. The oldest copies are
/// removed if all copies need more space than is free in the file system. The destructor of the
/// last object removes all copies.
class ReuseUnpackedDatabases : NonCopyable {
public:
  ReuseUnpackedDatabases();
  ~ReuseUnpackedDatabases();
};

/// Returns a folder whose file "database" is the decompressed `path`. `source`: the opened file at
/// its start; it is not read if an existing copy is reused. Thread-safe. Errors: kOutput.
[[nodiscard]] Result<std::shared_ptr<const ScratchFolder>>
unpacked_database(const std::string& path, ByteSource& source);

/// Returns the number of databases that this process has decompressed.
[[nodiscard]] std::size_t databases_unpacked();

} // namespace rankscope
