// Names unfinished outputs, and removes those that no process will finish.
#pragma once

#include <string>

namespace rankscope {

/// Creates <path>.<host>-<pid>-<random letters>.tmp in the folder of `path`, so that renaming stays
/// within one file system. If that name is too long, it is .rankscope.<host>-<pid>-<random
/// letters>.tmp in that folder. An interrupt removes it (os/cleanup.h). The first call for a folder
/// also removes the files that killed runs of this machine left there. Returns a descriptor for
/// writing and sets `name`, or -1 with errno and an empty `name`.
[[nodiscard]] int create_temporary(const std::string& path, std::string& name);

/// Returns eight digits for this machine's name: process ids and locks of another machine mean
/// nothing here.
[[nodiscard]] const std::string& machine_tag();

/// Removes temporaries in `folder` whose process on this machine is gone and that were not changed
/// for a minute (a process in another container may have that id).
void remove_leftovers(const std::string& folder);

} // namespace rankscope
