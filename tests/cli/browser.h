// Simulates a user of a page: Chromium, driven by tests/browser/page_acts.py.
#pragma once

#include "run_binary.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <string>

namespace rankscope::test {

inline bool on_path(const char* program) {
  return run_program("/bin/sh", {"-c", std::string("command -v ") + program}).code == 0;
}

/// Returns which program is missing to open a page; "" if all are installed.
inline std::string browser_lacks() {
  if (!on_path("chromium") || !on_path("chromedriver") || !on_path("python3"))
    return "chromium, chromium-driver or python3 is not installed: the page was not opened";
  return "";
}

/// `kind`: a name in page_acts.py.
inline void act(const char* kind, const std::string& page) {
  const auto acts =
      run_program("/usr/bin/python3", {source_dir() / "tests/browser/page_acts.py", kind, page});
  EXPECT_EQ(acts.code, 0) << acts.out << acts.err;
}

} // namespace rankscope::test
