// rankscope html as a user runs it, and in a real headless browser.
#include "temp_folder.h"
#include "writers/html_report.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>

namespace rankscope {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr const char* kHead = "configuration,ranks,mean total_time (ms),mean computation_time (ms),"
                              "mean exposed_comm_time (ms),mean idle_time (ms)\n";
// one grey pixel
constexpr unsigned char kPixelBytes[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00,
    0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
const std::string kPixel(reinterpret_cast<const char*>(kPixelBytes), sizeof kPixelBytes);

TEST(Html, ComparesSweepsAndOpensInABrowser) {
  const test::TempFolder folder;
  const std::string table = "/tracelens_analysis/summary_csv/configurations.csv";
  folder.write("a" + table,
               std::string(kHead) + "256thread_28ch,2,100,80,15,5\nonly_a,2,50,40,8,2\n");
  folder.write("b" + table, std::string(kHead) + "256thread_28ch,2,90,80,5,0\n");
  folder.write("b/tracelens_analysis/plots/p.png", kPixel);
  const std::string page = folder.path("c.html");
  const std::string base = std::string(RANKSCOPE_BINARY) + " html -q " + folder.path("a") + " " +
                           folder.path("b") + " -o " + page;
  ASSERT_EQ(shell(base + " --label '<b>old' --label 'new&'"), 0);
  const std::string html = bytes_of(page);
  EXPECT_NE(html.find("<td>256thread_28ch</td><td>100.000</td><td>90.000</td>"
                      "<td class=\"good\">-10.00 %</td>"),
            std::string::npos);
  EXPECT_NE(html.find("<td>only_a</td><td>50.000</td><td></td><td></td>"), std::string::npos);
  EXPECT_EQ(html.find("<b>old"), std::string::npos);
  EXPECT_NE(html.find("&lt;b&gt;old: lowest mean total_time with only_a, 50.000 ms"),
            std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "no network";
  EXPECT_EQ(shell(base + " --label x 2>/dev/null"), 2);
  EXPECT_EQ(shell(std::string(RANKSCOPE_BINARY) + " html " + folder.path("a") + " " +
                  folder.path("none") + " -o " + folder.path("x.html") + " 2>/dev/null"),
            3);
  EXPECT_FALSE(std::filesystem::exists(folder.path("x.html")));

  if (shell("command -v chromium >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "chromium is not installed: the page was not opened in a browser";
  // the copy for the browser reports what it sees in its own title
  std::string copy = html;
  copy.insert(
      copy.find("</body>"),
      "<script>onload=()=>{document.title='seen '+document.querySelectorAll('section').length"
      "+' '+document.querySelectorAll('svg').length+' '+[...document.images].filter(i=>"
      "i.naturalWidth>0).length}</script>");
  const std::string file = folder.write("copy.html", copy);
  ASSERT_EQ(shell("timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic "
                  "--no-first-run --disable-background-networking --disable-component-update "
                  "--disable-sync --enable-logging=stderr --user-data-dir=" +
                  folder.path("profile") + " --dump-dom file://" + file + " >" +
                  folder.path("dom") + " 2>" + folder.path("log")),
            0);
  EXPECT_NE(bytes_of(folder.path("dom")).find("<title>seen 6 4 1</title>"), std::string::npos);
  EXPECT_EQ(bytes_of(folder.path("log")).find("CONSOLE"), std::string::npos);
}

TEST(Html, BaseZeroIsNewAndBase64IsRight) {
  HtmlReport r;
  r.series = {"a", "b"};
  r.sections.push_back({"s", "ms", "", {{"x", {0, 3}}, {"y", {0, 0}}}, true});
  for (const char* bytes : {"M", "Ma", "Man"})
    r.images.push_back({"i", bytes});
  const std::string page = html_page(r);
  EXPECT_NE(page.find("<td>3.000</td><td>new</td>"), std::string::npos);
  EXPECT_NE(page.find("<td>0.000</td><td>0.00 %</td>"), std::string::npos);
  for (const char* code : {"base64,TQ==\"", "base64,TWE=\"", "base64,TWFu\""}) // RFC 4648
    EXPECT_NE(page.find(code), std::string::npos) << code;
}

} // namespace
} // namespace rankscope
