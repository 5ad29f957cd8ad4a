// Tests --additional-context: files and texts, how they are merged, wrong types.
#include "collect/profile/context.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TempFolder;

TEST(ProfileContext, FilesThenTextsMergeDeeply) {
  const TempFolder folder;
  const std::string file =
      folder.write("c.json", R"({"gpu_vendor": "AMD", "tools": [{"name": "rocprof"}],
      "docker_env_vars": {"A": "1", "B": "2"}, "docker_gpus": "0-2,5"})");
  const Result<ProfileContext> c =
      read_context({file}, {"{'docker_env_vars': {'B': 3}, 'tools+': [{'name': 'rpd'}]}"});
  ASSERT_TRUE(c) << c.error().message();
  EXPECT_EQ(c->docker_env_vars, (EnvPairs{{"A", "1"}, {"B", "3"}}));
  ASSERT_EQ(c->tools.size(), 2U);
  EXPECT_EQ(c->docker_gpus, "0,1,2,5");
  EXPECT_EQ(c->gpu_vendor, "AMD");
  ASSERT_EQ(c->notes.size(), 1U); // the note: the text is a Python literal
  EXPECT_NE(c->notes[0].find("Python"), std::string::npos);
}

TEST(ProfileContext, TheGuidesFileWithACommentIsTaken) {
  const TempFolder folder;
  const std::string file = folder.write("c.json", R"({"tools": [{"name": "gpu_info_power_profiler",
      "env_vars": {"SAMPLING_RATE": "1.0"  // Less overhead, less detail
      }}]})");
  const Result<ProfileContext> c = read_context({file}, {});
  ASSERT_TRUE(c) << c.error().message();
  EXPECT_EQ(c->notes.size(), 1U);
}

TEST(ProfileContext, WrongTypesAreNamedByPointer) {
  const struct {
    const char *text, *pointer;
  } cases[] = {
      {R"({"tools": {"name": "x"}})", "/tools"},
      {R"({"tools": ["x"]})", "/tools/0"},
      {R"({"pre_scripts": {}})", "/pre_scripts"},
      {R"({"pre_scripts": [{"args": "x"}]})", "/pre_scripts/0"},
      {R"({"docker_env_vars": []})", "/docker_env_vars"},
      {R"({"docker_env_vars": {"A": []}})", "/docker_env_vars/A"},
      {R"({"env_vars": "x"})", "/env_vars"},
      {R"({"docker_gpus": 3})", "/docker_gpus"},
      {R"({"docker_gpus": "3-1"})", "/docker_gpus"},
      {R"({"timeout": "x"})", "/timeout"},
      {R"({"debug": "yes"})", "/debug"},
      {R"({"gpu_vendor": "Intel"})", "/gpu_vendor"},
      {R"({"guest_os": "BSD"})", "/guest_os"},
      {R"([1])", "an object"},
      {R"(7)", "an object"},
  };
  for (const auto& c : cases) {
    const Result<ProfileContext> got = read_context({}, {c.text});
    ASSERT_FALSE(got) << c.text;
    EXPECT_EQ(got.error().code, ErrorCode::kUsage);
    EXPECT_NE(got.error().message().find(c.pointer), std::string::npos) << got.error().message();
  }
}

TEST(ProfileContext, UnknownKeysAreNamedWithTheNearest) {
  const Result<ProfileContext> c = read_context({}, {R"({"tool": [], "k8s": {}})"});
  ASSERT_TRUE(c);
  ASSERT_EQ(c->notes.size(), 2U);
  EXPECT_NE(c->notes[0].find("did you mean \"tools\"?"), std::string::npos) << c->notes[0];
  EXPECT_NE(c->notes[1].find("no effect"), std::string::npos) << c->notes[1];
}

} // namespace
} // namespace rankscope
