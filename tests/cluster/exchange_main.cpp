// A job that sends strings of many lengths to and fro and says whether all arrived:
// mpirun -n N rs_mpi_exchange-IMPLEMENTATION [PIECE_BYTES] [LONGEST] [die]. Exit 1 = something did
// not. die: process 1 is killed while the others wait for it.
#include "mpi/mpi_link.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

std::string text_of(std::size_t from, std::size_t to, std::size_t length) {
  std::string out(length, '\0');
  for (std::size_t i = 0; i < length; ++i)
    out[i] = static_cast<char>((from * 31 + to * 7 + i * 3 + i / 251) & 0xffU);
  return out;
}

/// Nothing, a byte, some, and more than a piece.
std::size_t length_of(std::size_t from, std::size_t to, std::size_t longest) {
  const std::size_t turn = (from * 5 + to * 3) % 4;
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
  std::vector<std::string> to_each;
  for (std::size_t r = 0; r < job->size(); ++r)
    to_each.push_back(text_of(job->rank(), r, length_of(job->rank(), r, longest)));
  const std::vector<std::string> got = all_to_all(*job, std::move(to_each), piece);
  std::uint64_t wrong = got.size() == job->size() ? 0 : 1, bytes = 0;
  for (std::size_t r = 0; r < got.size(); ++r) {
    wrong += got[r] == text_of(r, job->rank(), length_of(r, job->rank(), longest)) ? 0 : 1;
    bytes += got[r].size();
  }
  const std::vector<std::uint64_t> all_wrong =
      job->swap_numbers(std::vector<std::uint64_t>(job->size(), wrong));
  wrong = static_cast<std::uint64_t>(
      std::count_if(all_wrong.begin(), all_wrong.end(), [](std::uint64_t n) { return n != 0; }));
  if (job->rank() == 0)
    std::printf("%s: %zu processes, %zu on this machine, %llu bytes here, %llu wrong\n",
                job->library().c_str(), job->size(), job->on_this_machine(),
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
