// Tests the container files: versions are pinned, and compose accepts the files if it is installed.
#include "os/process.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

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
    // a failed step must fail the build
    EXPECT_EQ(text.find("|| true\n"), std::string::npos) << name;
  }
}

/// Returns the commands of the RUN instructions, with continuation lines joined.
std::vector<std::string> run_steps(const std::string& name) {
  std::istringstream in(test::bytes_of(file(name)));
  std::vector<std::string> out;
  bool goes_on = false;
  for (std::string line; std::getline(in, line);) {
    if (!goes_on && line.rfind("RUN ", 0) != 0)
      continue;
    if (!goes_on)
      out.emplace_back();
    out.back() += goes_on ? line : line.substr(4);
    goes_on = !line.empty() && line.back() == '\\';
    if (goes_on)
      out.back().pop_back();
  }
  return out;
}

/// Runs a step like SHELL of the Dockerfiles.
Result<ProcessEnd> run_step(const std::string& step, bool only_parse = false) {
  ProcessSpec spec;
  spec.argv = {"bash", only_parse ? "-neuo" : "-euo", "pipefail", "-c", step};
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = std::chrono::seconds(60);
  return run_process(std::move(spec));
}

void replace_in(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

TEST(Containers, EachStepIsAScript) {
  for (const char* name : {"Dockerfile.rocm70", "Dockerfile.rccl-warpspeed"}) {
    const std::vector<std::string> steps = run_steps(name);
    EXPECT_GT(steps.size(), 3U) << name;
    for (const std::string& step : steps) {
      const auto parsed = run_step(step, true);
      ASSERT_TRUE(parsed) << parsed.error().message();
      EXPECT_EQ(parsed->exit_code, 0) << name << ": " << step << parsed->err;
    }
  }
}

// Both images contain rankscope and the benchmark programs of the libraries.
TEST(Containers, RankscopeAndBenchProgramsAreInstalled) {
  for (const char* name : {"Dockerfile.rocm70", "Dockerfile.rccl-warpspeed"}) {
    std::string install;
    std::string all;
    for (const std::string& step : run_steps(name)) {
      all += step;
      if (step.find("/tmp/rankscope") != std::string::npos)
        install = step;
    }
    for (const char* part : {"rccl-tests", "build/*_perf /usr/local/bin/", "$CLIENT_PACKAGES"})
      EXPECT_NE(all.find(part), std::string::npos) << name << ": " << part;
    const std::string text = test::bytes_of(file(name));
    EXPECT_NE(text.find("CLIENT_PACKAGES=\"rocblas-clients hipblaslt-clients\""), std::string::npos)
        << name;
    EXPECT_NE(text.find("COPY " + std::string(name) + " rankscope*.tar.gz /tmp/rankscope/"),
              std::string::npos)
        << name;
    // runs the step in a folder, without and with a tarball
    const test::TempFolder root;
    for (const char* folder : {"tmp/rankscope", "opt", "bin", "made/rankscope-1/bin"})
      std::filesystem::create_directories(root.path(folder));
    replace_in(install, "/tmp/rankscope", root.path("tmp/rankscope"));
    replace_in(install, "/opt/rankscope", root.path("opt/rankscope"));
    replace_in(install, "/usr/local/bin", root.path("bin"));
    const auto without = run_step(install);
    ASSERT_TRUE(without) << without.error().message();
    EXPECT_EQ(without->exit_code, 0) << without->err;
    EXPECT_NE(without->out.find("rankscope is not in this image"), std::string::npos);
    std::filesystem::create_directories(root.path("tmp/rankscope"));
    const std::string program =
        root.write("made/rankscope-1/bin/rankscope", "#!/bin/sh\necho rankscope 1\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto packed = run_step("tar -C " + root.path("made") + " -czf " +
                                 root.path("tmp/rankscope/rankscope-1.tar.gz") + " rankscope-1");
    ASSERT_TRUE(packed && packed->ok());
    const auto with = run_step("PATH=" + root.path("bin") + ":$PATH; " + install);
    ASSERT_TRUE(with) << with.error().message();
    EXPECT_EQ(with->exit_code, 0) << with->err;
    EXPECT_NE(with->out.find("rankscope 1\n"), std::string::npos) << with->out;
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
    // HA-B12: "." in compose is not the caller's folder
    const auto unset = run_process(ProcessSpec(spec));
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
