// Tests runs in a container with a fake docker: it records its arguments and runs programs on this
// machine, and its container is a process that reads its input to the end.
#include "profile_fixture.h"

namespace rankscope {
namespace {

using test::RunResult;
using test::Words;

constexpr const char* kDocker = R"(#!/bin/sh
echo "$*" >> "$FAKE_DOCKER/calls"
case $1 in
run)
  shift
  name=
  while [ $# -gt 0 ]; do
    case $1 in
    --rm|-i|--init) shift ;;
    --name) name=$2; shift 2 ;;
    --entrypoint) program=$2; shift 2 ;;
    -w|-v|-e|--device|--gpus|--cap-add|--network|--ipc|--group-add|--security-opt|--shm-size) shift 2 ;;
    *) break ;;
    esac
  done
  shift # the image
  echo "== PyTorch =="
  if [ -n "$name" ]; then
    echo $$ >> "$FAKE_DOCKER/pids"
    touch "$FAKE_DOCKER/up_$name"
  fi
  exec "$program" "$@" ;;
exec)
  shift
  while :; do
    case $1 in
    -w) cd "$2" || exit 1; shift 2 ;;
    -e) export "$2"; shift 2 ;;
    *) break ;;
    esac
  done
  [ -e "$FAKE_DOCKER/up_$1" ] || exit 1
  shift
  exec "$@" ;;
rm) rm -f "$FAKE_DOCKER/up_$3"; kill $(cat "$FAKE_DOCKER/pids") ;;
esac
)";

class ProfileContainer : public test::ProfileFixture {
protected:
  void SetUp() override {
    ProfileFixture::SetUp();
    script("bin/docker", kDocker);
    path_ = std::getenv("PATH");
    ::setenv("PATH", (folder_.path("bin") + ":" + path_).c_str(), 1);
    ::setenv("FAKE_DOCKER", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("FAKE_DOCKER");
    ProfileFixture::TearDown();
  }
  std::string calls() const { return test::bytes_of(folder_.path("calls")); }
  std::string path_;
};

TEST_F(ProfileContainer, CommandAndScriptsRunInOneUnprivilegedContainer) {
  const RunResult r =
      profile({"--docker", "image:1", "--tool", "A", "--tool", "tracer", "-c",
               R"({"docker_env_vars": {"X": "7"}, "docker_mounts": {"/data": "/mnt"}})"},
              {"./app.sh", "5"});
  EXPECT_EQ(r.code, 5) << r.err;
  EXPECT_EQ(order(), (Words{"pre A", "cmd A", "app 7", "end A", "post A"}));
  EXPECT_EQ(test::bytes_of(folder_.path("out/tracer/trace.csv")), "name,us\nfirst,1\nlast,2\n");
  const std::string all = calls();
  EXPECT_NE(all.find("-v " + folder_.path() + ":" + folder_.path()), std::string::npos) << all;
  EXPECT_NE(all.find("-v /mnt:/data"), std::string::npos) << all;
  EXPECT_NE(all.find("--entrypoint cat image:1"), std::string::npos) << all;
  EXPECT_NE(all.find("--ipc host"), std::string::npos) << "HA-B9: " << all;
  EXPECT_EQ(all.find("--privileged"), std::string::npos);
  EXPECT_EQ(all.find("--cap-add"), std::string::npos);
  EXPECT_NE(all.find("rm -f rankscope_"), std::string::npos) << all;
  expect_no_orphan();
  EXPECT_NE(manifest().find("\"image\": \"image:1\""), std::string::npos);
}

TEST_F(ProfileContainer, CapabilitiesAndDevicesAreThoseThatToolsAndContextName) {
  folder_.write("n.json", R"({"tools": {"n": {"vendors": ["nvidia"], "needs": ["SYS_ADMIN"]},
                                        "m": {"vendors": ["amd"], "needs": ["SYS_PTRACE"]}}})");
  RunResult r = profile({"--docker", "i", "--tools-config", "n.json", "--tool", "n", "-c",
                         R"({"docker_gpus": "0-1", "gpu_vendor": "NVIDIA"})"},
                        {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(calls().find("--cap-add SYS_ADMIN"), std::string::npos) << calls();
  EXPECT_NE(calls().find("--gpus \"device=0,1\""), std::string::npos) << calls();
  std::filesystem::remove(folder_.path("calls"));
  r = profile({"--docker", "i", "--tools-config", "n.json", "--tool", "m"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(calls().find("--cap-add SYS_PTRACE"), std::string::npos) << calls();
  EXPECT_NE(calls().find("--device /dev/kfd --device /dev/dri --group-add video --security-opt "
                         "seccomp=unconfined"),
            std::string::npos)
      << calls();
}

TEST_F(ProfileContainer, MoreArgumentsAndPodman) {
  std::filesystem::rename(folder_.path("bin/docker"), folder_.path("bin/podman"));
  const RunResult r = profile({"--docker", "i", "--container-tool", "podman",
                               "--container-arg=--shm-size", "--container-arg=64G", "--tool", "A"},
                              {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(calls().find("--shm-size 64G"), std::string::npos) << calls();
}

// HA-B10: the image prints a banner before every output; the banner must not be parsed as an
// answer.
TEST_F(ProfileContainer, ABannerIsNotAnAnswer) {
  folder_.write("n.json", R"({"tools": {"n": {"cmd": "no-such-tracer"}}})");
  const RunResult r =
      profile({"--docker", "i", "--tools-config", "n.json", "--tool", "n"}, {"no-such-program"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("no-such-tracer is not on PATH in image i"), std::string::npos) << r.err;
  const RunResult good = profile({"--docker", "i", "--tool", "A"}, {"sh", "-c", "true"});
  EXPECT_EQ(good.code, 0) << good.err;
}

TEST_F(ProfileContainer, ToolsAreLookedForInTheImage) {
  folder_.write("n.json", R"({"tools": {"n": {"cmd": "no-such-tracer"}}})");
  const RunResult r = profile({"--docker", "image:1", "--tools-config", "n.json", "--tool", "n"},
                              {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("missing-tool: n: no-such-tracer is not on PATH in image image:1"),
            std::string::npos)
      << r.err;
  EXPECT_TRUE(order().empty());
}

TEST_F(ProfileContainer, TheContainerEndsWithRankscopeHoweverThatComes) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    Result<Process> run =
        begin({"--docker", "i", "--tool", "A"}, {"sh", "-c", "echo $$ >> pids; sleep 100"}, 2);
    ASSERT_TRUE(run);
    EXPECT_GE(pids().size(), 2U); // those of the container and of the command
    ::kill(run->pid(), signal);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    if (signal == SIGTERM) {
      EXPECT_EQ(end->exit_code, 143) << end->err;
      EXPECT_EQ(order().back(), "post A");
    }
    expect_no_orphan();
  }
}

} // namespace
} // namespace rankscope
