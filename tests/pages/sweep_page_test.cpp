// The page of sweeps from facts made by hand: numbers, words, signs, escaping, what is missing.
#include "pages/sweep_page.h"
#include "temp_folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace rankscope {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

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
  a.findings = {"f<int> is *slow*"};
  a.next = {"less of it"};
  a.collectives = {{{"256thread_28ch", {}}, "x", {collective(10, 100)}}};
  SweepFacts b;
  b.records = {record("256thread_28ch", 90, 80, 5)};
  b.collectives = {{{"256thread_28ch", {}}, "x", {collective(12, 80)}}};
  Session session;
  const std::string path = folder.path("c.html");
  const Result<void> written = write_sweep_page(
      session, {{"<b>old", "fa", &a}, {"new&\"<script>alert(1)</script>", "fb", &b}}, path);
  ASSERT_TRUE(written) << written.error().message();
  const std::string html = bytes_of(path);
  const auto has = [&html](const char* text) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  };
  // less time is better and positive, less bandwidth is worse and negative
  has("<td>256thread_28ch</td><td>100.000</td><td>90.000</td><td class=\"good\">+10.00 %</td>");
  has("<td>10.000</td><td>12.000</td><td class=\"bad\">-20.00 %</td>");
  has("<td>100.000</td><td>80.000</td><td class=\"bad\">-20.00 %</td>");
  has("<td>80.000</td><td>80.000</td><td>0.00 %</td>"); // equal: no colour
  has("<td>only_a</td><td>50.000</td><td></td><td></td>");
  has("Differences are against &lt;b&gt;old: positive is better.");
  EXPECT_EQ(html.find("Negative is faster"), std::string::npos);
  has("&lt;b&gt;old: mean total_time from 50.000 ms (only_a) to 100.000 ms (256thread_28ch)");
  has("mean total_time 10.00 % lower than &lt;b&gt;old over 1 shared configurations (90.000 "
      "against 100.000 ms)");
  has("<li>f&lt;int&gt; is *slow*</li>");
  has("What to try next: &lt;b&gt;old");
  has("<li>less of it</li>");
  has("&lt;b&gt;old has no GEMM table.");
  EXPECT_EQ(html.find("has no table of collectives"), std::string::npos);
  EXPECT_EQ(html.find("<b>old"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "no network";
}

TEST(SweepPage, WithoutARankThereIsNoPage) {
  const test::TempFolder folder;
  SweepFacts none;
  Session session;
  const Result<void> written =
      write_sweep_page(session, {{"a", "folder", &none}}, folder.path("c.html"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kUnreadable);
  EXPECT_FALSE(std::filesystem::exists(folder.path("c.html")));
}

} // namespace
} // namespace rankscope
