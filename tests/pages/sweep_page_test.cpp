// Tests the page of sweeps with handmade facts: numbers, words, signs, escaping, missing values.
#include "pages/sweep_page.h"
#include "temp_folder.h"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

RankRecord record(const std::string& label, double total_ms, double compute_ms, double comm_ms) {
  RankRecord r;
  r.key.configuration.label = label;
  const auto set = [&r](TimeKind kind, double ms) {
    r.time_ns[static_cast<std::size_t>(kind)] = static_cast<std::int64_t>(ms * 1e6);
  };
  set(TimeKind::kTotal, total_ms);
  set(TimeKind::kComputation, compute_ms);
  set(TimeKind::kExposedComm, comm_ms);
  set(TimeKind::kIdle, 0);
  return r;
}

SyncSummary collective(double latency_us, double bus_gbps) {
  SyncSummary s;
  s.name = "allreduce";
  s.dtype = "Float";
  s.group = "default_pg";
  s.in_nelems = 1024;
  s.latency_us.mean = latency_us;
  s.bus_gbps.mean = bus_gbps;
  return s;
}

TEST(SweepPage, ComparesInNumbersAndWordsWithPositiveForBetter) {
  const test::TempFolder folder;
  SweepFacts a;
  a.records = {record("256thread_28ch", 100, 80, 15), record("only_a", 50, 40, 8)};
  a.findings.resize(2);
  a.findings[0].headline = "g<int> is fast";
  a.findings[0].evidence = "by 3 <ms>";
  a.findings[1].headline = "f<int> is *slow*";
  a.findings[1].evidence = "it is";
  a.findings[1].action = "less of it";
  a.collectives = {{{"256thread_28ch", {}}, "x", {collective(10, 100)}, {}}};
  SweepFacts b;
  b.records = {record("256thread_28ch", 90, 80, 5)};
  b.collectives = {{{"256thread_28ch", {}}, "x", {collective(12, 80)}, {}}};
  const std::string path = folder.path("c.html");
  const Result<void> written =
      write_sweep_page({{"<b>old", "fa", &a}, {"new&\"<script>alert(1)</script>", "fb", &b}}, path);
  ASSERT_TRUE(written) << written.error().message();
  const std::string html = test::bytes_of(path);
  const auto has = [&html](const char* text) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  };
  // less time is better and positive, less bandwidth is worse and negative
  has("<td>256thread_28ch</td><td>100.000</td><td>90.000</td><td>+10.00 %</td>");
  has("<td>10.000</td><td>12.000</td><td>-20.00 %</td>");
  has("<td>100.000</td><td>80.000</td><td>-20.00 %</td>");
  has("<td>80.000</td><td>80.000</td><td>0.00 %</td>"); // equal: no colour
  has("<td>only_a</td><td>50.000</td><td></td><td></td>");
  has("Differences are against &lt;b&gt;old: positive is better.");
  EXPECT_EQ(html.find("Negative is faster"), std::string::npos);
  has("Mean total_time of &lt;b&gt;old: 50 to 100 ms. 50.000 ms with only_a, 100.000 ms with "
      "256thread_28ch; means over the ranks of 2 configurations, without a test.");
  has("Mean of the runs: 90.000 against 100.000 ms over 1 shared configuration; without three "
      "profiler steps in each there is no interval.");
  has(": 20.00 % larger than &lt;b&gt;old, without a test. Mean over 1 shared "
      "collective; collectives "
      "of "
      "one run are not independent, so there is no interval.");
  has("g&lt;int&gt; is fast.");
  has("<li>by 3 &lt;ms&gt;</li>");
  has("<li>f&lt;int&gt; is *slow*. it is</li>");
  has("What to do next: &lt;b&gt;old");
  has("<li>less of it</li>");
  has("&lt;b&gt;old has no GEMM table.");
  EXPECT_EQ(html.find("has no table of collectives"), std::string::npos);
  EXPECT_EQ(html.find("<b>old"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "no network";
}

/// Returns one configuration of two ranks, with steps of `ms` and noise of 1 ms.
SweepFacts with_steps(unsigned seed, double ms, int steps = 12) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  SweepFacts out;
  for (int r = 0; r < 2; ++r) {
    out.records.push_back(record("256thread_28ch", ms * steps, ms * steps * 0.75, ms * 2));
    out.records.back().key.rank = r;
  }
  for (int s = 0; s < steps; ++s) {
    const double total = ms + noise(random);
    for (RankRecord& r : out.records) {
      StepTimes step;
      step.step = s;
      for (const auto& [kind, share] :
           {std::pair(TimeKind::kTotal, 1.0), std::pair(TimeKind::kComputation, 0.75),
            std::pair(TimeKind::kExposedComm, 0.2), std::pair(TimeKind::kIdle, 0.05)})
        step.ns[static_cast<std::size_t>(kind)] = static_cast<std::int64_t>(total * share * 1e6);
      r.steps.push_back(step);
    }
  }
  return out;
}

TEST(SweepPage, DifferencesOfSweepsAreToldFromNoise) {
  const auto page = [](double a_ms, unsigned a_seed, double b_ms, unsigned b_seed) {
    const test::TempFolder folder;
    const SweepFacts a = with_steps(a_seed, a_ms);
    const SweepFacts b = with_steps(b_seed, b_ms);
    const std::string path = folder.path("c.html");
    EXPECT_TRUE(write_sweep_page({{"A", "fa", &a}, {"B", "fb", &b}}, path));
    return test::bytes_of(path);
  };
  const auto says = [](const std::string& html, const char* text) {
    return html.find(text) != std::string::npos;
  };
  int false_ones = 0;
  int coloured = 0;
  int found = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const std::string null = page(100, seed, 100, seed + 1000);
    false_ones += says(null, " shorter per step than that of A") ||
                          says(null, " longer per step than that of A")
                      ? 1
                      : 0;
    coloured += says(null, "<td class=\"good\">") || says(null, "<td class=\"bad\">") ? 1 : 0;
    EXPECT_TRUE(says(null, "total_time of B and A does not differ significantly") ||
                says(null, "total_time of B is "));
    found += says(page(100, seed, 98, seed + 1000), "total_time of B is ") ? 1 : 0;
  }
  std::printf("of 100 pages of equal sweeps %d say shorter or longer; of 100 with a difference of "
              "twice the noise %d say it\n",
              false_ones, found);
  EXPECT_LE(false_ones, 5);
  EXPECT_GE(found, 80); // the intervals allow for dependent steps
  EXPECT_LE(coloured, 5);
  const std::string html = page(100, 1, 90, 2);
  EXPECT_TRUE(says(html, "<td>1200.000</td><td>1080.000</td><td class=\"good\">+10.00 %</td>"));
  // the means of the ranks differ, but the step times do not differ significantly: grey
  const std::string equal = page(100, 1, 100.01, 1);
  EXPECT_TRUE(says(equal, "<td>1200.120</td><td class=\"alike\">-0.01 %</td>"));
  EXPECT_TRUE(says(html, " ms shorter per step than that of A ("));
  EXPECT_TRUE(says(html, " over 4 comparisons; "));
  EXPECT_TRUE(says(html, " over 1 shared configuration; 12 steps."));
}

// With six steps, a trace takes half as long as with twelve; no step is shorter.
TEST(SweepPage, TracesWithDifferentNumbersOfStepsAreComparedPerStep) {
  const test::TempFolder folder;
  const SweepFacts a = with_steps(1, 100);
  const SweepFacts b = with_steps(2, 100, 6);
  const std::string path = folder.path("c.html");
  ASSERT_TRUE(write_sweep_page({{"A", "fa", &a}, {"B", "fb", &b}}, path));
  const std::string html = test::bytes_of(path);
  EXPECT_NE(html.find("<td>100.000</td><td>100.000</td><td>0.00 %</td>"), std::string::npos);
  EXPECT_NE(html.find("A (ms per step)"), std::string::npos);
  EXPECT_EQ(html.find("50.00 %"), std::string::npos);
  EXPECT_NE(html.find("a range grows with the number of calls"), std::string::npos);
}

TEST(SweepPage, WithoutARankThereIsNoPage) {
  const test::TempFolder folder;
  SweepFacts none;
  const Result<void> written = write_sweep_page({{"a", "folder", &none}}, folder.path("c.html"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kUnreadable);
  EXPECT_FALSE(std::filesystem::exists(folder.path("c.html")));
}

} // namespace
} // namespace rankscope
