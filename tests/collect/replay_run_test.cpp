// Tests replay of recorded operators with fake programs: their output and how they end.
#include "collect/replay/replay_run.h"
#include "model/ops/op_model.h"
#include "temp_folder.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace rankscope {
namespace {

constexpr const char* kTable =
    "echo 'Device ID 0 : AMD Instinct MI300X gfx942:sramecc+:xnack-'\n"
    "echo '[0]:transA,transB,m,n,k,hipblaslt-Gflops,hipblaslt-GB/s,us'\n"
    "echo '    T,N,32,64,16,100.5,20.25,12.5'\n"
    "echo '    --Solution index: 302128'\necho '    --Solution name:  Cijk_us'\n"
    "echo '    --kernel name:    Cijk_us'\n";

class ReplayRun : public testing::Test {
protected:
  std::string program(const std::string& name, const std::string& script) {
    const std::string path = folder_.write(name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void add(const std::string& name, const std::string& dims, const std::string& types,
           const std::string& strides, const std::string& concrete) {
    texts_.push_back({name, dims, types, strides, concrete});
  }
  void add_product() {
    add("aten::mm", "[[64, 16], [16, 32]]", R"(["c10::BFloat16", "c10::BFloat16"])",
        "[[16, 1], [1, 16]]", R"(["", ""])");
  }
  void add_gradient() {
    add("aten::convolution_backward", "[[1, 4, 8, 8], [1, 4, 8, 8], [4, 4, 3, 3]]",
        R"(["float", "float", "float"])", "[[256, 64, 8, 1], [256, 64, 8, 1], [36, 9, 3, 1]]",
        R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", )"
        R"("[True, True, False]"])");
  }
  std::vector<ReplayTime> benches(bool tells = true) {
    std::size_t calls_seen = 0;
    const auto times = replay_benches(calls(), options_, [&](std::size_t done, const ReplayTime&) {
      EXPECT_EQ(done, ++calls_seen);
    });
    EXPECT_EQ(calls_seen, tells ? texts_.size() : 0);
    EXPECT_EQ(times.size(), texts_.size());
    return times;
  }
  std::vector<ReplayTime> torch() {
    return replay_torch(calls(), options_, [](std::size_t, const ReplayTime&) {});
  }
  /// Measures one product with a hipblaslt-bench that runs this script.
  ReplayTime product(const std::string& script) {
    texts_.clear();
    add_product();
    options_.runner = ReplayRunner::kBench;
    options_.hipblaslt_bench = program("hipblaslt-bench", script);
    return benches()[0];
  }
  ReplayTime gradient(const std::string& script) {
    texts_.clear();
    add_gradient();
    options_.runner = ReplayRunner::kBench;
    options_.miopen_driver = program("MIOpenDriver", script);
    return benches()[0];
  }

  test::TempFolder folder_;
  ReplayRunOptions options_;
  struct Texts {
    std::string name, dims, types, strides, concrete;
  };
  std::vector<Texts> texts_;

private:
  std::vector<ReplayCall> calls() {
    requests_.clear();
    for (const Texts& t : texts_)
      requests_.push_back(
          replay_request(t.name, ParsedArgs(t.dims, t.types, t.strides, t.concrete), ""));
    std::vector<ReplayCall> out;
    for (std::size_t i = 0; i < texts_.size(); ++i)
      out.push_back({&requests_[i], texts_[i].name, texts_[i].dims, texts_[i].types,
                     texts_[i].strides, texts_[i].concrete});
    return out;
  }
  std::vector<ReplayRequest> requests_;
};

TEST_F(ReplayRun, TheProgramGetsTheCommandAsItIsWritten) {
  const ReplayTime t = product(
      "for a in \"$@\"; do printf '%s\\n' \"$a\" >> " + folder_.path("argv") +
      "; done\necho \"log=$HIPBLASLT_LOG_MASK\" >> " + folder_.path("argv") + "\n" + kTable);
  EXPECT_EQ(t.status, "ok") << t.detail;
  EXPECT_DOUBLE_EQ(t.us.value(), 12.5);
  EXPECT_EQ(t.runner, "hipblaslt-bench");
  const std::string argv = test::bytes_of(folder_.path("argv"));
  EXPECT_EQ(argv.find("--api_method\nc\n-m\n32\n-n\n64\n-k\n16\n"), 0U) << argv;
  EXPECT_NE(argv.find("--cold_iters\n100\n--iters\n100\n--flush\n"), std::string::npos) << argv;
  EXPECT_NE(argv.find("--print_kernel_info\nlog=\n"), std::string::npos)
      << "nothing behind the command, no log of the library: " << argv;
}

TEST_F(ReplayRun, OutputsOfSeveralReleases) {
  EXPECT_DOUBLE_EQ(product("echo 'transA,transB,m,us,soulution_index'\necho '[0]:'\n"
                           "echo 'N,N,1024,28.5758,56537'\n")
                       .us.value(),
                   28.5758);
  EXPECT_DOUBLE_EQ(
      product("echo '[0]:transA,hipblaslt-Gflops,us'\necho '    T,1e+06,7.25'\n").us.value(), 7.25);
}

TEST_F(ReplayRun, ProgramsThatFail) {
  ReplayTime t = product("echo 'hipBLAS: no device' >&2\nexit 3\n");
  EXPECT_EQ(t.status, "failed");
  EXPECT_EQ(t.detail, "exit code 3: hipBLAS: no device");
  EXPECT_FALSE(t.us.has_value());
  // a time followed by a failure is not a measurement
  t = product(std::string(kTable) + "exit 1\n");
  EXPECT_EQ(t.status, "failed");
  EXPECT_FALSE(t.us.has_value());
  t = product("kill -9 $$\n");
  EXPECT_EQ(t.status, "failed");
  EXPECT_NE(t.detail.find("signal 9"), std::string::npos) << t.detail;
  EXPECT_FALSE(t.us.has_value());
  t = product("head -c 100000 /dev/urandom\n");
  EXPECT_EQ(t.status, "failed");
  EXPECT_EQ(t.detail.find("no time in its output"), 0U) << t.detail;
  for (const char* value : {"nan", "inf", "0", "-3", "1e999", "12.5us", ""}) {
    t = product(std::string("echo 'a,us'\necho 'x,") + value + "'\n");
    EXPECT_EQ(t.status, "failed") << value;
    EXPECT_FALSE(t.us.has_value()) << value;
  }
}

TEST_F(ReplayRun, AProgramThatHangsEndsWithAllThatItBegan) {
  options_.timeout = std::chrono::seconds(3); // longer than a busy machine needs to start it
  // a child in a separate session, which a signal to the process group would not reach
  const ReplayTime t =
      product("setsid sh -c 'echo $$ > " + folder_.path("pid") + "; exec sleep 60' &\nsleep 60\n");
  EXPECT_EQ(t.status, "failed");
  EXPECT_NE(t.detail.find("did not end in time"), std::string::npos) << t.detail;
  std::ifstream in(folder_.path("pid"));
  pid_t pid = 0;
  in >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_EQ(::kill(pid, 0), -1) << "it is still there";
}

TEST_F(ReplayRun, AProgramThatIsNotThereIsAskedForOnce) {
  add_product();
  add_product();
  options_.runner = ReplayRunner::kBench;
  options_.hipblaslt_bench = folder_.path("none");
  const auto times = benches();
  EXPECT_EQ(times[0].status, "missing");
  EXPECT_EQ(times[1].status, "missing");
  EXPECT_EQ(times[1].detail, folder_.path("none") + " does not exist");
}

TEST_F(ReplayRun, AGradientIsTheSumOfItsCalls) {
  const std::string read_direction =
      "while [ $# -gt 0 ]; do [ \"$1\" = -F ] && d=$2; shift; done\n";
  ReplayTime t = gradient(
      read_direction +
      "echo \"GPU Kernel Time Backward Conv. Elapsed: 0.0$d ms (average)\"\n"
      "echo 'stats: name, n, c, ho, wo, x, y, k, flopCnt, bytesRead, bytesWritten, GFLOPs, GB/s, "
      "timeMs'\necho \"stats: bwd-conv3x3u1, 1, 4, 8, 8, 3, 3, 4,  1, 2, 3, 4, 5, 0.0$d\"\n");
  EXPECT_EQ(t.status, "ok") << t.detail;
  EXPECT_NEAR(t.us.value(), 20 + 40, 1e-9) << "-F 2 and -F 4";
  EXPECT_EQ(t.runner, "MIOpenDriver");
  // without a stats row, the line above counts; with the wall-clock time before it
  t = gradient(read_direction +
               "echo 'Wall-clock Time Backward Conv. Elapsed: 9.0 ms'\n"
               "echo \"GPU Kernel Time Backward Conv. Elapsed: 0.0$d ms (average)\"\n"
               "echo 'Wall-clock Time Backward Conv. Elapsed: 9.0 ms'\n"
               "echo 'Backward Convolution Verifies OK on GPU reference'\n");
  EXPECT_NEAR(t.us.value(), 60, 1e-9);
  // the time of one direction is not the time of the backward pass
  t = gradient(read_direction +
               "[ $d = 4 ] && { echo 'MIOpen Error: no solver' >&2; exit 7; }\n"
               "echo 'GPU Kernel Time Backward Conv. Elapsed: 0.5 ms (average)'\n");
  EXPECT_EQ(t.status, "failed");
  EXPECT_EQ(t.detail, "exit code 7: MIOpen Error: no solver");
  EXPECT_FALSE(t.us.has_value());
}

TEST_F(ReplayRun, WhatCannotBeRunSaysWhy) {
  add("aten::mm", "[[64, 16], [16, 32]]", R"(["float", "float"])", "", "");
  add_product();
  add_gradient();
  options_.runner = ReplayRunner::kNone;
  auto times = benches(false);
  EXPECT_EQ(times[0].status, "unsupported");
  EXPECT_NE(times[0].detail.find("strides"), std::string::npos);
  EXPECT_EQ(times[1].status, "skipped");
  EXPECT_EQ(times[1].detail, "not asked for");
  for (const ReplayTime& t : torch())
    EXPECT_EQ(t.status, "");
  options_.runner = ReplayRunner::kNative;
  options_.libraries = folder_.path("no_libraries");
  options_.program = "/bin/false"; // the measuring process does not work
  times = benches();
  EXPECT_EQ(times[0].status, "unsupported");
  EXPECT_EQ(times[1].status, "failed");
  EXPECT_EQ(times[2].detail, "only MIOpenDriver can run convolutions");
}

/// A fake module `torch`: it logs the calls and returns 42 ms for the 1000 calls between two
/// events.
constexpr const char* kTorch = R"py(import os
LOG = open(os.environ["FAKE_TORCH_LOG"], "a")
class Kind:
    def __init__(self, name, floating): self.name, self.is_floating_point = name, floating
float64, float32, float16, bfloat16 = [Kind(n, True) for n in ("f64", "f32", "f16", "bf16")]
int64, int32 = Kind("i64", False), Kind("i32", False)
class Tensor:
    def __init__(self, dims, strides, dtype): self.dims, self.strides, self.dtype = dims, strides, dtype
    def normal_(self): pass
    def __repr__(self): return "%s%s%s" % (self.dtype.name, self.dims, self.strides)
def empty_strided(dims, strides, dtype, device): return Tensor(dims, strides, dtype)
class Argument:
    def __init__(self, name, type, kwarg_only=False):
        self.name, self.type, self.kwarg_only, self.is_out = name, type, kwarg_only, False
class Overload:
    def __init__(self, name, arguments):
        self.name, self._schema, self.calls = name, type("S", (), {"arguments": arguments}), 0
    def __call__(self, *args, **words):
        self.calls += 1
        if self.calls == 1: LOG.write("%s %s %s\n" % (self.name, args, sorted(words.items())))
        if os.environ.get("FAKE_TORCH_FAILS"): raise RuntimeError("out of\nmemory")
class Packet:
    def __init__(self, **overloads): self.__dict__.update(overloads); self.names = list(overloads)
    def overloads(self): return self.names
T, N = "Tensor", "number"
class aten:
    mm = Packet(default=Overload("mm", [Argument("self", T), Argument("mat2", T)]))
    addmm = Packet(dtype=Overload("addmm.dtype", [Argument("self", T), Argument("mat1", T),
                                                  Argument("mat2", T), Argument("out", "int"),
                                                  Argument("beta", "List[int]")]),
                   default=Overload("addmm", [Argument("self", T), Argument("mat1", T),
                                              Argument("mat2", T), Argument("beta", N, True),
                                              Argument("alpha", N, True)]))
    convolution = Packet(default=Overload("convolution", [
        Argument("input", T), Argument("weight", T), Argument("bias", "Optional[Tensor]"),
        Argument("stride", "List[int]"), Argument("transposed", "bool"), Argument("groups", "int")]))
class ops: aten = aten
class no_grad:
    def __enter__(self): pass
    def __exit__(self, *_): pass
class cuda:
    def is_available(): return not os.environ.get("FAKE_TORCH_NO_GPU")
    def get_device_name(_): return "Fake GPU"
    def synchronize(): print("chatter of torch")
    class Event:
        def __init__(self, enable_timing): pass
        def record(self): pass
        def elapsed_time(self, _): return float(os.environ.get("FAKE_TORCH_MS", "42"))
)py";

class ReplayTorch : public ReplayRun {
protected:
  void SetUp() override {
    if (std::system("python3 -c 'import json' >/dev/null 2>&1") != 0) // NOLINT
      GTEST_SKIP() << "python3 is absent";
    folder_.write("modules/torch.py", kTorch);
    ::setenv("PYTHONPATH", folder_.path("modules").c_str(), 1);
    ::setenv("FAKE_TORCH_LOG", folder_.path("log").c_str(), 1);
    options_.runner = ReplayRunner::kTorch;
  }
  void TearDown() override {
    for (const char* name :
         {"PYTHONPATH", "FAKE_TORCH_LOG", "FAKE_TORCH_FAILS", "FAKE_TORCH_NO_GPU", "FAKE_TORCH_MS"})
      ::unsetenv(name);
  }
  std::string log() { return test::bytes_of(folder_.path("log")); }
};

TEST_F(ReplayTorch, CallsTheOverloadThatFits) {
  add_product();
  add("aten::addmm", "[[32], [64, 16], [16, 32], [], []]",
      R"(["float", "float", "float", "Scalar", "Scalar"])", "[[1], [16, 1], [32, 1], [], []]",
      R"(["", "", "", "0.5", "1"])");
  add("aten::convolution", "[[1, 4, 8, 8], [4, 4, 3, 3], [], [], [], []]",
      R"(["c10::Half", "c10::Half", "", "ScalarList", "Scalar", "Scalar"])",
      "[[256, 64, 8, 1], [36, 9, 3, 1], [], [], [], []]",
      R"(["", "", "", "[1, 1]", "False", "2"])");
  const auto times = torch();
  ASSERT_EQ(times.size(), 3U);
  for (const ReplayTime& t : times) {
    EXPECT_EQ(t.status, "ok") << t.detail;
    EXPECT_DOUBLE_EQ(t.us.value_or(0), 42) << "42 ms for 1000 calls";
    EXPECT_EQ(t.runner, "torch");
  }
  EXPECT_EQ(log(), "mm (bf16[64, 16][16, 1], bf16[16, 32][1, 16]) []\n"
                   "addmm (f32[32][1], f32[64, 16][16, 1], f32[16, 32][32, 1]) "
                   "[('alpha', 1), ('beta', 0.5)]\n"
                   "convolution (f16[1, 4, 8, 8][256, 64, 8, 1], f16[4, 4, 3, 3][36, 9, 3, 1], "
                   "None, [1, 1], False, 2) []\n");
}

TEST_F(ReplayTorch, WhatCannotBeRebuiltSaysWhy) {
  add("aten::mm", "[[2, 2], [2, 2]]", R"(["float", "float"])", "", R"(["", ""])");
  add("aten::mm", "[[2, 2], [2, 2]]", R"(["long int", "long int"])", "[[2, 1], [2, 1]]", "");
  add("aten::mm", "[[2, 2]]", R"(["float"])", "[[2, 1]]", "");
  add("aten::none_such", "[[2, 2]]", R"(["float"])", "[[2, 1]]", "");
  add("no_operator; __import__('os')", "[[2, 2]]", R"(["float"])", "[[2, 1]]", "");
  add("aten::mm", "[[[2, 2], [2, 2]]]", R"(["TensorList"])", "", "");
  const auto times = torch();
  const std::vector<std::string> why = {"the trace has no strides of a tensor",
                                        "values of a tensor of type long int are not known",
                                        "no overload accepts the recorded arguments",
                                        "PyTorch knows no such operator",
                                        "not an operator of PyTorch",
                                        "arguments of type TensorList are not rebuilt"};
  ASSERT_EQ(times.size(), why.size());
  for (std::size_t i = 0; i < why.size(); ++i) {
    EXPECT_EQ(times[i].status, "unsupported") << i;
    EXPECT_EQ(times[i].detail.find(why[i]), 0U) << times[i].detail;
    EXPECT_FALSE(times[i].us.has_value());
  }
}

TEST_F(ReplayTorch, FailuresAreNoTimes) {
  add_product();
  ::setenv("FAKE_TORCH_FAILS", "1", 1);
  ReplayTime t = torch()[0];
  EXPECT_EQ(t.status, "failed");
  EXPECT_EQ(t.detail, "out of memory");
  ::unsetenv("FAKE_TORCH_FAILS");
  ::setenv("FAKE_TORCH_MS", "nan", 1);
  t = torch()[0];
  EXPECT_EQ(t.status, "failed");
  EXPECT_FALSE(t.us.has_value());
  ::unsetenv("FAKE_TORCH_MS");
  ::setenv("FAKE_TORCH_NO_GPU", "1", 1);
  add_product();
  auto times = torch();
  EXPECT_EQ(times[0].detail, "PyTorch sees no GPU");
  EXPECT_EQ(times[1].status, "missing");
  ::unsetenv("FAKE_TORCH_NO_GPU");
  folder_.write("modules/torch.py", "raise ImportError('libtorch.so: no such file')\n");
  t = torch()[0];
  EXPECT_EQ(t.status, "missing");
  EXPECT_NE(t.detail.find("libtorch.so"), std::string::npos) << t.detail;
  folder_.write("modules/torch.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n");
  t = torch()[0];
  EXPECT_EQ(t.status, "failed");
  EXPECT_NE(t.detail.find("signal 11"), std::string::npos) << t.detail;
  options_.timeout = std::chrono::milliseconds(700);
  folder_.write("modules/torch.py", "import time\ntime.sleep(60)\n");
  t = torch()[0];
  EXPECT_EQ(t.detail.find("it did not end in time"), 0U) << t.detail;
  options_.python = folder_.path("no_python");
  EXPECT_EQ(torch()[0].status, "missing");
}

TEST_F(ReplayTorch, IsAskedForByAnInterpreter) {
  add_product();
  options_.runner = ReplayRunner::kAuto;
  EXPECT_EQ(torch()[0].status, "") << "nobody said which";
  options_.python = "python3";
  EXPECT_EQ(torch()[0].status, "ok");
}

TEST_F(ReplayRun, AnInterruptLeavesTheRestSkipped) {
  add_product();
  add_product();
  options_.runner = ReplayRunner::kBench;
  options_.hipblaslt_bench = program("hipblaslt-bench", kTable);
  options_.cancel.cancel();
  for (const ReplayTime& t : benches())
    EXPECT_EQ(t.status, "skipped") << t.detail;
}

} // namespace
} // namespace rankscope
