#include "collect/profile/manifest.h"

#include "collect/finding_json.h"
#include "collect/machine_facts.h"
#include "collect/secrets.h"
#include "os/output_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Json anchor_json(const ClockAnchor& a) {
  Json out = Json::object();
  for (const auto& [name, value] : clock_members(a))
    out.at(name) = Json::of(value);
  return out;
}

/// By the kernel's files alone: no library is opened for it.
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
    Json gpu = Json::object();
    gpu.at("node") = Json::of(node.filename().string());
    gpu.at("vendor") = Json::of(vendor == "0x1002" ? "amd" : "nvidia");
    gpu.at("device") = Json::of(first_line((node / "device/device").string()));
    gpu.at("unique_id") = Json::of(first_line((node / "device/unique_id").string()));
    out.items.push_back(std::move(gpu));
  }
  if (!out.items.empty())
    return out;
  for (fs::directory_iterator it("/proc/driver/nvidia/gpus", ec), end; !ec && it != end;
       it.increment(ec)) {
    Json gpu = Json::object();
    gpu.at("bdf") = Json::of(it->path().filename().string());
    gpu.at("vendor") = Json::of("nvidia");
    const std::string model = first_line((it->path() / "information").string());
    gpu.at("name") = Json::of(model.substr(std::min(model.size(), model.find_last_of('\t') + 1)));
    out.items.push_back(std::move(gpu));
  }
  return out;
}

Json host_json(const MachineFacts& m) {
  Json out = Json::object();
  out.at("name") = Json::of(m.host);
  out.at("kernel") = Json::of(m.kernel);
  out.at("machine") = Json::of(m.machine);
  out.at("cpu") = Json::of(m.cpu);
  out.at("processors") = Json::of(m.processors);
  out.at("memory_bytes") = Json::of(m.memory_bytes);
  return out;
}

Json versions_json(const MachineFacts& m) {
  Json out = Json::object();
  out.at("rankscope") = Json::of(RANKSCOPE_VERSION);
  for (const auto& [name, version] :
       {std::pair("rocm", &m.rocm), std::pair("amdgpu", &m.amdgpu_driver),
        std::pair("nvidia", &m.nvidia_driver)})
    if (!version->empty())
      out.at(name) = Json::of(*version);
  return out;
}

Json tools_json(const RunRequest& request, const RunResult& result) {
  Json out = Json::list();
  for (const ToolResult& t : result.tools) {
    Json tool = Json::object();
    tool.at("name") = Json::of(t.name);
    tool.at("status") = Json::of(t.status);
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    Json files = Json::list();
    for (const OutputFound& f : t.outputs.files) {
      Json file = Json::object();
      file.at("path") = Json::of(fs::path(f.path).lexically_relative(request.out).string());
      file.at("bytes") = Json::of(std::int64_t(f.bytes));
      file.at("records") = Json::of(std::int64_t(f.records));
      file.at("fnv1a64") = Json::of(f.hash);
      files.items.push_back(std::move(file));
      records += static_cast<std::int64_t>(f.records);
      bytes += static_cast<std::int64_t>(f.bytes);
    }
    tool.at("records") = Json::of(records);
    tool.at("bytes") = Json::of(bytes);
    tool.at("files") = std::move(files);
    tool.at("missing") = Json::list(t.outputs.missing);
    out.items.push_back(std::move(tool));
  }
  return out;
}

Json steps_json(const RunRequest& request, const RunResult& result) {
  Json out = Json::list();
  for (const StepResult& s : result.steps) {
    Json step = Json::object();
    step.at("phase") = Json::of(s.phase);
    step.at("tool") = Json::of(s.tool);
    step.at("argv") = Json::list(masked_arguments(s.argv));
    step.at("status") = Json::of(s.status);
    step.at("seconds") = Json::of(s.seconds);
    step.at("log") = Json::of(fs::path(s.log).lexically_relative(request.out).string());
    out.items.push_back(std::move(step));
  }
  return out;
}

} // namespace

std::string make_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&now, &local);
  std::array<char, 32> text = {};
  (void)std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return fmt::format("{}-{}", text.data(), ::getpid());
}

int launcher_rank(const EnvPairs& environment) {
  for (const char* name : {"SLURM_PROCID", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const auto it = std::find_if(environment.begin(), environment.end(),
                                 [&](const auto& p) { return p.first == name; });
    int rank = -1;
    if (it == environment.end())
      continue;
    const char* const end = it->second.data() + it->second.size();
    if (const auto [at, ec] = std::from_chars(it->second.data(), end, rank);
        ec == std::errc() && at == end && rank >= 0)
      return rank;
  }
  return -1;
}

Json manifest_json(const RunIdentity& identity, const RunRequest& request, const RunResult& result,
                   std::span<const Finding> findings) {
  Json out = Json::object();
  out.at("format") = Json::of("rankscope-profile-1");
  out.at("run_id") = Json::of(identity.run_id);
  out.at("profiled") = Json::of(!request.plan.tools.empty());
  if (!identity.model.empty())
    out.at("model") = Json::of(identity.model);
  if (!identity.image.empty())
    out.at("image") = Json::of(identity.image);
  if (identity.rank >= 0)
    out.at("rank") = Json::of(std::int64_t(identity.rank));
  out.at("status") = Json::of(!result.launched          ? "not run"
                              : result.exit_status == 0 ? "success"
                                                        : "failure");
  out.at("exit_status") = result.launched ? Json::of(std::int64_t(result.exit_status)) : Json();
  out.at("ended") = Json::of(result.ended);
  out.at("seconds") = Json::of(result.seconds);
  Json baseline = Json::list();
  for (const double s : result.baseline_s)
    baseline.items.push_back(Json::of(s));
  out.at("baseline_s") = std::move(baseline);
  out.at("plan") = plan_json(request.plan);
  std::error_code ec;
  out.at("folder") =
      Json::of(request.folder.empty() ? fs::current_path(ec).string() : request.folder);
  const MachineFacts machine = read_machine_facts();
  out.at("host") = host_json(machine);
  out.at("gpus") = gpus_json();
  out.at("versions") = versions_json(machine);
  out.at("clock_begin") = anchor_json(result.begin);
  out.at("clock_end") = anchor_json(result.end);
  out.at("tools") = tools_json(request, result);
  out.at("steps") = steps_json(request, result);
  out.at("figures") = result.figures;
  out.at("findings") = findings_json(findings);
  out.at("notes") = Json::list(identity.notes);
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
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    for (const OutputFound& f : t.outputs.files) {
      records += f.records;
      bytes += f.bytes;
    }
    out += fmt::format("{:<28}{:<8}{} files, {} records, {} bytes\n", t.name, t.status,
                       t.outputs.files.size(), records, bytes);
  }
  return out + findings_text(findings);
}

Result<void> write_manifest(const RunIdentity& identity, const RunRequest& request,
                            const RunResult& result, std::span<const Finding> findings) {
  RS_TRY(OutputFile manifest, OutputFile::create(request.out + "/manifest.json"));
  manifest.write(manifest_json(identity, request, result, findings).dump() + "\n");
  RS_CHECK(manifest.commit());
  RS_TRY(OutputFile summary, OutputFile::create(request.out + "/summary.txt"));
  summary.write(summary_text(identity, request, result, findings));
  return summary.commit();
}

Result<void> place_legacy_names(const RunResult& result, const std::string& folder) {
  for (const ToolResult& tool : result.tools)
    for (const OutputFound& file : tool.outputs.files) {
      if (file.legacy.empty())
        continue;
      // a name with an ending is the file's, one without a folder's
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
