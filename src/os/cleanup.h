// What must not outlive the process when it is told to end: temporary files, scratch folders and
// children. Whoever makes one says so here; a signal (os/signals.h) or a forgotten one is then
// removed by end_process().
#pragma once

#include <mutex>
#include <string>
#include <sys/types.h>

namespace rankscope::cleanup {

/// A file or folder (with all in it) that an interrupt removes. remove() = it is gone or wanted.
void add_path(const std::string& path);
/// Creates a file for writing that an interrupt removes; an interrupt in between finds both or
/// none. -1 with errno, EEXIST also for a link that leads nowhere: nothing is opened that exists.
[[nodiscard]] int create_path(const std::string& path);
/// mkdtemp(3) of `name` ("...XXXXXX", which becomes the folder's), likewise. False with errno.
[[nodiscard]] bool make_folder(std::string& name);
void remove_path(const std::string& path);
/// A folder that the processes of a job on this machine have in common: an interrupt leaves when it
/// is empty, as launchers kill all others at the first one's end. One that does not become empty
/// for a while is removed with what is in it. "" = none any more.
void share_folder(const std::string& path);

/// Held while a child is begun and entered, so that none is begun behind an interrupt's back, and
/// while one is reaped. Whoever waits for it during an interrupt waits for ever.
[[nodiscard]] std::unique_lock<std::mutex> lock_children();
/// `group` is a child that leads a process group of its own. Under lock_children().
void add_child(pid_t group);
/// The guard of a child (os/process_guard.h), which ends everything below it when told to.
void add_guard(pid_t guard);
/// Of either.
void remove_child(pid_t pid);

/// Kills at once what guards have asked to end and what is still running; other children go on.
void kill_ending_children();

/// Ends every child (SIGTERM, a moment, SIGKILL to its group or by its guard), removes every path,
/// and lets nobody add more: all that remains is to exit. Called once.
void end_everything();

} // namespace rankscope::cleanup
