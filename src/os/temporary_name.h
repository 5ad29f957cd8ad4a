// Names of unfinished outputs, and what to do about those that nobody will finish.
#pragma once

#include <string>

namespace rankscope {

/// <path>.<host>-<pid>-<n>.tmp, beside `path`, so that renaming stays within one file system; for a
/// name too long for that .rankscope.<host>-<pid>-<n>.tmp in its folder. The first one in a folder
/// also removes what killed runs of this machine left there.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// Eight digits for this machine's name: numbers of processes and locks of another machine mean
/// nothing here.
[[nodiscard]] const std::string& machine_tag();

/// Removes the temporaries in `folder` whose process, on this machine, is gone, and which nobody
/// has touched for a minute (a process of another container may have had that number).
void remove_leftovers(const std::string& folder);

} // namespace rankscope
