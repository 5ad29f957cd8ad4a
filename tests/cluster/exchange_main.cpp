// A job in which all processes send strings of many lengths to the first process, which checks that
// all arrived: mpirun -n N rs_mpi_exchange-IMPLEMENTATION [PIECE_BYTES] [LONGEST] [die]. Exits with
// 1 if a string did not arrive. die: process 1 is killed while the other processes wait for it.
#include "mpi/mpi_link.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

std::string text_of(std::size_t from, std::size_t number, std::size_t length) {
  std::string out(length, '\0');
  for (std::size_t i = 0; i < length; ++i)
    out[i] = static_cast<char>((from * 31 + number * 7 + i * 3 + i / 251) & 0xffU);
  return out;
}

/// Returns the length of a string: 0, 1, a third of `longest`, or `longest`, which is more than a
/// piece.
std::size_t length_of(std::size_t from, std::size_t number, std::size_t longest) {
  const std::size_t turn = (from * 5 + number * 3) % 4;
  return turn == 0 ? 0 : turn == 1 ? 1 : turn == 2 ? longest / 3 : longest;
}

} // namespace

int main(int argc, char** argv) {
  using namespace rankscope;
  const auto job = MpiJob::begin(argc, argv);
  const std::size_t piece = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kPieceBytes;
  const std::size_t longest = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000;
  if (argc > 3 && job->rank() == 1)
    (void)std::raise(SIGKILL);
  constexpr std::uint64_t kStrings = 7;
  std::uint64_t arrived = 0, wrong = 0, bytes = 0;
  gather_in_turn(
      *job, kStrings,
      [&](std::uint64_t n) { return text_of(job->rank(), n, length_of(job->rank(), n, longest)); },
      [&](std::size_t from, std::string got) {
        const std::uint64_t n = arrived % kStrings;
        const bool in_turn = from == arrived / kStrings;
        wrong += in_turn && got == text_of(from, n, length_of(from, n, longest)) ? 0 : 1;
        ++arrived;
        bytes += got.size();
      },
      piece);
  if (job->rank() == 0)
    wrong += job->size() * kStrings - arrived;
  wrong = said_by_first(*job, wrong);
  if (job->rank() == 0)
    std::printf("%s: %zu processes, %zu on this machine, %llu bytes here, %llu wrong\n",
                job->library().c_str(), job->size(), job->on_this_machine(),
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
