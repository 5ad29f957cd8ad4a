// Tests a job without MPI, with threads as its processes. The outputs are those of one process, for
// any number of processes; a process that fails is named and the others continue; no process waits
// for one that has failed.
#include "app/reduce_job.h"

#include "app/collectives.h"
#include "engine/fact_cache.h"
#include "settle.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "thread_link.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <optional>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

/// Result of a process of the job.
struct End {
  std::optional<Error> error;
  std::size_t ranks = 0;
  Diagnostics diagnostics;
};

/// Does the work of the first process: `collectives` of all shards.
Result<std::size_t> reduce(Session& session, JobShares& shares, const JobRequest& request) {
  RS_CHECK(open_shares(session, shares, request));
  CollectivesRequest collectives;
  collectives.inputs = request.runs.front().inputs;
  collectives.outputs.file = request.runs.front().inputs.front() + "/../../../job.json";
  RS_TRY(const RunPlan plan, plan_collectives(session, collectives));
  RS_TRY(const CollectivesResult result, collect_collectives(session, plan, collectives));
  return result.ranks;
}

std::vector<End> run_job(std::size_t size,
                         const std::function<JobRequest(std::size_t rank)>& request) {
  std::vector<End> ends(size);
  test::Letters letters;
  test::run_job(letters, size, [&](Link& link) {
    Session session;
    End& end = ends[link.rank()];
    const JobRequest job = request(link.rank());
    Result<JobShares> shares = gather_shares(session, link, job);
    if (!shares) {
      end.error = shares.error();
      return;
    }
    if (link.rank() != 0)
      return;
    const Result<std::size_t> ranks = reduce(session, *shares, job);
    if (ranks)
      end.ranks = *ranks;
    else
      end.error = ranks.error();
    end.diagnostics = session.diagnostics;
  });
  return ends;
}

/// Sets an environment variable during its lifetime.
class Environment {
public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name); old != nullptr)
      old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    if (old_)
      ::setenv(name_, old_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

private:
  const char* name_;
  std::optional<std::string> old_;
};

class ReduceJob : public testing::Test {
protected:
  void SetUp() override {
    synth::Options options;
    options.threads = {256};
    options.channels = {28};
    options.ranks = 6;
    options.layers = 2;
    options.steps = 2;
    Session session;
    ASSERT_TRUE(
        synth::generate(options, folder.path("sweep"), 1, [](const std::string&) {}).has_value());
    CollectivesRequest collectives;
    collectives.inputs = {run()};
    collectives.outputs.file = folder.path("one.json");
    const Result<RunPlan> plan = plan_collectives(session, collectives);
    ASSERT_TRUE(plan.has_value());
    ASSERT_TRUE(collect_collectives(session, *plan, collectives).has_value());
  }

  [[nodiscard]] std::string run() const { return folder.path("sweep/256thread/nccl_28channels"); }
  [[nodiscard]] JobRequest request() const {
    JobRequest out;
    out.runs.resize(1);
    out.runs.front().inputs = {run()};
    return out;
  }
  [[nodiscard]] std::string bytes(const std::string& name) const {
    return test::bytes_of(folder.path(name));
  }

  TempFolder folder;
};

TEST_F(ReduceJob, AnyNumberOfProcessesIsOne) {
  for (const std::size_t size : {1U, 2U, 5U, 9U}) {
    fs::remove(folder.path("job.json"));
    const std::vector<End> ends = run_job(size, [&](std::size_t) { return request(); });
    EXPECT_FALSE(ends[0].error) << ends[0].error->message();
    EXPECT_EQ(ends[0].ranks, 6U);
    EXPECT_FALSE(ends[0].diagnostics.data_lost()) << size;
    EXPECT_FALSE(bytes("one.json").empty());
    EXPECT_EQ(bytes("job.json"), bytes("one.json")) << size;
  }
}

TEST_F(ReduceJob, EachProcessCachesTheFactsOfItsRanks) {
  test::settle();
  const auto cache = std::make_shared<FactCache>(folder.path("cache"));
  test::Letters letters;
  test::run_job(letters, 3, [&](Link& link) {
    Session session;
    session.cache = cache;
    EXPECT_TRUE(gather_shares(session, link, request()));
  });
  EXPECT_EQ(cache->size().files, 6U * 3U); // three facts for collectives
}

// While it reduces, the first process stores parts that do not fit in memory in the temporary
// folder; no file remains there.
TEST_F(ReduceJob, PartsBeyondTheMemoryArePutAside) {
  const Environment scratch("TMPDIR", folder.path(""));
  const auto entries = [&] {
    return std::distance(fs::directory_iterator(folder.path("")), fs::directory_iterator());
  };
  const auto before = entries();
  for (const std::uint64_t in_memory : {0U, 20'000U}) { // no part fits, and some fit
    fs::remove(folder.path("job.json"));
    const std::vector<End> ends = run_job(3, [&](std::size_t) {
      JobRequest out = request();
      out.gathered_in_memory = in_memory;
      out.message_bytes = in_memory; // a message for each file, and for several files
      return out;
    });
    EXPECT_FALSE(ends[0].error) << ends[0].error->message();
    EXPECT_EQ(bytes("job.json"), bytes("one.json")) << in_memory;
    EXPECT_EQ(entries(), before + 1);
  }
  // no space for the parts: the first process reports an error, and no process waits
  const Environment nowhere("TMPDIR", folder.path("nowhere"));
  const std::vector<End> ends = run_job(3, [&](std::size_t) {
    JobRequest out = request();
    out.gathered_in_memory = 0;
    return out;
  });
  ASSERT_TRUE(ends[0].error);
  EXPECT_EQ(ends[0].error->code, ErrorCode::kOutput) << ends[0].error->message();
  EXPECT_FALSE(ends[1].error);
}

TEST_F(ReduceJob, AProcessWithoutTracesIsNamedAndTheRestIsComplete) {
  const std::vector<End> ends = run_job(3, [&](std::size_t rank) {
    JobRequest out = request();
    if (rank == 1)
      out.runs.front().inputs = {folder.path("not_on_this_machine")};
    return out;
  });
  ASSERT_FALSE(ends[0].error) << ends[0].error->message();
  EXPECT_TRUE(ends[0].diagnostics.data_lost());
  bool named = false;
  for (const Problem& problem : ends[0].diagnostics.problems())
    named = named || problem.where.find("process 1 of 3") != std::string::npos;
  EXPECT_TRUE(named);
  EXPECT_EQ(ends[0].ranks, 4U); // ranks 1 and 4 of six were on process 1
}

TEST_F(ReduceJob, WhenNobodyHasAShareThatIsTheError) {
  const std::vector<End> ends = run_job(3, [&](std::size_t) {
    JobRequest out = request();
    out.runs.front().inputs = {folder.path("nowhere")};
    return out;
  });
  ASSERT_TRUE(ends[0].error);
  EXPECT_EQ(ends[0].error->code, ErrorCode::kUnreadable) << ends[0].error->message();
}

TEST_F(ReduceJob, NobodyWaitsForOneWhoDoesNotCome) {
  test::Letters letters;
  std::vector<std::string> said(3);
  test::run_job(letters, 3, [&](Link& link) {
    if (link.rank() == 2)
      return leave_job(link);
    Session session;
    const auto shares = gather_shares(session, link, request());
    said[link.rank()] = shares ? "went on" : shares.error().message();
  });
  EXPECT_EQ(said[0], "process 2 of 3: has not started");
  EXPECT_EQ(said[1], said[0]);
}

/// Returns "" or the location of the error, for a process whose MPI reports a job of one process.
std::string alone(const std::map<std::string, std::string, std::less<>>& environment) {
  const Result<void> checked =
      check_single([&](std::string_view name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        return found == environment.end() ? std::nullopt : std::optional(found->second);
      });
  return checked ? "" : checked.error().where;
}

TEST(CheckSingle, SeveralThatMpiDoesNotKnowAreNoJob) {
  // srun -n 4 of a program whose MPI uses another process manager
  EXPECT_EQ(alone({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}}),
            "SLURM_PROCID");
  EXPECT_EQ(alone({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
            "OMPI_COMM_WORLD_RANK"); // mpirun of another MPI implementation
  EXPECT_EQ(alone({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), "PMI_RANK");
  EXPECT_EQ(alone({}), "");
  EXPECT_EQ(alone({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "");
  EXPECT_EQ(alone({{"RANK", "3"}, {"WORLD_SIZE", "8"}}), ""); // of a training job
  EXPECT_EQ(alone({{"SLURM_ARRAY_TASK_ID", "1"},
                   {"SLURM_ARRAY_TASK_COUNT", "4"},
                   {"SLURM_ARRAY_TASK_MIN", "0"}}),
            "");
  EXPECT_EQ(alone({{"SLURM_JOB_ID", "9"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}),
            ""); // the batch script itself
}

} // namespace
} // namespace rankscope
