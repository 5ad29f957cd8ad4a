// Registers temporary files, scratch folders and children, which must not outlive an interrupted
// process. Code that creates them registers them here; after a signal (os/signals.h),
// end_everything() removes all of them.
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>

namespace rankscope::cleanup {

/// Registers a file or folder; an interrupt removes it with its content. Call remove_path() when
/// the path no longer exists or must stay.
void add_path(const std::string& path);
/// Creates and registers a file for writing; no interrupt can come between. Returns -1 with errno.
/// An existing file is never opened: EEXIST, also for a dangling link.
[[nodiscard]] int create_path(const std::string& path);
/// Creates and registers a folder with mkdtemp(3). `name` ends in "XXXXXX" and becomes the folder's
/// name. Returns false with errno.
[[nodiscard]] bool make_folder(std::string& name);
void remove_path(const std::string& path);
/// Registers a folder that the processes of a job on this machine share; "" unregisters it. An
/// interrupted process waits until the folder is empty, because launchers kill all processes when
/// the first one ends. A folder that does not become empty in time is removed with its content.
void share_folder(const std::string& path);

/// Returns the lock that a caller needs while it starts and registers a child, or reaps one; so an
/// interrupt misses no child. After an interrupt the lock is never released.
[[nodiscard]] std::unique_lock<std::mutex> lock_children();
/// Registers a child that leads the process group `group`. Call with lock_children().
void add_child(pid_t group);
/// Registers the guard of a child (os/process_guard.h). On request, the guard ends all processes
/// below it.
void add_guard(pid_t guard);
/// Unregisters a child or a guard.
void remove_child(pid_t pid);

/// Kills at once the running processes that guards have asked to end. Other children continue.
void kill_ending_children();

/// Ends every child and removes every path. A child gets SIGTERM and, after a moment, SIGKILL to
/// its group or through its guard. Afterwards nothing can be registered: the caller must exit. Call
/// it once.
void end_everything();

} // namespace rankscope::cleanup
