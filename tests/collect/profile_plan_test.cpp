// Tests combinations of tools: order, environment, conflicts, the documented tables.
#include "collect/profile/plan.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

using test::TempFolder;
using Words = std::vector<std::string>;

struct Asked {
  std::string table;   ///< merged over the built-in table; may be empty
  std::string context; ///< additional context with "tools"
  EnvPairs environment = {};
  bool force = false;
};

Result<Plan> plan_of(const Asked& asked, std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> local;
  std::vector<std::string>& all = notes == nullptr ? local : *notes;
  RS_TRY(ToolTable table, ToolTable::builtin());
  if (!asked.table.empty()) {
    RS_TRY(const Json root, parse_json(asked.table, "table", &all));
    RS_CHECK(table.merge(root, "table", "", all));
  }
  PlanRequest request;
  RS_TRY(request.context, read_context({}, {asked.context}));
  for (const Json& use : request.context.tools) {
    RS_TRY(ToolEntry entry, table.entry(use, "context", all));
    request.tools.push_back(std::move(entry));
  }
  request.command = {"app", "a b"};
  request.out_folder = "/out";
  request.environment = asked.environment;
  request.force = asked.force;
  return make_plan(request);
}

std::string env_of(const Plan& plan, const std::string& name) {
  for (const EnvChange& e : plan.env)
    if (e.name == name)
      return e.unset ? "(unset)" : e.value;
  return "(none)";
}

constexpr const char* kAB = R"({"tools": {
  "A": {"cmd": "cmd_A", "pre_scripts": [{"path": "pre.sh", "args": "A"}],
        "post_scripts": [{"path": "post.sh", "args": "A 'x y'"}], "env_vars": {"X": "1", "Y": "a"}},
  "B": {"cmd": "cmd_B", "pre_scripts": [{"path": "pre.sh", "args": "B"}],
        "post_scripts": [{"path": "post.sh", "args": "B"}], "env_vars": {"X": "2"}}}})";

TEST(ProfilePlan, FirstListedIsInnermostSetUpOutsideInTearDownInsideOut) {
  const Result<Plan> plan = plan_of({kAB, R"({"tools": [{"name": "A"}, {"name": "B"}],
      "pre_scripts": [{"path": "ctx_pre.sh"}], "post_scripts": [{"path": "ctx_post.sh"}]})"});
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->argv, (Words{"cmd_B", "cmd_A", "app", "a b"}));
  ASSERT_EQ(plan->pre.size(), 3U);
  EXPECT_EQ(plan->pre[0].argv, (Words{"bash", "pre.sh", "B"}));
  EXPECT_EQ(plan->pre[1].argv, (Words{"bash", "pre.sh", "A"}));
  EXPECT_EQ(plan->pre[2].argv, (Words{"bash", "ctx_pre.sh"}));
  ASSERT_EQ(plan->post.size(), 3U);
  EXPECT_EQ(plan->post[0].argv, (Words{"bash", "ctx_post.sh"}));
  EXPECT_EQ(plan->post[1].argv, (Words{"bash", "post.sh", "A", "x y"}));
  EXPECT_EQ(plan->post[2].argv, (Words{"bash", "post.sh", "B"}));
}

TEST(ProfilePlan, LaterToolsWinTheEnvironmentAndTheContextWinsOverAll) {
  Result<Plan> plan = plan_of({kAB, R"({"tools": [{"name": "A"}, {"name": "B"}]})"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(env_of(*plan, "X"), "2");
  ASSERT_EQ(plan->conflicts.size(), 1U);
  EXPECT_EQ(plan->conflicts[0], "A sets X=1, B sets X=2: B wins");
  plan = plan_of({kAB, R"({"tools": [{"name": "A", "env_vars": {"Y": "b", "Z": 3}}, {"name": "B"}],
      "env_vars": {"X": "4"}, "docker_env_vars": {"X": "5"}})"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(env_of(*plan, "X"), "5");
  EXPECT_EQ(env_of(*plan, "Y"), "b"); // each key overrides that of the table
  EXPECT_EQ(env_of(*plan, "Z"), "3");
}

TEST(ProfilePlan, PathsAreOnlyAddedTo) {
  const char* table =
      R"({"tools": {"A": {"env_vars": {"LD_LIBRARY_PATH": "/a", "LD_PRELOAD": "a.so"}},
      "B": {"env_vars": {"LD_LIBRARY_PATH": "/b"}, "env_prepend": {"MY_DIRS": "/m"}}}})";
  const Result<Plan> plan = plan_of({table,
                                     R"({"tools": [{"name": "A"}, {"name": "B"}]})",
                                     {{"LD_LIBRARY_PATH", "/usr"}, {"MY_DIRS", "/old"}}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(env_of(*plan, "LD_LIBRARY_PATH"), "/b:/a:/usr");
  EXPECT_EQ(env_of(*plan, "LD_PRELOAD"), "a.so");
  EXPECT_EQ(env_of(*plan, "MY_DIRS"), "/m:/old");
  EXPECT_TRUE(plan->conflicts.empty());
}

TEST(ProfilePlan, MasksAndListsOfLibrariesKeepWhatTheUserAsked) {
  const Result<Plan> plan =
      plan_of({"",
               R"({"tools": [{"name": "rocblas_trace"}, {"name": "tensile_trace"},
          {"name": "hipblaslt_trace"}, {"name": "rccl_trace"}]})",
               {{"ROCBLAS_LAYER", "1"},
                {"TENSILE_DB", "0x40"},
                {"HIPBLASLT_LOG_LEVEL", "3"},
                {"NCCL_DEBUG_SUBSYS", "NET,COLL"}}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(env_of(*plan, "ROCBLAS_LAYER"), "7"); // 1 | 2 | 4
  EXPECT_EQ(env_of(*plan, "TENSILE_DB"), "0x8040");
  EXPECT_EQ(env_of(*plan, "HIPBLASLT_LOG_MASK"), "32");
  EXPECT_EQ(env_of(*plan, "HIPBLASLT_LOG_LEVEL"), "(unset)"); // if it is set, the mask is ignored
  EXPECT_EQ(env_of(*plan, "NCCL_DEBUG_SUBSYS"), "NET,COLL,INIT");
  EXPECT_EQ(env_of(*plan, "NCCL_DEBUG_FILE"), "/out/library_trace/nccl.%h.%p.log");
  EXPECT_EQ(env_of(*plan, "RCCL_KERNEL_COLL_TRACE_ENABLE"), "(none)");
}

TEST(ProfilePlan, TheSameCommandIsThereOnceAtTheFirstToolsPlace) {
  const char* table = R"({"tools": {"one": {"cmd": "trace.py", "env_vars": {"ONE": "1"},
      "post_scripts": ["p1.sh"]}, "mid": {"cmd": "mid"},
      "two": {"cmd": "trace.py", "env_vars": {"TWO": "1"}, "post_scripts": ["p2.sh"]}}})";
  const Result<Plan> plan =
      plan_of({table, R"({"tools": [{"name": "one"}, {"name": "mid"}, {"name": "two"}]})"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv, (Words{"mid", "trace.py", "app", "a b"}));
  EXPECT_EQ(env_of(*plan, "ONE"), "1");
  EXPECT_EQ(env_of(*plan, "TWO"), "1");
  EXPECT_EQ(plan->post.size(), 2U);
}

TEST(ProfilePlan, ToolsThatHookTheSameCallsAreRefusedUnlessForced) {
  for (const char* pair : {"rocprof rpd", "rocprofv3 rocm_trace_lite", "nsys ncu_light"}) {
    const std::string text = pair;
    const std::size_t blank = text.find(' ');
    const std::string context = R"({"tools": [{"name": ")" + text.substr(0, blank) +
                                R"("}, {"name": ")" + text.substr(blank + 1) + R"("}]})";
    const Result<Plan> plan = plan_of({"", context});
    ASSERT_FALSE(plan) << pair;
    EXPECT_EQ(plan.error().where, "conflicting-tools");
    const Result<Plan> forced = plan_of({"", context, {}, true});
    ASSERT_TRUE(forced) << pair;
    ASSERT_EQ(forced->facts.size(), 1U);
    EXPECT_TRUE(forced->facts[0].is<profile::ConflictingTool>());
  }
  EXPECT_TRUE(plan_of({"", R"({"tools": [{"name": "rocprof"}, {"name": "miopen_trace"},
                                         {"name": "rocblas_trace"}]})"}));
}

TEST(ProfilePlan, EveryToolOfTheGuideAndItsUsersIsThere) {
  const Result<ToolTable> table = ToolTable::builtin();
  ASSERT_TRUE(table);
  const Words names = table->names();
  for (const char* name : {"rocprof",
                           "rpd",
                           "rocblas_trace",
                           "miopen_trace",
                           "tensile_trace",
                           "rccl_trace",
                           "gpu_info_power_profiler",
                           "gpu_info_vram_profiler",
                           "rocprofv3",
                           "rocprofv3_compute",
                           "rocprofv3_memory",
                           "rocprofv3_communication",
                           "rocprofv3_full",
                           "rocprofv3_lightweight",
                           "rocprofv3_agent",
                           "rocprofv3_agent_counter",
                           "rocprofv3_counters",
                           "rocprofv3_perfetto",
                           "rocprofv3_api_overhead",
                           "rocprofv3_pc_sampling",
                           "rocprofiler_systems",
                           "rocprofiler_compute",
                           "hipblaslt_trace",
                           "nsys",
                           "ncu_light",
                           "nccl_inspector",
                           "rccl_inspector",
                           "rccl_recorder",
                           "cublas_trace",
                           "cublaslt_trace",
                           "cudnn_trace",
                           "nccl_trace"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
    const Result<Plan> plan =
        plan_of({"", std::string(R"({"tools": [{"name": ")") + name + "\"}]}"});
    ASSERT_TRUE(plan) << name << ": " << plan.error().message();
    EXPECT_FALSE(plan->tools[0].produces.empty()) << name;
    EXPECT_FALSE(plan->tools[0].about.empty()) << name;
    for (const std::string& word : plan->argv)
      EXPECT_EQ(word.find("{out}"), std::string::npos) << name;
  }
}

TEST(ProfilePlan, CommandsNeedAShellOnlyWhenTheySaySo) {
  for (const char* cmd : {"echo a && ", "a | b", "a > f", "a; b", "`a`", "$(a)", "a 'open"}) {
    Json tool = Json::object();
    tool.at("tools").at("T").at("cmd") = cmd;
    const Result<Plan> plan = plan_of({tool.dump(), R"({"tools": [{"name": "T"}]})"});
    EXPECT_FALSE(plan) << cmd;
    tool.at("tools").at("T").at("shell") = true;
    const Result<Plan> shell = plan_of({tool.dump(), R"({"tools": [{"name": "T"}]})"});
    ASSERT_TRUE(shell) << cmd;
    EXPECT_EQ(shell->argv, (Words{"sh", "-c", std::string(cmd) + " \"$@\"", "sh", "app", "a b"}));
  }
}

TEST(ProfilePlan, AnOutputFolderWithBlanksAndQuotesStaysOneWord) {
  const Result<ToolTable> table = ToolTable::builtin();
  PlanRequest request;
  request.command = {"app"};
  request.out_folder = "/my runs/it's";
  ToolEntry tool;
  tool.name = "t";
  tool.cmd = "trace -o {out}/x.db --";
  request.tools = {tool};
  Result<Plan> plan = make_plan(request);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->argv, (Words{"trace", "-o", "/my runs/it's/t/x.db", "--", "app"}));
  request.tools[0].cmd = "touch {out}/x; ";
  request.tools[0].shell = true;
  plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv[2], "touch '/my runs/it'\\''s/t'/x;  \"$@\"");
}

TEST(ProfilePlan, WordsAreSplitAsAShellDoes) {
  const Result<Words> words =
      split_words(R"(rocprof --x "a b" 'c "d' e\ f "" "q\"$HOME" \\ )", "test");
  ASSERT_TRUE(words);
  EXPECT_EQ(*words, (Words{"rocprof", "--x", "a b", "c \"d", "e f", "", "q\"$HOME", "\\"}));
}

TEST(ProfilePlan, UnknownNamesAndKeysAreNamedWithTheNearest) {
  const Result<Plan> plan = plan_of({"", R"({"tools": [{"name": "rocproof"}]})"});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().where, "unknown-tool");
  EXPECT_NE(plan.error().what.find("rocprof?"), std::string::npos) << plan.error().what;
  std::vector<std::string> notes;
  ASSERT_TRUE(plan_of({"", R"({"tools": [{"name": "rocprof", "env_var": {}}]})"}, &notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("did you mean \"env_vars\"?"), std::string::npos) << notes[0];
}

TEST(ProfilePlan, AToolOfTheDocumentedTableIsMadeHereUnlessItSaysNot) {
  const char* table = R"({"tools": {"rocblas_trace": {
      "cmd": "python3 ../scripts/common/tools/get_library_trace.py",
      "env_vars": {"ROCBLAS_TRACE": "1"}}}})";
  Result<Plan> plan = plan_of({table, R"({"tools": [{"name": "rocblas_trace"}]})"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv, (Words{"app", "a b"}));
  EXPECT_EQ(plan->tools[0].native, "library_trace");
  EXPECT_EQ(env_of(*plan, "ROCBLAS_LAYER"), "6");
  const char* scripts = R"({"tools": {"rocblas_trace": {"native": false,
      "cmd": "python3 ../scripts/common/tools/get_library_trace.py",
      "env_vars": {"ROCBLAS_TRACE": "1"}}}})";
  plan = plan_of({scripts, R"({"tools": [{"name": "rocblas_trace"}]})"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv[0], "python3");
  EXPECT_EQ(env_of(*plan, "ROCBLAS_LAYER"), "(none)");
}

TEST(ProfilePlan, PathsOfATableAreMeantFromItsFolder) {
  const TempFolder folder;
  const std::string wrapper = folder.write("scripts/common/tools/wrap.sh", "#!/bin/sh\n");
  const std::string pre = folder.write("scripts/common/pre_scripts/a.sh", "#!/bin/sh\n");
  ::chmod(pre.c_str(), 0755);
  const std::string table =
      folder.write("scripts/common/tools.json",
                   R"({"tools": {"t": {"cmd": "bash ../scripts/common/tools/wrap.sh --opt --",
          "pre_scripts": [{"path": "scripts/common/pre_scripts/a.sh", "args": "t"}]}}})");
  Result<ToolTable> tools = ToolTable::builtin();
  ASSERT_TRUE(tools);
  std::vector<std::string> notes;
  const Result<void> merged = tools->merge_file(table, notes);
  ASSERT_TRUE(merged) << merged.error().message();
  Json use = Json::object();
  use.at("name") = "t";
  PlanRequest request;
  Result<ToolEntry> entry = tools->entry(use, "test", notes);
  ASSERT_TRUE(entry);
  request.tools = {*entry};
  request.command = {"app"};
  const Result<Plan> plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv, (Words{"bash", wrapper, "--opt", "--", "app"}));
  ASSERT_EQ(plan->pre.size(), 1U);
  EXPECT_EQ(plan->pre[0].argv, (Words{pre, "t"}));
}

TEST(ProfilePlan, InheritedEntriesTakeWhatTheyDoNotSay) {
  const char* table = R"({"tools": {"mine": {"inherits": "rocprofv3", "env_vars": {"Q": "1"}},
                                    "other": {"inherits": "rocprofv3", "cmd": "my {out} --"}}})";
  Result<Plan> plan = plan_of({table, R"({"tools": [{"name": "mine"}]})"});
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->argv[0], "rocprofv3");
  EXPECT_EQ(env_of(*plan, "Q"), "1");
  plan = plan_of({table, R"({"tools": [{"name": "other"}]})"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv, (Words{"my", "/out/other", "--", "app", "a b"}));
  EXPECT_TRUE(plan->tools[0].required.empty());
}

TEST(ProfilePlan, ToolsOfTheCommandLine) {
  const Result<Json> use = tool_use("gpu_info_power_profiler:DEVICE=0,1,2,SAMPLING_RATE=0.5");
  ASSERT_TRUE(use);
  EXPECT_EQ(use->find("name")->text, "gpu_info_power_profiler");
  EXPECT_EQ(use->find("env_vars")->find("DEVICE")->text, "0,1,2");
  EXPECT_EQ(use->find("env_vars")->find("SAMPLING_RATE")->text, "0.5");
  EXPECT_FALSE(tool_use("rocprof:timeuot=3"));
  const Result<ToolTable> table = ToolTable::builtin();
  ASSERT_TRUE(table);
  std::vector<std::string> notes;
  const Result<Json> kernel = tool_use("rccl_trace:kernel=1");
  ASSERT_TRUE(kernel);
  const Result<ToolEntry> entry = table->entry(*kernel, "test", notes);
  ASSERT_TRUE(entry);
  EXPECT_TRUE(std::any_of(entry->env_vars.begin(), entry->env_vars.end(), [](const auto& p) {
    return p.first == "RCCL_KERNEL_COLL_TRACE_ENABLE";
  }));
}

} // namespace
} // namespace rankscope
