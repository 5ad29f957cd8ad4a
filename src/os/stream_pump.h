// Pipes that a child writes into, read by a thread as the bytes come: handed to a function, written
// to a file, passed on to our own streams. The child never waits for somebody to ask.
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

/// A stream of a child and where its bytes go, as they come, each of them in every place.
struct PumpLane {
  int from = -1; ///< read end of a pipe; the pump closes it
  std::function<void(std::string_view)> on_bytes;
  int file = -1; ///< a copy; the pump closes it
  std::string file_name;
  int echo = -1; ///< ours, left open; a reader that left is no fault
};

class StreamPump : NonCopyable {
public:
  /// Errors: kOutput when the system gives no thread; the lanes are closed then.
  static Result<std::unique_ptr<StreamPump>> start(std::array<PumpLane, 2> lanes);
  ~StreamPump();

  /// Call when all who write have ended: hands on what is still in the pipes and ends. Unless
  /// `patient`, nobody waits for a reader of our own streams that does not read. Returns what went
  /// wrong with a copy ("FILE: No space left on device"), or nothing.
  std::string finish(bool patient);

private:
  void run();
  /// One read; false when there is nothing to be had now. Closes the lane at its end.
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
