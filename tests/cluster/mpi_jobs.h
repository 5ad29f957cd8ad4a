// Runs jobs with the launchers of the MPI implementations for which programs were built.
#pragma once

#include "os/process.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope::test {

/// Returns PROGRAM-IMPLEMENTATION of this build, or PROGRAM for the implementation that
/// find_package found.
inline std::string mpi_program(const std::string& program, const std::string& implementation) {
  std::string out = RANKSCOPE_MPI_FOLDER;
  out += "/" + program;
  if (implementation != "default")
    out += "-" + implementation;
  return out;
}

/// Returns the mpirun of that implementation (Debian has a name for each); "" if there is no
/// mpirun.
inline std::string mpirun_of(const std::string& implementation) {
  const std::string path = path_variable(changed_environment({}, {}));
  const std::string program = find_program("mpirun." + implementation, path);
  return program.empty() && implementation == "default" ? find_program("mpirun", path) : program;
}

/// Returns a job with this number of processes. Open MPI is allowed to start more processes than
/// there are CPUs, and to run as root, which tests in containers do.
inline ProcessSpec mpi_job(const std::string& implementation, int processes,
                           const std::vector<std::string>& command) {
  ProcessSpec spec;
  spec.argv = {mpirun_of(implementation)};
  if (implementation != "mpich")
    spec.argv.insert(spec.argv.end(), {"--oversubscribe", "--bind-to", "none"});
  spec.argv.insert(spec.argv.end(), {"-n", std::to_string(processes)});
  spec.argv.insert(spec.argv.end(), command.begin(), command.end());
  spec.out = spec.err = Stream::kCapture;
  spec.set_env = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  spec.guarded = true; // no process of a job outlives its test
  // for a job that hangs; much longer than a slow machine needs
  spec.deadline = std::chrono::minutes(8);
  return spec;
}

inline ProcessEnd run_mpi(const std::string& implementation, int processes,
                          const std::vector<std::string>& command) {
  Result<ProcessEnd> end = run_process(mpi_job(implementation, processes, command));
  if (!end) {
    ADD_FAILURE() << end.error().message();
    return {};
  }
  EXPECT_FALSE(end->timed_out) << end->out << end->err;
  return *end;
}

/// A test for each implementation. It is skipped with a message if the build does not have the
/// implementation or if the launcher is absent.
class MpiTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (GetParam() == "none")
      GTEST_SKIP() << "this build has no MPI (RANKSCOPE_MPI)";
    if (mpirun_of(GetParam()).empty())
      GTEST_SKIP() << "no mpirun of " << GetParam();
  }
};

/// Returns "openmpi", "mpich", "default", or "none".
inline std::vector<std::string> mpi_implementations() {
  std::vector<std::string> out;
  const std::string built = RANKSCOPE_MPI_BUILT; // names of programs, separated by spaces
  for (std::size_t at = 0; at < built.size();) {
    const std::size_t end = std::min(built.find(' ', at), built.size());
    const std::string program = built.substr(at, end - at);
    const std::string prefix = "rankscope-mpi-";
    out.push_back(program.starts_with(prefix) ? program.substr(prefix.size()) : "default");
    at = end + 1;
  }
  if (out.empty())
    out.emplace_back("none");
  return out;
}

} // namespace rankscope::test
