// Tests tags of models.json: names, lists, scopes, arguments, nested lists.
#include "collect/profile/models.h"
#include "os/process.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TempFolder;
using Words = std::vector<std::string>;

class ProfileModels : public ::testing::Test {
protected:
  void SetUp() override {
    folder_.write("models.json", R"([
      {"name": "dummy", "dockerfile": "docker/dummy", "scripts": "scripts/dummy/run.sh",
       "n_gpus": "1", "owner": "x", "training_precision": "", "tags": ["dummies", "small"],
       "args": "--a 'x y'", "timeout": 30},
      {"name": "bert", "dockerfile": "docker/bert", "scripts": "scripts/bert", "n_gpus": "-1",
       "tags": "language, small", "args": "", "env_vars": {"Q": 1}}])");
    folder_.write("scripts/dummy/run.sh", "");
    folder_.write("scripts/bert/run.sh", "");
    folder_.write("scripts/vision/models.json", R"([{"name": "alexnet", "dockerfile": "d",
      "scripts": "alex.sh", "n_gpus": "8", "tags": ["small"], "args": ""}])");
  }
  Result<std::vector<Model>> find(const Words& tags, bool python = false) {
    return find_models({folder_.path("models.json"), tags, python}, notes_);
  }
  Words names(const Words& tags) {
    const auto found = find(tags);
    EXPECT_TRUE(found) << found.error().message();
    Words out;
    if (found)
      for (const Model& m : *found)
        out.push_back(m.name);
    return out;
  }
  TempFolder folder_;
  Words notes_;
};

TEST_F(ProfileModels, TagsMeanNamesTagsAllAndScopes) {
  EXPECT_EQ(names({"dummy"}), (Words{"dummy"}));
  EXPECT_EQ(names({"small"}), (Words{"dummy", "bert", "vision/alexnet"}));
  EXPECT_EQ(names({"language,dummy"}), (Words{"bert", "dummy"}));
  EXPECT_EQ(names({"dummy", "small"}), (Words{"dummy", "dummy", "bert", "vision/alexnet"}));
  EXPECT_EQ(names({"all"}), (Words{"dummy", "bert", "vision/alexnet"}));
  EXPECT_EQ(names({"vision/small"}), (Words{"vision/alexnet"}));
  EXPECT_EQ(names({"vision/alexnet"}), (Words{"vision/alexnet"}));
  EXPECT_EQ(names({"vision/all"}), (Words{"vision/alexnet"}));
}

TEST_F(ProfileModels, AModelHasItsScriptArgumentsAndLimits) {
  const auto found = find({"dummy:batch=4:fast,bert,alexnet,vision/alexnet"});
  EXPECT_FALSE(found); // the name of alexnet is vision/alexnet
  const auto two = find({"dummy:batch=4:fast,bert,vision/alexnet"});
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_EQ((*two)[0].arguments, (Words{"--a", "x y", "--batch", "4", "--fast"}));
  EXPECT_EQ((*two)[0].script, folder_.path("scripts/dummy/run.sh"));
  EXPECT_EQ((*two)[0].timeout_s, 30.0);
  EXPECT_EQ((*two)[0].n_gpus, 1);
  // the script of a folder is run.sh
  EXPECT_EQ((*two)[1].script, folder_.path("scripts/bert/run.sh"));
  EXPECT_EQ((*two)[1].env_vars, (EnvPairs{{"Q", "1"}}));
  EXPECT_EQ((*two)[2].script, folder_.path("scripts/vision/alex.sh"));
}

TEST_F(ProfileModels, WhatMeansNothingIsNamedWithTheNearest) {
  const auto found = find({"dumy"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUsage);
  EXPECT_NE(found.error().what.find("did you mean dummy?"), std::string::npos);
  EXPECT_FALSE(find_models({folder_.path("none.json"), {"all"}, false}, notes_));
}

TEST_F(ProfileModels, PythonListsAreRunOnlyWhenAllowed) {
  folder_.write("scripts/made/get_models_json.py",
                "def list_models():\n    return [{'name': 'gen', 'scripts': 'g.sh', "
                "'n_gpus': '1', 'tags': ['g'], 'args': ''}]\n");
  EXPECT_FALSE(find({"g"}));
  ProcessSpec probe;
  probe.argv = {"python3", "--version"};
  if (!run_process(std::move(probe)))
    GTEST_SKIP() << "no python3";
  const auto found = find({"g"}, true);
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].name, "made/gen");
  folder_.write("scripts/made/models.json", "[]");
  EXPECT_FALSE(find({"all"}, true)); // both files exist
}

TEST_F(ProfileModels, WrongShapesAreNamed) {
  for (const char* text : {"{}", "[3]", "[{}]", R"([{"name": "a"}])",
                           R"([{"name": "a", "scripts": "s", "n_gpus": "many"}])",
                           R"([{"name": "a", "scripts": "s", "tags": 3}])",
                           R"([{"name": "a", "scripts": "s", "args": "'"}])"}) {
    folder_.write("models.json", text);
    EXPECT_FALSE(find({"all"})) << text;
  }
}

} // namespace
} // namespace rankscope
