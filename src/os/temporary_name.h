// Creates temporary names for unfinished outputs, and removes temporary files that killed processes
// left.
#pragma once

#include <string>

namespace rankscope {

/// Creates <path>.<host>-<pid>-<random letters>.tmp next to `path`, so that a rename stays within
/// one file system. If that name is too long, the file is .rankscope.<host>-<pid>-<random
/// letters>.tmp in the same folder. The file is registered: an interrupt removes it (os/cleanup.h).
/// The first call for a folder also removes the files that killed runs of this machine left in it.
/// Returns a descriptor for writing and sets `name`; on failure, returns -1 with errno and clears
/// `name`.
[[nodiscard]] int create_temporary(const std::string& path, std::string& name);

/// Returns eight digits that identify this machine: process ids and locks of another machine have
/// no meaning on this one.
[[nodiscard]] const std::string& machine_tag();

/// Removes temporary files of ended processes of this machine from `folder`. Files that changed
/// within the last minute are not removed, because the process may run in another container, where
/// its id is not visible.
void remove_leftovers(const std::string& folder);

} // namespace rankscope
