// Tests findings about profiling runs.
#include "findings/profile_findings.h"

#include "findings/rules.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace rankscope {
namespace {

using namespace profile;

/// Returns a fact of every type from `tool`, with names of 200 characters.
std::vector<ProfileFact> every_fact(const std::string& tool) {
  const std::string name(200, 'x');
  const Texts names = {name, name};
  return {{tool, MissingTool{name, name, name, name, names}},
          {tool, MissingTool{name, "", "", "", {}}},
          {tool, MissingLibrary{name}},
          {tool, MissingScript{name, name}},
          {tool, MissingCommand{name, name, name}},
          {tool, ToolNotStarted{name}},
          {tool, ConflictingTool{name, name}},
          {tool, ConflictingTool{name, ""}},
          {tool, MissingGpu{true, name}},
          {tool, ClosedGpu{false, name, 1000}},
          {tool, OtherTracer{name, name}},
          {tool, ClosedCounters{}},
          {tool, ClosedCpuSamples{4}},
          {tool, FailedScript{true, name, name, name}},
          {tool, FailedScript{false, name, name, name}},
          {tool, FailedBaseline{name}},
          {tool, Timeout{3}},
          {tool, KilledProcesses{2, 10}},
          {tool, LeftProcesses{1}},
          {tool, LeftProcesses{}},
          {tool, UnfinishedTool{name}},
          {tool, IncompleteLog{name}},
          {tool, SteppedAside{}},
          {tool, MissedSamples{9, 1, 300}},
          {tool, IdleDevices{names, {}}},
          {tool, EnergyOfGpu{{EnergyDoubt::Kind::kLostGpu, 1, 3, 0.4}}},
          {tool, DamagedLines{name, 2, 3, name}},
          {tool, OtherRocm{names}},
          {tool, MissingOutput{names}},
          {tool, EmptyOutput{names, "", names, std::nullopt, ""}},
          {tool, EmptyOutput{names, name, {}, "exit code 3", name}},
          {tool, ShortRun{0.1, 1}},
          {tool, UnusedLibrary{names}},
          {tool, SilentLibrary{name, {{name, std::nullopt}, {name, name}}}},
          {tool, Overhead{1, 3, 5, 2, {{name, 4}}, name, ""}},
          {tool, FailureInLog{2, name}},
          {tool, MissingMetric{name}},
          {tool, UnreadableRank{name, name}},
          {tool, MissingRanks{names}},
          {tool, PartialEnergy{name, name, 0.5, 0, 0}}};
}

TEST(ProfileFindings, EveryTypeHasAFindingThatFits) {
  for (const std::string& tool : {std::string(), std::string(200, 't')}) {
    const std::vector<ProfileFact> facts = every_fact(tool);
    std::set<std::size_t> types;
    for (const ProfileFact& fact : facts)
      types.insert(fact.what.index());
    EXPECT_EQ(types.size(), std::variant_size_v<decltype(ProfileFact::what)>);
    const std::vector<Finding> findings = profile_findings(facts);
    ASSERT_EQ(findings.size(), facts.size());
    const auto rules = finding_rules();
    for (const Finding& f : findings) {
      EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [&](const FindingRule& rule) {
        return rule.id == f.rule;
      })) << f.rule;
      EXPECT_FALSE(f.headline.empty()) << f.rule;
      EXPECT_LE(f.headline.size(), kHeadlineWidth) << f.headline;
    }
  }
}

TEST(ProfileFindings, AMissingToolNamesItsPlaceAndWhatIsInstalledInstead) {
  Finding f = profile_finding(
      {"rocprof", MissingTool{"rocprofv3", "PATH=/bin", "", "/opt/rocm/bin", {"rpd"}}});
  EXPECT_EQ(f.rule, "missing-tool");
  EXPECT_EQ(f.subject, "rocprof: rocprofv3");
  EXPECT_EQ(f.sentence(), "rocprof: rocprofv3 is not on PATH. Searched PATH=/bin; present at "
                          "/opt/rocm/bin (not on PATH). Set PATH=/opt/rocm/bin:$PATH; available "
                          "instead: rpd.");
  f = profile_finding({"t", MissingTool{"p", "the image's PATH", "image:1", "", {}}});
  EXPECT_EQ(f.headline, "t: p is not on PATH in image image:1");
}

TEST(ProfileFindings, AnEmptyOutputGivesItsReason) {
  EmptyOutput empty{{"out/*.csv"}, "", {}, std::nullopt, ""};
  EXPECT_EQ(profile_finding({"t", empty}).rule, "empty-output");
  EXPECT_EQ(profile_finding({"t", empty}).evidence, "No new file matches out/*.csv");
  empty.file = "out/x.csv";
  empty.old_files = {"out/y.csv"};
  EXPECT_EQ(profile_finding({"t", empty}).evidence,
            "out/x.csv has no records; out/y.csv existed before the run and is not used: move it "
            "away");
  empty.ended = "exit code 3";
  const Finding f = profile_finding({"t", empty});
  EXPECT_EQ(f.rule, "output-of-failed-command");
  EXPECT_EQ(f.headline, "t: it wrote nothing, and the command failed: exit code 3");
}

TEST(ProfileFindings, NamesKeepTheirCase) {
  EXPECT_EQ(profile_finding({"", UnreadableRank{"mg2/rank_3", ""}}).headline,
            "No usable manifest.json in mg2/rank_3");
  EXPECT_EQ(profile_finding({"", PartialEnergy{"mg2/rank_3", "0", 0.5, 0, 0}}).headline,
            "The energy of GPU 0 in mg2/rank_3 is not that of the complete run");
}

TEST(ProfileFindings, OnlyTheRankThatWritesTheRowHasEmptyCells) {
  EXPECT_EQ(profile_finding({"", MissingMetric{"perf.csv"}}).action,
            "Print a metric; its cells in perf.csv are empty");
  EXPECT_EQ(profile_finding({"", MissingMetric{}}).action, "Print a metric");
}

TEST(ProfileFindings, NumbersAreFields) {
  Finding f = profile_finding({"", Overhead{2, 3, 5, 2, {}, "", "rocprof_sys"}});
  EXPECT_EQ(f.value, 1.5);
  EXPECT_EQ(f.sentence(),
            "The command takes 1.5 times as long with the tools. Baseline 2.000 s "
            "(median of 5), with the tools 3.000 s. Use rocprofv3_lightweight instead of "
            "rocprof_sys.");
  f = profile_finding({"", Overhead{2, 3, 5, 1, {}, "", ""}});
  EXPECT_EQ(f.sentence(),
            "The command takes 1.5 times as long with the tool. Baseline 2.000 s "
            "(median of 5), with the tool 3.000 s. Record a part of the run, or use a "
            "tool that records less.");
  f = profile_finding({"", KilledProcesses{1, 10}});
  EXPECT_EQ(f.value, 1);
  EXPECT_EQ(f.headline, "1 process of the command did not end when asked to and was killed");
}

} // namespace
} // namespace rankscope
