#include "collect/profile/therock_tool.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string version_in(const fs::path& folder) {
  std::ifstream in(folder / ".info/version");
  std::string line;
  std::getline(in, line);
  return line;
}

/// Returns folders where an installation outside Python may be.
std::vector<std::string> prefixes(const PreflightTarget& target, const EnvPairs& environment) {
  std::vector<std::string> out;
  for (const char* name : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"})
    if (std::string value = variable(environment, name); !value.empty())
      out.push_back(std::move(value));
  for (const char* place : {"/opt/rocm", "/opt/rocm-*", "/opt/rocm/core", "/opt/rocm/core-*"})
    for (std::string& folder : expanded_paths(target.root + place))
      out.push_back(std::move(folder));
  return out;
}

/// Returns folders where Python packages may be; `sdk` is the program rocm-sdk, "" = not found.
std::vector<std::string> pythons(const PreflightTarget& target, const EnvPairs& environment,
                                 const std::string& sdk) {
  std::vector<std::string> out;
  if (std::string value = variable(environment, "VIRTUAL_ENV"); !value.empty())
    out.push_back(std::move(value));
  if (!sdk.empty())
    out.push_back(fs::path(sdk).parent_path().parent_path().string());
  out.push_back(target.root + "/usr/local");
  out.push_back(target.root + "/usr");
  return out;
}

class TheRockTool final : public NativeTool {
public:
  TheRockTool(std::string name, PreflightTarget target, EnvPairs environment)
      : name_(std::move(name)), target_(std::move(target)), environment_(std::move(environment)) {}

  [[nodiscard]] std::vector<std::string> names() const override { return {name_}; }

  Result<void> end(std::vector<ProfileFact>& facts, Json& metrics) override {
    std::vector<std::string> searched;
    const std::optional<TheRock> found = find_therock(target_, environment_, searched);
    Json& out = metrics.at("therock");
    out.at("found") = found.has_value();
    if (found) {
      out.at("place") = found->place;
      out.at("version") = found->version;
    } else {
      facts.push_back({name_, profile::OtherRocm{std::move(searched)}});
    }
    return {};
  }

private:
  std::string name_;
  PreflightTarget target_;
  EnvPairs environment_;
};

} // namespace

std::optional<TheRock> find_therock(const PreflightTarget& target, const EnvPairs& environment,
                                    std::vector<std::string>& searched) {
  const auto programs = find_programs(target, {"rocm-sdk"});
  const std::string sdk = programs ? programs->at("rocm-sdk") : "";
  searched.push_back(target.image.empty() ? "PATH" : searched_path(target));
  if (!target.image.empty())
    return sdk.empty() ? std::nullopt : std::optional<TheRock>({sdk, ""});
  std::error_code ec;
  for (const std::string& prefix : prefixes(target, environment)) {
    searched.push_back(prefix);
    if (fs::exists(fs::path(prefix) / "share/therock/therock_manifest.json", ec))
      return TheRock{prefix, version_in(prefix)};
  }
  for (const std::string& prefix : pythons(target, environment, sdk)) {
    searched.push_back(prefix + "/lib/python3*");
    const auto packages = expanded_paths(prefix + "/lib/python3*/*-packages/_rocm_sdk_*");
    if (!packages.empty())
      return TheRock{packages.front(), version_in(packages.front())};
  }
  if (!sdk.empty())
    return TheRock{sdk, ""};
  return std::nullopt;
}

std::unique_ptr<NativeTool> make_therock_tool(const Plan& plan, const PreflightTarget& target,
                                              const EnvPairs& environment) {
  for (const ToolEntry& tool : plan.tools)
    if (tool.native == "therock_check")
      return std::make_unique<TheRockTool>(tool.name, target, environment);
  return nullptr;
}

} // namespace rankscope
