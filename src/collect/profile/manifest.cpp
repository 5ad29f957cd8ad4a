#include "collect/profile/manifest.h"

#include "base/time_text.h"
#include "base/to_number.h"
#include "collect/finding_json.h"
#include "collect/machine_facts.h"
#include "collect/secrets.h"
#include "os/output_file.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Json anchor_json(const ClockAnchor& a) {
  Json out = Json::object();
  for (const auto& [name, value] : clock_members(a))
    out.at(name) = value;
  return out;
}

/// Lists the GPUs from kernel files only, without a library.
Json gpus_json() {
  Json out = Json::list();
  std::error_code ec;
  std::vector<fs::path> nodes;
  for (fs::directory_iterator it("/sys/class/drm", ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename().string().rfind("renderD", 0) == 0)
      nodes.push_back(it->path());
  std::sort(nodes.begin(), nodes.end());
  for (const fs::path& node : nodes) {
    const std::string vendor = first_line((node / "device/vendor").string());
    if (vendor != "0x1002" && vendor != "0x10de")
      continue;
    out.items.push_back(
        Json::object({{"node", node.filename().string()},
                      {"vendor", vendor == "0x1002" ? "amd" : "nvidia"},
                      {"device", first_line((node / "device/device").string())},
                      {"unique_id", first_line((node / "device/unique_id").string())}}));
  }
  if (!out.items.empty())
    return out;
  for (fs::directory_iterator it("/proc/driver/nvidia/gpus", ec), end; !ec && it != end;
       it.increment(ec)) {
    Json gpu = Json::object({{"bdf", it->path().filename().string()}, {"vendor", "nvidia"}});
    const std::string model = first_line((it->path() / "information").string());
    gpu.at("name") = model.substr(std::min(model.size(), model.find_last_of('\t') + 1));
    out.items.push_back(std::move(gpu));
  }
  return out;
}

Json host_json(const MachineFacts& m) {
  return Json::object({{"name", m.host},
                       {"kernel", m.kernel},
                       {"machine", m.machine},
                       {"cpu", m.cpu},
                       {"processors", m.processors},
                       {"memory_bytes", m.memory_bytes}});
}

Json versions_json(const MachineFacts& m) {
  Json out = Json::object();
  out.at("rankscope") = RANKSCOPE_VERSION;
  for (const auto& [name, version] :
       {std::pair("rocm", &m.rocm), std::pair("amdgpu", &m.amdgpu_driver),
        std::pair("nvidia", &m.nvidia_driver)})
    if (!version->empty())
      out.at(name) = *version;
  return out;
}

Json tools_json(const RunRequest& request, const RunResult& result) {
  Json out = Json::list();
  for (const ToolResult& t : result.tools) {
    Json tool = Json::object({{"name", t.name}, {"status", t.status}});
    Json files = Json::list();
    for (const OutputFound& f : t.outputs.files)
      files.items.push_back(
          Json::object({{"path", fs::path(f.path).lexically_relative(request.out).string()},
                        {"bytes", f.bytes},
                        {"records", f.records},
                        {"fnv1a64", f.hash}}));
    tool.at("records") = t.outputs.records();
    tool.at("bytes") = t.outputs.bytes();
    tool.at("files") = std::move(files);
    tool.at("missing") = t.outputs.missing;
    out.items.push_back(std::move(tool));
  }
  return out;
}

Json steps_json(const RunRequest& request, const RunResult& result) {
  Json out = Json::list();
  for (const StepResult& s : result.steps) {
    out.items.push_back(
        Json::object({{"phase", s.phase},
                      {"tool", s.tool},
                      {"argv", masked_arguments(s.argv)},
                      {"status", s.status},
                      {"seconds", s.seconds},
                      {"log", fs::path(s.log).lexically_relative(request.out).string()}}));
  }
  return out;
}

} // namespace

std::string make_run_id() {
  return fmt::format("{}-{}", local_text(std::chrono::system_clock::now(), "%Y%m%d-%H%M%S"),
                     ::getpid());
}

int launcher_rank(const EnvPairs& environment) {
  for (const char* name : {"SLURM_PROCID", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const auto rank = to_number<int>(variable(environment, name)); rank && *rank >= 0)
      return *rank;
  return -1;
}

Json manifest_json(const RunIdentity& identity, const RunRequest& request, const RunResult& result,
                   std::span<const Finding> findings) {
  Json out = Json::object({{"format", "rankscope-profile-1"},
                           {"run_id", identity.run_id},
                           {"profiled", !request.plan.tools.empty()}});
  if (!identity.model.empty())
    out.at("model") = identity.model;
  if (!identity.image.empty())
    out.at("image") = identity.image;
  if (identity.rank >= 0)
    out.at("rank") = identity.rank;
  out.at("status") = !result.launched ? "not run" : result.exit_status == 0 ? "success" : "failure";
  out.at("exit_status") = result.launched ? Json(result.exit_status) : Json();
  out.at("ended") = result.ended;
  out.at("seconds") = result.seconds;
  Json baseline = Json::list();
  for (const double s : result.baseline_s)
    baseline.items.push_back(s);
  out.at("baseline_s") = std::move(baseline);
  out.at("plan") = plan_json(request.plan);
  std::error_code ec;
  out.at("folder") = request.folder.empty() ? fs::current_path(ec).string() : request.folder;
  const MachineFacts machine = read_machine_facts();
  out.at("host") = host_json(machine);
  out.at("gpus") = gpus_json();
  out.at("versions") = versions_json(machine);
  out.at("clock_begin") = anchor_json(result.begin);
  out.at("clock_end") = anchor_json(result.end);
  out.at("tools") = tools_json(request, result);
  out.at("steps") = steps_json(request, result);
  out.at("figures") = result.metrics;
  out.at("findings") = findings_json(findings);
  out.at("notes") = identity.notes;
  return out;
}

std::string summary_text(const RunIdentity& identity, const RunRequest& request,
                         const RunResult& result, std::span<const Finding> findings) {
  std::string out =
      fmt::format("run {}: {}\n", identity.run_id,
                  result.launched ? fmt::format("{}, {:.3f} s", result.ended, result.seconds)
                                  : "the command was not run");
  out += "command: " + quoted_command(masked_arguments(request.plan.argv)) + "\n";
  for (const ToolResult& t : result.tools) {
    const auto records = t.outputs.records();
    out +=
        fmt::format("{:<28}{:<8}{} files, {}{} bytes\n", t.name, t.status, t.outputs.files.size(),
                    records ? fmt::format("{} records, ", *records) : "", t.outputs.bytes());
  }
  return out + findings_text(findings);
}

Result<void> write_manifest(const RunIdentity& identity, const RunRequest& request,
                            const RunResult& result, std::span<const Finding> findings) {
  RS_CHECK(write_file(request.out + "/manifest.json",
                      manifest_json(identity, request, result, findings).dump() + "\n"));
  return write_file(request.out + "/summary.txt",
                    summary_text(identity, request, result, findings));
}

Result<void> place_legacy_names(const RunResult& result, const std::string& folder) {
  for (const ToolResult& tool : result.tools)
    for (const OutputFound& file : tool.outputs.files) {
      if (file.legacy.empty())
        continue;
      // a name with an extension is the name of a file, any other name is the name of a folder
      fs::path target = fs::path(folder) / file.legacy;
      std::error_code ec;
      if (target.extension().empty())
        target /= fs::path(file.path).filename();
      fs::create_directories(target.parent_path(), ec);
      fs::copy_file(file.path, target, fs::copy_options::overwrite_existing, ec);
      if (ec)
        return Error{ErrorCode::kOutput, target.string(), ec.message(), ""};
    }
  return {};
}

} // namespace rankscope
