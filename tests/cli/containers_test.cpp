// The container files: versions are pinned, and compose takes them where it is installed.
#include "os/process.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <sstream>

namespace rankscope {
namespace {

std::string file(const std::string& name) {
  return (test::source_dir() / "containers" / name).string();
}

TEST(Containers, EveryImageIsPinned) {
  for (const char* name : {"Dockerfile.rocm70", "Dockerfile.rccl-warpspeed"}) {
    const std::string text = test::bytes_of(file(name));
    ASSERT_FALSE(text.empty()) << name;
    EXPECT_NE(text.find("\nARG BASE=rocm/pytorch:rocm7.0_"), std::string::npos) << name;
    EXPECT_EQ(text.find(":latest"), std::string::npos) << name;
    EXPECT_EQ(text.find("|| true\n"), std::string::npos) << name; // a failed step is no image
  }
}

class Compose : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(, Compose,
                         ::testing::Values(std::pair("docker-compose.rocm70.yaml",
                                                     "training-overlap-bugs-rocm70"),
                                           std::pair("docker-compose.rccl-warpspeed.yaml",
                                                     "rccl-warpspeed-rocm70_9-1")));

TEST_P(Compose, TakesTheFile) {
  const auto& [name, container] = GetParam();
  bool there = false;
  for (const std::vector<std::string>& tool : {std::vector<std::string>{"docker", "compose"},
                                               std::vector<std::string>{"docker-compose"}}) {
    ProcessSpec probe;
    probe.argv = tool;
    probe.argv.emplace_back("version");
    probe.deadline = std::chrono::seconds(20);
    const auto version = run_process(std::move(probe));
    if (!version || !version->ok())
      continue;
    there = true;
    ProcessSpec spec;
    spec.argv = tool;
    spec.argv.insert(spec.argv.end(), {"-f", file(name), "config"});
    spec.out = spec.err = Stream::kCapture;
    spec.deadline = std::chrono::seconds(60);
    spec.unset_env = {"WORKSPACE"};
    const auto unset = run_process(ProcessSpec(spec)); // HA-B12: compose's "." is not the caller's
    ASSERT_TRUE(unset) << unset.error().message();
    EXPECT_NE(unset->exit_code, 0);
    EXPECT_NE(unset->err.find("set it to your checkout"), std::string::npos) << unset->err;
    spec.unset_env.clear();
    spec.set_env = {{"WORKSPACE", "/my/checkout"}};
    const auto end = run_process(std::move(spec));
    ASSERT_TRUE(end) << end.error().message();
    EXPECT_EQ(end->exit_code, 0) << end->err;
    EXPECT_NE(end->out.find("/my/checkout"), std::string::npos) << end->out;
    EXPECT_NE(end->out.find(std::string("container_name: ") + container), std::string::npos)
        << end->out;
    EXPECT_NE(end->out.find("BASE: rocm/pytorch:rocm7.0_"), std::string::npos) << end->out;
  }
  if (!there)
    GTEST_SKIP() << "neither docker compose nor docker-compose is installed";
}

} // namespace
} // namespace rankscope
