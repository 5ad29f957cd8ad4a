// The processes of an MPI job as a Link, independent of traces. Only mpi_link.cpp includes mpi.h,
// which differs between implementations. So all other code is compiled once for all of them.
#pragma once

#include "os/exchange.h"

#include <memory>
#include <string>

namespace rankscope {

/// The job from MPI_Init to MPI_Finalize; one object per process. An error in a call ends all
/// processes of the job (MPI_ERRORS_ARE_FATAL), so no process waits forever. A waiting process
/// sleeps, so that others can use the processors.
class MpiJob : public Link {
public:
  /// Initializes MPI and removes the arguments that its launcher added.
  static std::unique_ptr<MpiJob> begin(int& argc, char**& argv);

  /// Returns the number of the job's processes on this machine, including this one.
  [[nodiscard]] virtual std::size_t on_this_machine() const = 0;
  [[nodiscard]] virtual bool first_on_this_machine() const = 0;
  /// Returns the text of the first process on this machine, at most 4096 bytes. All processes of
  /// the machine must call it.
  [[nodiscard]] virtual std::string said_by_first_here(std::string text) = 0;
  /// Returns the MPI library and its version on one line: "Open MPI v4.1.4, ...".
  [[nodiscard]] virtual std::string library() const = 0;
  /// Ends all processes of the job with this exit status.
  [[noreturn]] virtual void abort(int status) = 0;
};

} // namespace rankscope
