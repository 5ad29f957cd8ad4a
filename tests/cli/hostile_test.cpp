// Tests malicious names on the command line.
#include "run_binary.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

// A terminal executes escape sequences, so names of inputs are never printed unchanged.
TEST(Hostile, APathCannotMoveTheCursor) {
  const test::TempFolder folder;
  const std::string name = "\x1b[2J\x1b]0;title\x07\r.json";
  const std::string missing = folder.path("missing" + name);
  const std::string garbage = folder.write("garbage" + name, "no trace");
  const std::string good = folder.write(
      "good" + name,
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7}},
      {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":-2}]})");
  for (const std::string& path : {missing, garbage, good})
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"info", path},
          {"report", path, "-o", folder.path("out.json")},
          {"report", path, "-o", folder.path("out\x1b[2J.json")},
          {"merge", path, "-o", folder.path("m\x1b[2J.json")},
          {"report", path, "-o", folder.path("out\x1b[2J.unknown")},
          {"merge", path, "-o", folder.path("m.json")},
          {"collectives", path},
          {"analyze", path},
          {"compare", "--baseline", path, "--test", path, "--output", folder.path("c")},
          {"html", path},
          {"nsys", path},
          {path},
          {"info", "--" + name}}) {
      const test::RunResult r = test::run_binary(args);
      EXPECT_LT(r.code, 70) << args[0] << ": " << r.err;
      for (const std::string* text : {&r.out, &r.err})
        EXPECT_EQ(text->find_first_of("\x1b\x07\r"), std::string::npos) << args[0] << ": " << *text;
    }
}

} // namespace
} // namespace rankscope
