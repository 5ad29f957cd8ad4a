// A thread that reads the pipes of a child as bytes arrive. It passes the bytes to a function,
// writes them to a file and echoes them to the streams of this process. So the child does not have
// to wait until the caller reads its output.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace rankscope {

/// A stream of a child and its destinations. Each destination gets every byte as it arrives.
struct PumpLane {
  int from = -1; ///< read end of a pipe; the pump closes it
  std::function<void(std::string_view)> on_bytes;
  int file = -1; ///< file that gets a copy; the pump closes it
  std::string file_name;
  int echo = -1; ///< our own stream, which is not closed; it is not an error if its reader closes
                 ///< it
};

class StreamPump : NonCopyable {
public:
  /// Starts the thread. Errors: kOutput if the system cannot create a thread; the lanes are then
  /// closed.
  static Result<std::unique_ptr<StreamPump>> start(std::array<PumpLane, 2> lanes);
  ~StreamPump();

  /// Passes on the bytes that are still in the pipes, and ends the thread. Call it when all
  /// processes that write to the pipes have ended. With `patient`, it waits for a slow reader of
  /// our streams. Returns the error of writing the file ("FILE: No space left on device"), or "".
  std::string finish(bool patient);

private:
  void run();
  /// Reads once. Returns false if no bytes are available now. At the end of the stream, closes the
  /// lane.
  bool move_bytes(PumpLane& lane);
  void hand_on(PumpLane& lane, std::string_view bytes);
  void echo(PumpLane& lane, std::string_view bytes) const;
  void close_lanes();
  [[nodiscard]] bool end_requested() const;

  std::array<PumpLane, 2> lanes_;
  int end_ = -1;                      ///< an eventfd, readable after finish() has begun
  std::atomic<bool> patient_ = false; ///< set before `end_` is signalled
  std::string problem_;
  std::thread thread_;
};

} // namespace rankscope
