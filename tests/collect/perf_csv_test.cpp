// Tests perf.csv: performance values from logs and tables, and the documented columns.
#include "cli/file_size_limit.h"
#include "collect/profile/perf_csv.h"
#include "temp_folder.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rankscope {
namespace {

// the beginning of the documented tables
const std::string kHeader =
    "model,n_gpus,nnodes,gpus_per_node,training_precision,pipeline,args,tags,docker_file,"
    "base_docker,docker_sha,docker_image,git_commit,machine_name,deployment_type,launcher,"
    "gpu_architecture,performance,metric,relative_change,status,build_duration,test_duration,"
    "dataname,data_provider_type,data_size,data_download_duration,build_number,"
    "additional_docker_run_options";

std::string text_of(const std::optional<PerfMetric>& f) {
  return f ? f->performance + " of " + f->metric : "none";
}

TEST(PerfCsv, LinesOfPerformance) {
  const auto parsed = [](const char* line) { return text_of(performance_of_line(line)); };
  EXPECT_EQ(parsed("performance: 14164.25 samples_per_second"), "14164.25 of samples_per_second");
  EXPECT_EQ(parsed("performance: 14164 samples/s, throughput"), "14164 of throughput");
  EXPECT_EQ(parsed("performance: 14164/s, throughput"), "14164 of throughput");
  EXPECT_EQ(parsed("performance: 14164/s throughput\r"), "14164 of throughput");
  EXPECT_EQ(parsed("performance: 14164, throughput"), "14164 of throughput");
  EXPECT_EQ(parsed("I0: performance:   1.5e3 tokens per second"), "1.5e3 of tokens per second");
  EXPECT_EQ(parsed("performance: -2 x"), "-2 of x");
  // HA-B27: numbers with thousands separators
  EXPECT_EQ(parsed("performance: 1,234.5 img"), "1234.5 of img");
  EXPECT_EQ(parsed("performance: 1,234,567 img/s, throughput"), "1234567 of throughput");
  EXPECT_EQ(parsed("performance: 12,throughput"), "12 of throughput");
  EXPECT_EQ(parsed("performance: 1234,567 x"), "1234 of 567 x");
  for (const char* line : {"performance: good", "performance: 12", "performance:", "perf: 1 x",
                           "performance: 12abc x", "performance: nan x", "performance: 3 ,"})
    EXPECT_EQ(parsed(line), "none") << line;
}

TEST(PerfCsv, LinesOfATrainer) {
  const auto parsed = [](const char* line) { return text_of(trainer_metric_of_line(line)); };
  EXPECT_EQ(parsed("  train_samples_per_second =     93.2"), "93.2 of train_samples_per_second");
  EXPECT_EQ(parsed("{'train_runtime': 3.1, 'train_samples_per_second': 93.2, 'x': 1}"),
            "93.2 of train_samples_per_second");
  EXPECT_EQ(parsed("\"train_samples_per_second\": 5"), "5 of train_samples_per_second");
  EXPECT_EQ(parsed("train_samples_per_second"), "none");
}

TEST(PerfCsv, TheFirstLineOfALogCountsAndATrainerOnlyWithoutOne) {
  const test::TempFolder t;
  const std::string trainer = "[    0.100000] err train_samples_per_second = 7\n";
  EXPECT_EQ(text_of(metric_of_run_log(t.write("a.log", trainer))), "7 of train_samples_per_second");
  EXPECT_EQ(
      text_of(metric_of_run_log(t.write("a.log", trainer + "[    0.2] out performance: 3 s, a\n"
                                                           "[    0.3] out performance: 4 s, b\n"))),
      "3 of a");
  EXPECT_FALSE(metric_of_run_log(t.path("none")));
}

TEST(PerfCsv, SeveralResultsOfAModel) {
  const test::TempFolder t;
  const auto rows = read_results_csv(t.write(
      "r.csv", "temp,model,performance,metric\r\n1,\"a, b\",2.5,tflops\r\n\n1,c,,tflops\n"));
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].part, "a, b");
  EXPECT_EQ((*rows)[0].performance, "2.5");
  EXPECT_EQ((*rows)[1].performance, "");
  for (const char* text : {"", "model,performance\na,1\n", "model,performance,metric\n"})
    EXPECT_FALSE(read_results_csv(t.write("r.csv", text))) << text;
}

TEST(PerfCsv, RowsByTheExitStatusAndWithTheFlag) {
  EXPECT_EQ(perf_csv_header(), kHeader);
  RunIdentity identity;
  RunRequest request;
  request.plan.command = {"/x/app", "--n", "a b"};
  RunResult result;
  result.launched = true;
  result.seconds = 1.5;
  Model model;
  model.n_gpus = 8;
  model.precision = "bf16";
  model.tags = {"t1", "t2"};
  model.arguments = {"-q"};
  const auto row = [&](const Model* model_of_row, const std::vector<PerfMetric>& metrics) {
    return perf_csv_rows(identity, request, result, model_of_row, metrics,
                         {{"JENKINS_BUILD_NUMBER", "12"}, {"SLURM_NNODES", "1"}});
  };
  const std::string host = [] {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
  }();
  EXPECT_EQ(row(nullptr, {{"", "3", "s"}}),
            "app,,1,,,,--n 'a b',,,,,,," + host + ",local,,,3,s,,SUCCESS,,1.500,,,,,12,\n");
  request.plan.tools.emplace_back();
  result.exit_status = 1;
  identity.model = "m";
  identity.image = "img";
  EXPECT_EQ(row(&model, {{"a", "1", "x"}, {"b", "2", "x"}}),
            "m_a,8,1,8,bf16,,-q,\"t1,t2,profiled=true\",,,,img,," + host +
                ",docker,,,1,x,,FAILURE,,1.500,,,,,12,\n"
                "m_b,8,1,8,bf16,,-q,\"t1,t2,profiled=true\",,,,img,," +
                host + ",docker,,,2,x,,FAILURE,,1.500,,,,,12,\n");
  EXPECT_EQ(row(nullptr, {}), "m,,1,,,,--n 'a b',profiled=true,,,,img,," + host +
                                  ",docker,,,,,,FAILURE,,1.500,,,,,12,\n");
  // as in the manifest, secrets are masked
  model.arguments = request.plan.command = {"app", "--api-key=hunter2", "--token", "hunter3"};
  for (const std::string& text : {row(nullptr, {}), row(&model, {})}) {
    EXPECT_NE(text.find("'--api-key=***' --token '***'"), std::string::npos) << text;
    EXPECT_EQ(text.find("hunter"), std::string::npos) << text;
  }
}

TEST(PerfCsv, RowsAreAppendedBelowOneHeader) {
  const test::TempFolder t;
  const std::string file = t.path("perf.csv");
  ASSERT_TRUE(check_perf_csv(file));
  ASSERT_TRUE(append_perf_csv(file, "a\n"));
  ASSERT_TRUE(check_perf_csv(file));
  ASSERT_TRUE(append_perf_csv(file, "b\n"));
  EXPECT_EQ(test::bytes_of(file), kHeader + "\na\nb\n");
  // a file of an older program, with its line ends, and a last line without a line end
  t.write("perf.csv", kHeader + "\r\nold");
  ASSERT_TRUE(check_perf_csv(file));
  ASSERT_TRUE(append_perf_csv(file, "c\n"));
  EXPECT_EQ(test::bytes_of(file), kHeader + "\r\nold\nc\n");
  EXPECT_FALSE(check_perf_csv(t.write("other.csv", "model,performance\n")));
  EXPECT_FALSE(check_perf_csv(t.path("no/folder.csv")));
}

// As HA-B21: if the disk is full, the file contains only complete rows.
TEST(PerfCsv, ARowThatDoesNotFitIsTakenBack) {
  const test::TempFolder t;
  const std::string path = t.path("perf.csv");
  ASSERT_TRUE(append_perf_csv(path, "a,1\n"));
  const std::string before = test::bytes_of(path);
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  {
    const test::FileSizeLimit limit(before.size() + 3);
    const auto full = append_perf_csv(path, "b,2,3,4\n");
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().hint.find("is the disk full?"), std::string::npos);
  }
  ::signal(SIGXFSZ, old);
  EXPECT_EQ(test::bytes_of(path), before);
  ASSERT_TRUE(append_perf_csv(path, "b,2\n"));
  EXPECT_EQ(test::bytes_of(path), before + "b,2\n");
}

} // namespace
} // namespace rankscope
