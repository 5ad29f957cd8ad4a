// Tests PyTorch profiling of an unmodified program, with a fake torch module.
#include "profile_fixture.h"

namespace rankscope {
namespace {

using test::RunResult;
using test::Words;

class ProfileTorch : public test::ProfileFixture {
protected:
  void SetUp() override {
    ProfileFixture::SetUp();
    ProcessSpec probe;
    probe.argv = {"python3", "--version"};
    if (!run_process(std::move(probe)))
      GTEST_SKIP() << "no python3";
    folder_.write("lib/torch/__init__.py", "");
    folder_.write("lib/torch/profiler.py", R"(import json
class profile:
    def __init__(self, **options): self.events = []
    def start(self): self.events.append({"ph": "X", "name": "began", "ts": 1, "dur": 1})
    def stop(self): self.events.append({"ph": "X", "name": "ended", "ts": 3, "dur": 1})
    def export_chrome_trace(self, path):
        with open(path, "w") as file:
            json.dump({"traceEvents": self.events}, file)
)");
    // a module of the user with the same name, which must run as before
    folder_.write("lib/sitecustomize.py", "open('ours', 'w').write('ran')\n");
    ::setenv("PYTHONPATH", folder_.path("lib").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("PYTHONPATH");
    ProfileFixture::TearDown();
  }
  [[nodiscard]] Words traces() const {
    Words out;
    std::error_code ec;
    for (const auto& e : std::filesystem::recursive_directory_iterator(
             folder_.path("out/torch_profiler/traces"), ec))
      if (e.is_regular_file())
        out.push_back(e.path().string());
    return out;
  }
};

TEST_F(ProfileTorch, AProgramThatImportsTorchLeavesATrace) {
  const RunResult r =
      profile({"--tool", "torch_profiler"},
              {"python3", "-c", "import torch\nprint('work')\nraise SystemExit(3)"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_EQ(r.out, "work\n");
  ASSERT_EQ(traces().size(), 1U) << r.err;
  EXPECT_NE(traces()[0].find("/traces/rank0/trace_"), std::string::npos) << traces()[0];
  EXPECT_NE(test::bytes_of(traces()[0]).find("ended"), std::string::npos);
  EXPECT_EQ(test::bytes_of(folder_.path("ours")), "ran");
  EXPECT_NE(manifest().find("\"records\": 2"), std::string::npos) << manifest();
}

// HA-B3: PyTorch allows one profiler; the program's own profiler takes precedence.
TEST_F(ProfileTorch, AProgramThatProfilesItselfGoesOn) {
  folder_.write("lib/torch/profiler.py", R"(running = []
class profile:
    def __init__(self, **options): pass
    def start(self):
        if running: raise RuntimeError("Profiler is already enabled on this thread")
        running.append(self)
    def stop(self): running.remove(self)
    def __enter__(self): self.start(); return self
    def __exit__(self, *e): self.stop()
    def export_chrome_trace(self, path): open(path, "w").write("{}")
)");
  for (const char* use : {"with torch.profiler.profile() as p: print('work')",
                          "p = torch.profiler.profile(); p.start(); print('work'); p.stop()"}) {
    const RunResult r =
        profile({"--tool", "torch_profiler"},
                {"python3", "-c", "import torch, torch.profiler\n" + std::string(use)});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, "work\n");
    EXPECT_TRUE(traces().empty());
    EXPECT_TRUE(has_code("stopped-tool")) << manifest();
    EXPECT_FALSE(has_code("empty-output"));
  }
}

TEST_F(ProfileTorch, StepsOfTheOptimizerAreRecordedOnRequest) {
  folder_.write("lib/torch/optim/__init__.py", "");
  folder_.write("lib/torch/optim/optimizer.py", R"(hooks = []
def register_optimizer_step_post_hook(hook): hooks.append(hook)
class Optimizer:
    def step(self):
        for hook in hooks: hook(self, (), {})
)");
  // the trace has the events of the steps in which the profiler ran
  folder_.write("lib/torch/profiler.py", R"(import json
running = []
class profile:
    def __init__(self, **options): self.events = []
    def start(self): running.append(self)
    def stop(self): running.remove(self)
    def export_chrome_trace(self, path):
        with open(path, "w") as file:
            json.dump({"traceEvents": self.events}, file)
)");
  const std::string program = R"(import torch, torch.profiler
from torch.optim.optimizer import Optimizer
a, b = Optimizer(), Optimizer()
for n in range(6):
    for p in torch.profiler.running: p.events.append({"ph": "X", "name": "step%d" % n, "ts": n, "dur": 1})
    a.step(); b.step()
)";
  RunResult r = profile({"--tool", "torch_profiler", "--steps", "2:3"}, {"python3", "-c", program});
  EXPECT_EQ(r.code, 0) << r.err;
  ASSERT_EQ(traces().size(), 1U) << r.err;
  std::string trace = test::bytes_of(traces()[0]);
  for (const char* inside : {"step2", "step3"})
    EXPECT_NE(trace.find(inside), std::string::npos) << trace;
  for (const char* outside : {"step0", "step1", "step4", "step5"})
    EXPECT_EQ(trace.find(outside), std::string::npos) << trace;
  EXPECT_FALSE(has_code("stopped-tool")) << manifest();
  r = profile({"--tool", "torch_profiler", "--steps", "0"}, {"python3", "-c", program});
  ASSERT_EQ(traces().size(), 1U) << r.err;
  trace = test::bytes_of(traces()[0]);
  EXPECT_NE(trace.find("step0"), std::string::npos) << trace;
  EXPECT_EQ(trace.find("step1"), std::string::npos) << trace;
  r = profile({"--tool", "torch_profiler", "--steps", "9"}, {"python3", "-c", program});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(traces().empty());
  EXPECT_NE(r.err.find("step 9 was not reached: the program made 6 optimizer steps"),
            std::string::npos)
      << r.err;
}

TEST_F(ProfileTorch, AProgramWithoutTorchIsLeftAlone) {
  const RunResult r = profile({"--tool", "torch_profiler"}, {"python3", "-c", "print('work')"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "work\n");
  EXPECT_TRUE(traces().empty());
  EXPECT_TRUE(has_code("empty-output"));
}

TEST_F(ProfileTorch, AProfilerThatFailsDoesNotStopTheProgram) {
  folder_.write("lib/torch/profiler.py", "raise RuntimeError('no profiler')\n");
  const RunResult r =
      profile({"--tool", "torch_profiler"}, {"python3", "-c", "import torch\nprint('work')"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "work\n");
  EXPECT_NE(r.err.find("torch_profiler: does not start: no profiler"), std::string::npos) << r.err;
}

} // namespace
} // namespace rankscope
