// The processes of an MPI job as a Link. Knows nothing of traces; mpi_link.cpp alone sees mpi.h,
// whose layouts differ from one implementation to the next, so that all else is compiled once for
// all.
#pragma once

#include "os/exchange.h"

#include <memory>
#include <string>

namespace rankscope {

/// The job from MPI_Init to MPI_Finalize; one in a process. An error in a call ends the whole job
/// (MPI_ERRORS_ARE_FATAL): nobody waits for ever. Waiting sleeps, as processors are for those who
/// work.
class MpiJob : public Link {
public:
  /// Takes what MPI's launcher put among the arguments out of them.
  static std::unique_ptr<MpiJob> begin(int& argc, char**& argv);

  /// Processes of the job on this machine, this one among them.
  [[nodiscard]] virtual std::size_t on_this_machine() const = 0;
  [[nodiscard]] virtual bool first_on_this_machine() const = 0;
  /// The text of the first process of this machine, at most 4096 bytes; all of them call it.
  [[nodiscard]] virtual std::string said_by_first_here(std::string text) = 0;
  /// "Open MPI v4.1.4, ...": the library at run time, on one line.
  [[nodiscard]] virtual std::string library() const = 0;
  /// Ends all processes of the job, with this exit status.
  [[noreturn]] virtual void abort(int status) = 0;
};

} // namespace rankscope
