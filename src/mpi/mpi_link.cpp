#include "mpi/mpi_link.h"

#define OMPI_SKIP_MPICXX 1 // do not include the C++ bindings, which MPI has dropped
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace rankscope {
namespace {

constexpr int kTag = 1;

/// Replaces MPI_Wait, which spins: a waiting process would use a processor that others need.
void wait_for(MPI_Request request) {
  using namespace std::chrono_literals;
  auto nap = 20us;
  for (int tries = 0;; ++tries) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0)
      return;
    if (tries < 200) // a message in transit arrives soon
      continue;
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(5ms));
  }
}

class Job final : public MpiJob {
public:
  Job(int& argc, char**& argv) {
    int level = 0;
    // other threads read traces, but only this thread calls MPI
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_);
    MPI_Comm_size(machine_, &on_this_machine_);
    MPI_Comm_rank(machine_, &rank_here_);
  }
  ~Job() override {
    MPI_Comm_free(&machine_);
    MPI_Finalize();
  }

  [[nodiscard]] std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(size_); }
  [[nodiscard]] std::size_t on_this_machine() const override {
    return static_cast<std::size_t>(on_this_machine_);
  }
  [[nodiscard]] bool first_on_this_machine() const override { return rank_here_ == 0; }
  [[nodiscard]] std::string said_by_first_here(std::string text) override {
    text.resize(4096); // the text ends at a zero
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, machine_, &request);
    wait_for(request);
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

  [[nodiscard]] std::string library() const override {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return text.substr(0, std::min(static_cast<std::size_t>(length), text.find('\n')));
  }

  std::vector<std::uint64_t> swap_numbers(const std::vector<std::uint64_t>& to_each) override {
    std::vector<std::uint64_t> out(size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(to_each.data(), 1, MPI_UINT64_T, out.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD,
                  &request);
    wait_for(request);
    return out;
  }

  void send(std::string_view bytes, std::size_t to) override {
    MPI_Request request = MPI_REQUEST_NULL;
    // synchronous: an early message would be buffered in the memory of the receiver or the library
    MPI_Issend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to), kTag,
               MPI_COMM_WORLD, &request);
    wait_for(request);
  }
  void receive(std::span<char> bytes, std::size_t from) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(from), kTag,
              MPI_COMM_WORLD, &request);
    wait_for(request);
  }

  void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::abort(); // MPI_Abort does not return
  }

private:
  MPI_Comm machine_ = MPI_COMM_NULL; ///< the processes of this machine
  int rank_ = 0, size_ = 1, on_this_machine_ = 1, rank_here_ = 0;
};

} // namespace

std::unique_ptr<MpiJob> MpiJob::begin(int& argc, char**& argv) {
  return std::make_unique<Job>(argc, argv);
}

} // namespace rankscope
