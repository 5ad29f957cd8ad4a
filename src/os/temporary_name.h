// Names of unfinished outputs, and what to do about those that nobody will finish.
#pragma once

#include <string>

namespace rankscope {

/// Creates <path>.<host>-<pid>-<random letters>.tmp, beside `path`, so that renaming stays within
/// one file system; for a name too long for that .rankscope.<host>-<pid>-<random letters>.tmp in
/// its folder. An interrupt removes it (os/cleanup.h). The first one in a folder also removes what
/// killed runs of this machine left there. Returns a descriptor for writing and sets `name`, or -1
/// with errno and an empty `name`.
[[nodiscard]] int create_temporary(const std::string& path, std::string& name);

/// Eight digits for this machine's name: numbers of processes and locks of another machine mean
/// nothing here.
[[nodiscard]] const std::string& machine_tag();

/// Removes the temporaries in `folder` whose process, on this machine, is gone, and which nobody
/// has touched for a minute (a process of another container may have had that number).
void remove_leftovers(const std::string& folder);

} // namespace rankscope
