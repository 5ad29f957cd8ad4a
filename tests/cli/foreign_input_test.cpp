// HA-D9, HA-D10. Tests files that look like input but that a command cannot use: traces without GPU
// work, and known formats that are not read as traces.
#include "cli/run_binary.h"
#include "os/gzip.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

using Arguments = std::vector<std::string>;

/// Returns a trace of a process with this name, with an operator, a runtime call, and one more
/// event.
std::string json_trace(const std::string& process, const std::string& more) {
  return R"({"traceEvents":[{"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":")" +
         process +
         R"("}},{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5},)" +
         R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,)" +
         R"("dur":1,"args":{"correlation":1}})" + more + "]}";
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

TEST(ForeignInput, EveryCommandWarnsOnceOfATraceWithoutGpuWork) {
  const test::TempFolder t;
  const std::string run = t.path("run");
  const std::string trace = t.write("run/rank0.json", json_trace("python", ""));
  const std::string warning = "contains no GPU work (kernels, copies, fills)";
  for (const Arguments& args :
       {Arguments{"info", trace}, Arguments{"query", "SELECT count(*) FROM kernels", trace},
        Arguments{"export", run, "--parquet", t.path("dataset")},
        Arguments{"merge", run, "-o", t.path("merged.json")},
        Arguments{"partial", run, "-o", t.path("parts")}, Arguments{"watch", run, "--once"}}) {
    const auto r = test::run_binary(args);
    if (test::lacks_web_parts(r))
      continue;
    EXPECT_EQ(r.code, 0) << args[0] << r.err;
    EXPECT_EQ(count_of(r.err, warning), 1U) << args[0] << r.err;
  }
  for (const Arguments& args :
       {Arguments{"top", trace}, Arguments{"top", run}, Arguments{"report", trace},
        Arguments{"page", run, "-o", t.path("p.html")}, Arguments{"collectives", run},
        Arguments{"analyze", run, "--no-plots", "-o", t.path("a")},
        Arguments{"gemm", "variance", run, "-o", t.path("g")}, Arguments{"why", run},
        Arguments{"reduce", t.path("parts"), "-o", t.path("r.xlsx")},
        Arguments{"compare", "--baseline", run, "--test", run, "-o", t.path("c")}}) {
    const auto r = test::run_binary(args);
    EXPECT_EQ(r.code, 3) << args[0] << r.out << r.err;
    EXPECT_NE(r.err.find("no GPU work"), std::string::npos) << args[0] << r.err;
    EXPECT_EQ(r.out.find("0.000"), std::string::npos) << args[0] << r.out;
  }
}

/// A trace with a step of one kernel of 4 us, or the same trace without the kernel.
std::string step_trace(bool gpu) {
  return json_trace("python", std::string(R"(,{"ph":"X","cat":"user_annotation","name":)") +
                                  R"("ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":20})" +
                                  (gpu ? R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,)"
                                         R"("ts":9,"dur":4,"args":{"correlation":1,"stream":7,)"
                                         R"("device":0}})"
                                       : ""));
}

TEST(ForeignInput, ARankWithoutGpuWorkIsLeftOut) {
  const test::TempFolder t;
  for (const char* const name : {"run/rank0.json", "run/rank2.json", "two/rank0.json"})
    t.write(name, step_trace(true));
  t.write("two/rank2.json", step_trace(true));
  t.write("run/rank1.json", step_trace(false));
  const std::string run = t.path("run");
  const auto top = test::run_binary({"top", run});
  EXPECT_EQ(top.code, 4) << top.err;
  EXPECT_NE(top.out.find("mean over 2 ranks"), std::string::npos) << top.out;
  EXPECT_EQ(count_of(top.err, "no GPU work"), 1U) << top.err;
  const auto compared =
      test::run_binary({"compare", "--baseline", t.path("two"), "--test", run, "-o", t.path("c")});
  EXPECT_EQ(compared.code, 4) << compared.out << compared.err;
  EXPECT_EQ(compared.out.find("% better"), std::string::npos) << compared.out;
  EXPECT_EQ(count_of(compared.err, "no GPU work"), 1U) << compared.err;
  for (const Arguments& args :
       {Arguments{"analyze", run, "--no-plots", "-o", t.path("a")}, Arguments{"why", run}}) {
    const auto r = test::run_binary(args);
    EXPECT_EQ(r.code, 4) << args[0] << r.err;
    EXPECT_EQ(count_of(r.err, "no GPU work"), 1U) << args[0] << r.out << r.err;
  }
  const auto rows = test::run_binary({"query", "SELECT count(*) FROM ranks", run});
  EXPECT_EQ(rows.code, 0) << rows.err;
  EXPECT_NE(rows.out.find('3'), std::string::npos) << rows.out; // records keep the rank
  const auto findings = test::run_binary({"query", "SELECT count(*) FROM findings", run});
  EXPECT_EQ(findings.code, 4) << findings.err;
}

TEST(ForeignInput, ATraceThatEndsBeforeItsGpuWorkIsNamedAsTruncated) {
  const test::TempFolder t;
  const std::string text = step_trace(true);
  const std::string cut = text.substr(0, text.find(R"(,{"ph":"X","cat":"kernel")") + 20);
  const std::string trace = t.write("run/rank0.json", cut);
  t.write("run/rank1.json", text);
  const std::string truncated = "the file is truncated or damaged before its first GPU event";
  for (const char* const command : {"top", "report"}) {
    const auto r = test::run_binary({command, trace});
    EXPECT_EQ(r.code, 3) << r.out << r.err;
    EXPECT_NE(r.err.find(truncated), std::string::npos) << r.err;
    EXPECT_EQ(r.err.find("ProfilerActivity"), std::string::npos) << r.err;
  }
  const auto r = test::run_binary({"top", t.path("run")});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_EQ(count_of(r.err, truncated), 1U) << r.err;
}

TEST(ForeignInput, ATraceOfAnUnreadProducerIsRefusedByName) {
  struct Producer {
    const char *process, *event, *name;
  };
  const std::string plain = R"(,{"ph":"X","name":"fusion.1","pid":7,"tid":3,"ts":2,"dur":1})";
  for (const auto& [process, event, name] :
       {Producer{"/device:GPU:0", plain.c_str(), "JAX"},
        Producer{"Ascend Hardware", plain.c_str(), "Ascend"},
        Producer{"mtia_0", plain.c_str(), "MTIA"}, Producer{"HPU", plain.c_str(), "Gaudi"},
        Producer{"python",
                 R"(,{"ph":"X","cat":"mtia_runtime","name":"a","pid":7,"tid":3,"ts":2,"dur":1})",
                 "MTIA"}}) {
    const test::TempFolder t;
    const std::string trace = t.write("run/rank0.json", json_trace(process, event));
    for (const Arguments& args :
         {Arguments{"info", trace}, Arguments{"top", trace}, Arguments{"report", trace},
          Arguments{"query", "SELECT count(*) FROM kernels", trace},
          Arguments{"collectives", t.path("run")},
          Arguments{"export", t.path("run"), "--parquet", t.path("dataset")},
          Arguments{"analyze", t.path("run"), "--no-plots", "-o", t.path("a")}}) {
      const auto r = test::run_binary(args);
      if (test::lacks_web_parts(r))
        continue;
      EXPECT_EQ(r.code, 3) << args[0] << r.out << r.err;
      EXPECT_NE(r.err.find(name), std::string::npos) << args[0] << r.err;
    }
  }
}

TEST(ForeignInput, AKnownFormatIsRefusedWithTheCommandThatReadsIt) {
  struct Sample {
    const char* file;
    std::string bytes;
    const char *name, *hint;
  };
  const std::string inspector =
      R"({"header":{"id":"0x1","comm_name":"pg","rank":0,"n_ranks":4},"metadata":)"
      R"({"inspector_output_format_version":"v4.0","dump_timestamp_us":1},"coll_perf":{}})";
  // a tar archive: the name of its first file, and the magic bytes of the format
  std::string tar = "rank0.json";
  tar.resize(257);
  tar += "ustar  ";
  tar.resize(1024);
  const std::vector<Sample> samples = {
      {"n01-pid1.log", inspector, "Inspector", "rankscope watch"},
      {"run.sqlite", std::string("SQLite format 3\0", 16) + "CREATE TABLE CUPTI_ACTIVITY_KIND_X",
       "Nsight Systems", "rankscope nsys"},
      {"run.nsys-rep", "\x01\x02", "Nsight Systems", "rankscope nsys"},
      {"log.5000.node01.json",
       "{\n  version : 1,\n  GetUniqueId : [uniqueID : 17, context : [time : 1.0]],\n",
       "RCCL recorder", "NCCL_DEBUG"},
      {"rank_0.json", R"({"version": "2.10", "pg_config": {"0": {}}, "entries": []})",
       "Flight Recorder", "torchfrtrace"},
      {"nccl_trace_rank_0", std::string("\x80\x02}q\0(X\t\0\0\0", 11) + "pg_config",
       "Flight Recorder", "torchfrtrace"},
      {"snapshot.pickle", "\x80\x04\x95 segments device_traces", "memory snapshot", "memory_viz"},
      {"et.json", R"({"schema": "1.0.2-chakra.0.0.4", "pid": 1, "nodes": []})", "execution trace",
       "trace of the PyTorch profiler"},
      {"host.xplane.pb", "\x0a\x10", "XPlane", "rocprofv3"},
      {"traces.tar", tar, "tar archive", "tar -xf"},
      {"traces.tar.gz", gzip_of(tar), "tar archive", "tar -xf"},
      {"traces.zip", "PK\3\4", "zip archive", "unzip"},
  };
  for (const Sample& sample : samples) {
    const test::TempFolder t;
    const std::string file = t.write(std::string("run/") + sample.file, sample.bytes);
    for (const Arguments& args :
         {Arguments{"info", file}, Arguments{"top", file}, Arguments{"report", file},
          Arguments{"collectives", file}, Arguments{"collectives", t.path("run")},
          Arguments{"query", "SELECT count(*) FROM kernels", file},
          Arguments{"analyze", t.path("run"), "--no-plots"},
          Arguments{"page", t.path("run"), "-o", t.path("p.html")},
          Arguments{"library-trace", file, "-o", t.path("lt.csv")}}) {
      const auto r = test::run_binary(args);
      if (test::lacks_web_parts(r))
        continue;
      EXPECT_EQ(r.code, 3) << sample.file << " " << args[0] << r.out << r.err;
      EXPECT_NE(r.err.find(sample.name), std::string::npos) << args[0] << " " << r.err;
      EXPECT_NE(r.err.find(sample.hint), std::string::npos) << args[0] << " " << r.err;
    }
  }
}

TEST(ForeignInput, ATraceIsNoLibraryLogAndNoDatabaseIsOfUnknownFormat) {
  const test::TempFolder t;
  const std::string trace = t.write("t.json", R"({"traceEvents": []})");
  const auto log = test::run_binary({"library-trace", trace, "-o", t.path("lt.csv")});
  EXPECT_EQ(log.code, 3);
  EXPECT_NE(log.err.find("a trace, not the log of a library"), std::string::npos) << log.err;
  const std::string database =
      t.write("x.db", std::string("SQLite format 3\0", 16) + std::string(84, '\0'));
  const auto info = test::run_binary({"info", database});
  EXPECT_EQ(info.code, 3);
  EXPECT_NE(info.err.find("an SQLite database without readable tables"), std::string::npos)
      << info.err;
}

} // namespace
} // namespace rankscope
