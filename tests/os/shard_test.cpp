// Tests the shard of a process for the variables of each launcher, with values as the launchers set
// them.
#include "os/shard.h"

#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Result<std::optional<Shard>> share(const Variables& env, std::string_view flag = "") {
  return shard_from(flag, [&env](std::string_view name) -> std::optional<std::string> {
    const auto found = env.find(name);
    return found == env.end() ? std::nullopt : std::optional(found->second);
  });
}

/// Returns "index/count source", "none", or the error message.
std::string text(const Variables& env, std::string_view flag = "") {
  const auto shard = share(env, flag);
  if (!shard)
    return shard.error().message();
  if (!*shard)
    return "none";
  return std::to_string((*shard)->index) + "/" + std::to_string((*shard)->count) + " " +
         (*shard)->source;
}

std::string where(const Variables& env, std::string_view flag = "") {
  const auto shard = share(env, flag);
  if (shard)
    return "no error";
  EXPECT_EQ(shard.error().code, ErrorCode::kUsage);
  EXPECT_NE(shard.error().hint.find("--shard"), std::string::npos);
  return shard.error().where;
}

TEST(Shard, NobodySaysSo) {
  EXPECT_EQ(text({}), "none");
  EXPECT_EQ(text({{"SLURM_JOB_ID", "17"}, {"HOME", "/root"}}), "none");
}

TEST(Shard, TheFlagWins) {
  const Variables slurm{{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(text(slurm, "1/2"), "1/2 --shard");
  EXPECT_EQ(text({{"RANK", "nonsense"}}, "0/1"), "0/1 --shard"); // the environment is not read
  for (const char* bad : {"1", "2/2", "-1/2", "1/", "/2", "1/2/3", "a/b", "0/0", "+0/2", " 0/2",
                          "0x0/2", "1.0/2", "0/99999999999999999999"})
    EXPECT_EQ(where(slurm, bad), "--shard") << bad;
}

TEST(Shard, EachLauncher) {
  EXPECT_EQ(text({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}}), "3/4 SLURM_PROCID");
  EXPECT_EQ(text({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "8"}}),
            "0/8 OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(text({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), "1/2 PMI_RANK");
  EXPECT_EQ(text({{"PMIX_RANK", "1"}, {"PMI_SIZE", "2"}}), "1/2 PMIX_RANK");
  EXPECT_EQ(text({{"RANK", "15"}, {"WORLD_SIZE", "16"}}), "15/16 RANK");
  EXPECT_EQ(text({{"JOB_COMPLETION_INDEX", "2"}, {"JOB_COMPLETIONS", "5"}}),
            "2/5 JOB_COMPLETION_INDEX");
}

TEST(Shard, TheLauncherNearestToTheTask) {
  // mpirun in an allocation of two nodes: both tasks on this node have the PROCID of the daemon
  const Variables daemon{{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}};
  Variables open_mpi = daemon;
  open_mpi.insert({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
  open_mpi.insert({{"PMIX_RANK", "5"}});
  EXPECT_EQ(text(open_mpi), "5/8 OMPI_COMM_WORLD_RANK");
  Variables mpich = daemon;
  mpich.insert({{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}});
  EXPECT_EQ(text(mpich), "5/8 PMI_RANK");
  // srun --mpi=pmix: PMIx does not set the size as a variable, but Slurm does
  Variables pmix = daemon;
  pmix.insert({"PMIX_RANK", "1"});
  EXPECT_EQ(text(pmix), "1/2 SLURM_PROCID");
  // RANK of torchrun belongs to the task; RANK of a script that exports it may be that of Slurm
  Variables torch = daemon;
  torch.insert({{"RANK", "9"}, {"WORLD_SIZE", "16"}});
  EXPECT_EQ(text(torch), "1/2 SLURM_PROCID");
  torch.insert({"TORCHELASTIC_RUN_ID", "none"});
  EXPECT_EQ(text(torch), "9/16 RANK");
  // a script that exports WORLD_SIZE for training
  Variables half = daemon;
  half.insert({"WORLD_SIZE", "16"});
  EXPECT_EQ(text(half), "1/2 SLURM_PROCID");
}

TEST(Shard, JobArrays) {
  Variables array{{"SLURM_ARRAY_TASK_ID", "3"},
                  {"SLURM_ARRAY_TASK_COUNT", "4"},
                  {"SLURM_ARRAY_TASK_MIN", "1"},
                  {"SLURM_ARRAY_TASK_MAX", "4"}};
  EXPECT_EQ(text(array), "2/4 SLURM_ARRAY_TASK_ID");
  // the batch script itself: task 0, number of tasks unknown
  array["SLURM_JOB_ID"] = "17";
  array["SLURM_PROCID"] = "0";
  EXPECT_EQ(text(array), "2/4 SLURM_ARRAY_TASK_ID");
  array["SLURM_NTASKS"] = "1";
  EXPECT_EQ(text(array), "2/4 SLURM_ARRAY_TASK_ID");
  // srun in each array element: 4 x 3 tasks; index 2 x 3 + 1
  array["SLURM_STEP_ID"] = "0";
  array["SLURM_PROCID"] = "1";
  array["SLURM_NTASKS"] = "3";
  EXPECT_EQ(text(array), "7/12 SLURM_ARRAY_TASK_ID and SLURM_PROCID");
  array["SLURM_NTASKS"] = "";
  EXPECT_EQ(where(array), "SLURM_NTASKS");
  // --array=0-6:2
  EXPECT_EQ(text({{"SLURM_ARRAY_TASK_ID", "4"},
                  {"SLURM_ARRAY_TASK_COUNT", "4"},
                  {"SLURM_ARRAY_TASK_MIN", "0"},
                  {"SLURM_ARRAY_TASK_STEP", "2"}}),
            "2/4 SLURM_ARRAY_TASK_ID");
  // --array=1,5,9 is not a range: the index of 5 is unknown
  EXPECT_EQ(where({{"SLURM_ARRAY_TASK_ID", "5"},
                   {"SLURM_ARRAY_TASK_COUNT", "3"},
                   {"SLURM_ARRAY_TASK_MIN", "1"},
                   {"SLURM_ARRAY_TASK_STEP", "1"}}),
            "SLURM_ARRAY_TASK_ID");
  for (const char* missing :
       {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"}) {
    Variables part = array;
    part.erase(missing);
    EXPECT_EQ(where(part), missing);
  }
}

// As Slurm 22.05 sets them: in a batch script too, PROCID is 0, with the number of tasks that the
// script requested.
TEST(Shard, ABatchScriptIsNoTask) {
  Variables script{{"SLURM_JOB_ID", "17"}, {"SLURM_PROCID", "0"}};
  EXPECT_EQ(text(script), "none");
  script["SLURM_NTASKS"] = "1";
  EXPECT_EQ(text(script), "0/1 SLURM_PROCID");
  script["SLURM_NTASKS"] = "4";
  EXPECT_EQ(where(script), "SLURM_STEP_ID");
  script["SLURM_STEP_ID"] = "0";
  EXPECT_EQ(text(script), "0/4 SLURM_PROCID");
}

TEST(Shard, HalfOfAPairIsNamed) {
  const std::pair<const char*, const char*> pairs[] = {
      {"SLURM_PROCID", "SLURM_NTASKS"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"RANK", "WORLD_SIZE"},
      {"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"}};
  for (const auto& [index, count] : pairs) {
    EXPECT_EQ(where({{index, "0"}}), count);
    EXPECT_EQ(where({{count, "4"}}), index);
    EXPECT_EQ(where({{index, "0"}, {count, ""}}), count); // set, but empty
    EXPECT_EQ(where({{index, "-1"}, {count, "4"}}), index);
    EXPECT_EQ(where({{index, "4"}, {count, "4"}}), index);
    EXPECT_EQ(where({{index, "0"}, {count, "0"}}), count);
    EXPECT_EQ(where({{index, "one"}, {count, "4"}}), index);
    EXPECT_EQ(where({{index, "1"}, {count, "4 "}}), count);
    EXPECT_EQ(where({{index, "1"}, {count, "18446744073709551616"}}), count);
  }
  EXPECT_EQ(where({{"PMIX_RANK", "0"}}), "PMI_SIZE");
  EXPECT_EQ(text({{"SLURM_PROCID", "0"}}),
            "SLURM_NTASKS: not set, but SLURM_PROCID is (use --shard I/N, with I from 0 to N - 1)");
}

TEST(Shard, OfThisProcess) {
  const EnvironmentLookup ours = process_environment();
  EXPECT_TRUE(ours("PATH").has_value());
  EXPECT_FALSE(ours("RANKSCOPE_NO_SUCH_VARIABLE").has_value());
}

} // namespace
} // namespace rankscope
