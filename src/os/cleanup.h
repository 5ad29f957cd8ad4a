// Registers what must not outlive an interrupted process: temporary files, scratch folders and
// children. Code that creates one registers it here; after a signal (os/signals.h),
// end_everything() removes all of them.
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>

namespace rankscope::cleanup {

/// Registers a file or folder that an interrupt removes with its content. Call remove_path() when
/// it is gone or is to stay.
void add_path(const std::string& path);
/// Creates and registers a file for writing, as one step for an interrupt. Returns -1 with errno,
/// EEXIST also for a dangling link: an existing file is never opened.
[[nodiscard]] int create_path(const std::string& path);
/// Does the same with mkdtemp(3) of `name` ("...XXXXXX", set to the folder). False with errno.
[[nodiscard]] bool make_folder(std::string& name);
void remove_path(const std::string& path);
/// Registers a folder that the processes of a job on this machine share. An interrupted process
/// exits only when it is empty, as launchers kill all others when the first one ends. A folder that
/// does not become empty in time is removed with its content. "" = no folder any more.
void share_folder(const std::string& path);

/// Returns the lock to have while a child is started and registered, so that an interrupt misses
/// none, and while one is reaped. After an interrupt it is never released.
[[nodiscard]] std::unique_lock<std::mutex> lock_children();
/// `group` is a child that leads its process group. Call under lock_children().
void add_child(pid_t group);
/// Registers the guard of a child (os/process_guard.h), which ends everything below it on request.
void add_guard(pid_t guard);
/// Removes a child or a guard.
void remove_child(pid_t pid);

/// Kills at once the processes that guards have asked to end and that still run; other children
/// continue.
void kill_ending_children();

/// Ends every child (SIGTERM, a moment, SIGKILL to its group or by its guard) and removes every
/// path. After it nothing can be registered: the caller must exit. Called once.
void end_everything();

} // namespace rankscope::cleanup
