// A thread that reads the pipes of a child as the bytes come, passes them to a function, writes
// them to a file and echoes them to our streams. The child never waits for the caller to read.
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

/// A stream of a child and its destinations; each destination gets every byte as it comes.
struct PumpLane {
  int from = -1; ///< read end of a pipe; the pump closes it
  std::function<void(std::string_view)> on_bytes;
  int file = -1; ///< a copy; the pump closes it
  std::string file_name;
  int echo = -1; ///< our stream, left open; a reader that left is not an error
};

class StreamPump : NonCopyable {
public:
  /// Errors: kOutput when the system gives no thread; the lanes are closed then.
  static Result<std::unique_ptr<StreamPump>> start(std::array<PumpLane, 2> lanes);
  ~StreamPump();

  /// Call when all writers have ended: delivers what is still in the pipes and ends. Unless
  /// `patient`, does not wait for a reader of our streams that does not read. Returns the error of
  /// a copy ("FILE: No space left on device"), or "".
  std::string finish(bool patient);

private:
  void run();
  /// Reads once; false when no bytes are available now. Closes the lane at its end.
  bool move_bytes(PumpLane& lane);
  void hand_on(PumpLane& lane, std::string_view bytes);
  void echo(PumpLane& lane, std::string_view bytes) const;
  void close_lanes();
  [[nodiscard]] bool told_to_end() const;

  std::array<PumpLane, 2> lanes_;
  int end_ = -1;                      ///< an eventfd, readable from finish() on
  std::atomic<bool> patient_ = false; ///< set before end_ is
  std::string problem_;
  std::thread thread_;
};

} // namespace rankscope
