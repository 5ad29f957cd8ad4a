// Registers temporary files, scratch folders and child processes, which must not outlive an
// interrupted process. Code that creates one registers it here; after a signal (os/signals.h),
// end_everything() removes the files and folders and ends the children.
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>

namespace rankscope::cleanup {

/// Registers a file or folder; an interrupt removes it with its content. Call remove_path() if the
/// path no longer exists or must not be removed.
void add_path(const std::string& path);
/// Creates and registers a file for writing; an interrupt cannot occur between the two. Returns -1
/// with errno on failure. An existing file is never opened: errno is EEXIST, also for a dangling
/// link.
[[nodiscard]] int create_path(const std::string& path);
/// Creates and registers a folder with mkdtemp(3). `name` ends in "XXXXXX" and becomes the name of
/// the folder. Returns false with errno on failure.
[[nodiscard]] bool make_folder(std::string& name);
void remove_path(const std::string& path);
/// Registers a folder that several processes of a job on this machine use; "" unregisters it. An
/// interrupted process waits until the others have left the folder empty, because launchers kill
/// all processes when the first one ends. If the folder is not empty in time, it is removed with
/// its content.
void share_folder(const std::string& path);

/// Returns the lock that a caller needs while it starts and registers a child, or reaps one. With
/// it, an interrupt finds every child. After an interrupt the lock is never released.
[[nodiscard]] std::unique_lock<std::mutex> lock_children();
/// Registers a child that leads the process group `group`. The caller must have the lock of
/// lock_children().
void add_child(pid_t group);
/// Registers the guard of a child (os/process_guard.h). On a signal, the guard ends all processes
/// below it.
void add_guard(pid_t guard);
/// Unregisters a child or a guard.
void remove_child(pid_t pid);

/// Immediately kills the running processes that guards have asked to end. Other children continue.
void kill_ending_children();

/// Ends every child and removes every path. A child gets SIGTERM, and SIGKILL if it has not ended
/// in time; the signals go to its process group or through its guard. Afterwards nothing can be
/// registered: the caller must exit. Call it once.
void end_everything();

} // namespace rankscope::cleanup
