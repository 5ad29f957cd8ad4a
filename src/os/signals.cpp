#include "os/signals.h"

#include "os/cleanup.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

constexpr int kInterruptedExit = 130;
/// One event may send a signal twice: timeout(1) sends it to its child and then to the process
/// group.
constexpr auto kSameSignal = std::chrono::milliseconds(300);

std::atomic<std::int64_t> grace_ms{0};
std::atomic<int> first_signal{0};
std::atomic<bool> second_kills_children{false};

CancelToken& token() {
  static CancelToken* const only = new CancelToken; // never destroyed: a signal may arrive while
                                                    // the process exits
  return *only;
}

[[noreturn]] void leave() {
  cleanup::end_everything();
  const char text[] = "\nrankscope: interrupted; unfinished outputs were removed\n";
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text, sizeof text - 1);
  ::_exit(kInterruptedExit);
}

void wait_for_signals(const sigset_t& set) {
  int signal = 0;
  while (::sigwait(&set, &signal) != 0)
    ;
  first_signal = signal;
  token().cancel();
  const std::int64_t grace = grace_ms;
  const auto began = std::chrono::steady_clock::now();
  const auto until = began + std::chrono::milliseconds(grace);
  auto last = began;
  bool killed = false;
  for (auto now = began; now < until; now = std::chrono::steady_clock::now()) {
    const std::int64_t left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until - now).count();
    const timespec time{left / 1'000'000'000, left % 1'000'000'000};
    const int next = ::sigtimedwait(&set, nullptr, &time);
    if (next == signal && std::chrono::steady_clock::now() - last < kSameSignal)
      continue;
    if (next >= 0 && second_kills_children && !killed) {
      killed = true;
      signal = next;
      last = std::chrono::steady_clock::now();
      cleanup::kill_ending_children();
      continue;
    }
    // EINTR: a child can end while another thread that blocks all signals starts a child
    if (next >= 0 || errno != EINTR)
      break;
  }
  leave();
}

} // namespace

void install_interrupt_handler() {
  static std::atomic<bool> installed{false};
  if (installed.exchange(true))
    return;
  (void)token();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // so that a write beyond ulimit -f fails with an error
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup = {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaddset(&set, SIGHUP);
  // sigwait() does not return ignored signals, and shells start background jobs with SIGINT ignored
  std::signal(SIGINT, SIG_DFL);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &set, &before); // threads that start later inherit the mask
  try {
    std::thread([set] { wait_for_signals(set); }).detach();
  } catch (const std::system_error&) { // without the thread, signals have their default effect
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

CancelToken interrupt_token() {
  return token();
}

int interrupt_signal() {
  return first_signal;
}

InterruptGrace::InterruptGrace(std::chrono::milliseconds grace, SecondSignal second) {
  second_kills_children = second == SecondSignal::kKillsChildren;
  grace_ms = grace.count();
}

InterruptGrace::~InterruptGrace() {
  grace_ms = 0;
  second_kills_children = false;
}

bool sleep_unless_interrupted(double seconds) {
  const CancelToken interrupted = interrupt_token();
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!interrupted.cancelled() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return !interrupted.cancelled();
}

} // namespace rankscope
