#include "os/stream_pump.h"

#include "os/close_file.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kRead = std::size_t{64} << 10;
constexpr std::size_t kEcho = 4096; ///< if poll() reports a pipe as writable, it accepts this many
                                    ///< bytes without waiting

} // namespace

Result<std::unique_ptr<StreamPump>> StreamPump::start(std::array<PumpLane, 2> lanes) {
  std::unique_ptr<StreamPump> pump(new StreamPump);
  pump->lanes_ = std::move(lanes);
  pump->end_ = ::eventfd(0, EFD_CLOEXEC);
  if (pump->end_ < 0)
    return Error{ErrorCode::kOutput, "", std::strerror(errno), ""};
  for (const PumpLane& lane : pump->lanes_)
    if (lane.from >= 0)
      ::fcntl(lane.from, F_SETFL, O_NONBLOCK);
  // signals are handled on another thread; writing to a broken pipe then gives EPIPE
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<void> begun;
  try {
    pump->thread_ = std::thread([self = pump.get()] { self->run(); });
  } catch (const std::system_error& e) {
    begun = Error{ErrorCode::kOutput, "", std::string("cannot start a thread: ") + e.what(), ""};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!begun)
    return std::move(begun.error());
  return pump;
}

StreamPump::~StreamPump() {
  (void)finish(false);
  close_lanes();
  close_file(end_);
}

std::string StreamPump::finish(bool patient) {
  if (thread_.joinable()) {
    patient_ = patient;
    const std::uint64_t increment = 1;
    [[maybe_unused]] const auto n = ::write(end_, &increment, sizeof increment);
    thread_.join();
  }
  return problem_;
}

bool StreamPump::end_requested() const {
  pollfd ending{end_, POLLIN, 0};
  return ::poll(&ending, 1, 0) > 0;
}

void StreamPump::close_lanes() {
  for (PumpLane& lane : lanes_) {
    close_file(lane.from);
    close_file(lane.file);
  }
}

void StreamPump::run() {
  for (;;) {
    std::array<pollfd, 3> watched = {pollfd{lanes_[0].from, POLLIN, 0},
                                     pollfd{lanes_[1].from, POLLIN, 0}, pollfd{end_, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      break;
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (watched[i].revents != 0)
        move_bytes(lanes_[i]);
    if (watched[2].revents != 0)
      break;
  }
  for (PumpLane& lane : lanes_) // all writers have ended: read what is left in the pipes
    while (move_bytes(lane)) {
    }
  close_lanes();
}

bool StreamPump::move_bytes(PumpLane& lane) {
  if (lane.from < 0)
    return false;
  std::array<char, kRead> buffer;
  const ssize_t n = ::read(lane.from, buffer.data(), buffer.size());
  if (n > 0) {
    hand_on(lane, {buffer.data(), static_cast<std::size_t>(n)});
    return true;
  }
  if (n < 0 && errno == EINTR)
    return true;
  if (n == 0 || errno != EAGAIN)
    close_file(lane.from);
  return false;
}

void StreamPump::hand_on(PumpLane& lane, std::string_view bytes) {
  std::size_t at = 0;
  while (lane.file >= 0 && at < bytes.size()) {
    const ssize_t n = ::write(lane.file, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR) { // the child continues; finish() returns the error
      if (problem_.empty())
        problem_ = lane.file_name + ": " + std::strerror(errno);
      close_file(lane.file);
    }
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  echo(lane, bytes);
  if (!lane.on_bytes)
    return;
  try {
    lane.on_bytes(bytes);
  } catch (const std::exception& e) {
    problem_ = std::string("its output could not be stored: ") + e.what();
    lane.on_bytes = nullptr;
  }
}

void StreamPump::echo(PumpLane& lane, std::string_view bytes) const {
  while (lane.echo >= 0 && !bytes.empty()) {
    // if the reader of our stream stops reading, the child may block, as in any pipeline, but this
    // thread must still notice finish()
    const bool ending = end_requested();
    std::array<pollfd, 2> watched = {pollfd{lane.echo, POLLOUT, 0}, pollfd{end_, POLLIN, 0}};
    const int ready =
        ::poll(watched.data(), ending && patient_ ? 1 : 2, ending && !patient_ ? 0 : -1);
    if (ready < 0 && errno != EINTR)
      return;
    if (watched[0].revents == 0) {
      if (ending && !patient_)
        return;
      continue;
    }
    const ssize_t n = ::write(lane.echo, bytes.data(), std::min(bytes.size(), kEcho));
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
      lane.echo = -1;
      return;
    }
    bytes.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

} // namespace rankscope
