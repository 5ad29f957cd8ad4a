// Tests the messages of each MPI implementation: all arrive, also those sent in pieces.
#include "mpi_jobs.h"

namespace rankscope {
namespace {

using test::mpi_program;
using test::MpiTest;
using test::run_mpi;

class MpiExchange : public MpiTest {};

TEST_P(MpiExchange, EveryStringArrives) {
  for (const int processes : {1, 2, 4})
    for (const char* piece : {"1000", "1073741824"}) {
      const ProcessEnd end = run_mpi(GetParam(), processes,
                                     {mpi_program("rs_mpi_exchange", GetParam()), piece, "50000"});
      EXPECT_TRUE(end.ok()) << end.describe() << end.out << end.err;
      EXPECT_NE(end.out.find(std::to_string(processes) + " processes"), std::string::npos)
          << end.out;
      EXPECT_NE(end.out.find(" 0 wrong"), std::string::npos) << end.out;
    }
}

// The launcher ends the processes that wait for the dead one, so no process waits forever.
TEST_P(MpiExchange, AProcessThatDiesEndsTheJob) {
  const ProcessEnd end =
      run_mpi(GetParam(), 4, {mpi_program("rs_mpi_exchange", GetParam()), "1000", "50000", "die"});
  EXPECT_FALSE(end.ok());
  EXPECT_EQ(end.out.find("wrong"), std::string::npos)
      << end.out; // the first process did not reach its end
}

INSTANTIATE_TEST_SUITE_P(, MpiExchange, testing::ValuesIn(test::mpi_implementations()),
                         [](const auto& instance) { return instance.param; });

} // namespace
} // namespace rankscope
