#include "collect/profile/sampler_tool.h"

#include "collect/samplers/sampler.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

Json gpu_json(const GpuSummary& g) {
  return Json::object({{"index", g.gpu.index},
                       {"bdf", g.gpu.bdf},
                       {"uuid", g.gpu.uuid},
                       {"name", g.gpu.name},
                       {"samples", g.samples},
                       {"mean_w", g.mean_w},
                       {"median_w", g.median_w},
                       {"p95_w", g.p95_w},
                       {"max_w", g.max_w},
                       {"joules", g.joules},
                       {"joules_low", g.joules_low},
                       {"joules_high", g.joules_high},
                       {"energy_source", g.energy_source()},
                       {"counter_joules", g.counter_joules},
                       {"sampled_joules", g.sampled_joules},
                       {"counter_resets", g.counter_resets},
                       {"covered", g.covered},
                       {"lost_s", g.lost_s},
                       {"missing_power", g.missing_power},
                       {"gap_s", g.gap_s},
                       {"peak_vram_bytes", g.peak_vram_b},
                       {"mean_busy_pct", g.mean_busy_pct}});
}

class SamplerTool final : public NativeTool {
public:
  SamplerTool(std::vector<std::string> names, SamplerOptions options)
      : names_(std::move(names)), options_(std::move(options)) {}

  [[nodiscard]] std::vector<std::string> names() const override { return names_; }

  Result<void> begin() override {
    RS_TRY(sampler_, Sampler::start(options_));
    return {};
  }

  void phase(RunPhase next) override {
    if (sampler_ != nullptr)
      sampler_->phase(next == RunPhase::kRun    ? Phase::kRun
                      : next == RunPhase::kPost ? Phase::kPost
                                                : Phase::kPre);
  }

  Result<void> end(std::vector<ProfileFact>& facts, Json& metrics) override {
    if (sampler_ == nullptr)
      return {};
    RS_TRY(const SamplerSummary s, sampler_->stop());
    Json& out = metrics.at("samplers");
    out.at("backend") = s.backend;
    out.at("period_s") = s.period_s;
    out.at("run_s") = s.run_s;
    out.at("ticks") = s.ticks;
    out.at("missed") = s.missed;
    out.at("mean_read_us") = s.mean_read_us;
    out.at("cpu_s") = s.cpu_s;
    out.at("gpus") = Json::list(s.gpus, gpu_json);
    Json processes = Json::list();
    for (const GpuProcessSummary& p : s.processes) {
      processes.items.push_back(
          Json::object({{"gpu", p.gpu}, {"pid", p.pid}, {"peak_vram_bytes", p.peak_vram_b}}));
    }
    if (!processes.items.empty())
      out.at("processes") = std::move(processes);
    if (s.host.cpu_joules || s.host.dram_joules) {
      Json& host = out.at("host");
      host.at("cpu_joules") = s.host.cpu_joules;
      host.at("dram_joules") = s.host.dram_joules;
    }
    out.at("notes") = s.notes;
    add_facts(s, facts);
    if (s.write_error)
      return *s.write_error;
    return {};
  }

private:
  void add_facts(const SamplerSummary& s, std::vector<ProfileFact>& facts) const {
    const std::string all = fmt::format("{}", fmt::join(names_, ", "));
    const bool is_short = s.run_s < 2 * s.period_s;
    if (is_short)
      facts.push_back({all, profile::ShortRun{s.run_s, s.period_s}});
    if (s.missed > 0 && s.missed * 5 > s.ticks)
      facts.push_back({all, profile::MissedSamples{s.missed, s.ticks, s.mean_read_us}});
    for (const EnergyDoubt& doubt : energy_doubts(s))
      facts.push_back({all, profile::EnergyOfGpu{doubt}});
    profile::IdleDevices devices;
    for (const GpuSummary& g : s.gpus)
      if (g.max_busy_pct)
        (*g.max_busy_pct < 1 ? devices.idle : devices.busy)
            .push_back(fmt::format("{}", g.gpu.index));
    if (!devices.idle.empty() && !is_short)
      facts.push_back({all, std::move(devices)});
  }

  std::vector<std::string> names_;
  SamplerOptions options_;
  std::unique_ptr<Sampler> sampler_;
};

} // namespace

Result<std::unique_ptr<NativeTool>> make_sampler_tool(const Plan& plan,
                                                      const SamplerToolOptions& options) {
  SamplerOptions s;
  std::vector<std::string> names;
  s.backend.sysfs_root = options.sysfs_root;
  if (!options.devices.empty())
    s.devices = options.devices;
  std::chrono::nanoseconds asked{0};
  if (!options.sample_rate.empty()) {
    RS_TRY(asked, parse_period(options.sample_rate));
  }
  for (std::size_t i = 0; i < plan.tools.size(); ++i) {
    const ToolEntry& tool = plan.tools[i];
    if (tool.native != "sampler")
      continue;
    DocumentedCsv csv;
    csv.kind = tool.name.find("vram") != std::string::npos ? DocumentedKind::kVram
                                                           : DocumentedKind::kPower;
    csv.path = fmt::format("{}/{}/{}_output.csv", options.out, plan.folders[i], tool.name);
    csv.period = std::chrono::milliseconds(100);
    const std::map<std::string, std::string> variables(tool.env_vars.begin(), tool.env_vars.end());
    RS_CHECK(apply_sampler_environment(variables, csv));
    csv.path = fmt::format("{}/{}/{}", options.out, plan.folders[i],
                           std::filesystem::path(csv.path).filename().string());
    if (!options.devices.empty())
      csv.devices = options.devices;
    if (asked.count() > 0)
      csv.period = asked;
    csv.dual_gcd = csv.dual_gcd || options.dual_gcd;
    s.period = names.empty() ? csv.period : std::min(s.period, csv.period);
    names.push_back(tool.name);
    s.documented.push_back(std::move(csv));
  }
  if (names.empty())
    return std::unique_ptr<NativeTool>();
  s.samples_csv = options.out + "/gpu_samples.csv";
  s.host_csv = options.out + "/host_samples.csv";
  s.processes_csv = options.out + "/gpu_processes.csv";
  return std::unique_ptr<NativeTool>(std::make_unique<SamplerTool>(std::move(names), std::move(s)));
}

} // namespace rankscope
