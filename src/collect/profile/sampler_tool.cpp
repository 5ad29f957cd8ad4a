#include "collect/profile/sampler_tool.h"

#include "collect/samplers/sampler.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

Json optional_number(const std::optional<double>& value) {
  return value ? Json::of(*value) : Json();
}

Json gpu_json(const GpuSummary& g) {
  Json out = Json::object();
  out.at("index") = Json::of(std::int64_t(g.gpu.index));
  out.at("bdf") = Json::of(g.gpu.bdf);
  out.at("uuid") = Json::of(g.gpu.uuid);
  out.at("name") = Json::of(g.gpu.name);
  out.at("samples") = Json::of(std::int64_t(g.samples));
  out.at("mean_w") = optional_number(g.mean_w);
  out.at("median_w") = optional_number(g.median_w);
  out.at("p95_w") = optional_number(g.p95_w);
  out.at("max_w") = optional_number(g.max_w);
  out.at("joules") = optional_number(g.joules);
  out.at("joules_low") = optional_number(g.joules_low);
  out.at("joules_high") = optional_number(g.joules_high);
  out.at("energy_source") = Json::of(std::string(g.energy_source()));
  out.at("counter_joules") = optional_number(g.counter_joules);
  out.at("sampled_joules") = optional_number(g.sampled_joules);
  out.at("counter_resets") = Json::of(std::int64_t(g.counter_resets));
  out.at("covered") = Json::of(g.covered);
  out.at("lost_s") = Json::of(g.lost_s);
  out.at("missing_power") = Json::of(std::int64_t(g.missing_power));
  out.at("gap_s") = Json::of(g.gap_s);
  out.at("peak_vram_bytes") = g.peak_vram_b ? Json::of(*g.peak_vram_b) : Json();
  out.at("mean_busy_pct") = optional_number(g.mean_busy_pct);
  return out;
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

  Result<void> end(std::vector<ProfileFact>& facts, Json& figures) override {
    if (sampler_ == nullptr)
      return {};
    RS_TRY(const SamplerSummary s, sampler_->stop());
    Json& out = figures.at("samplers");
    out.at("backend") = Json::of(s.backend);
    out.at("period_s") = Json::of(s.period_s);
    out.at("run_s") = Json::of(s.run_s);
    out.at("ticks") = Json::of(std::int64_t(s.ticks));
    out.at("missed") = Json::of(std::int64_t(s.missed));
    out.at("mean_read_us") = Json::of(s.mean_read_us);
    out.at("cpu_s") = Json::of(s.cpu_s);
    Json gpus = Json::list();
    for (const GpuSummary& g : s.gpus)
      gpus.items.push_back(gpu_json(g));
    out.at("gpus") = std::move(gpus);
    Json processes = Json::list();
    for (const GpuProcessSummary& p : s.processes) {
      Json one = Json::object();
      one.at("gpu") = Json::of(std::int64_t(p.gpu));
      one.at("pid") = Json::of(p.pid);
      one.at("peak_vram_bytes") = p.peak_vram_b ? Json::of(*p.peak_vram_b) : Json();
      processes.items.push_back(std::move(one));
    }
    if (!processes.items.empty())
      out.at("processes") = std::move(processes);
    if (s.host.cpu_joules || s.host.dram_joules) {
      Json& host = out.at("host");
      host.at("cpu_joules") = optional_number(s.host.cpu_joules);
      host.at("dram_joules") = optional_number(s.host.dram_joules);
    }
    out.at("notes") = Json::list(s.notes);
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
      if (g.mean_busy_pct)
        (*g.mean_busy_pct < 1 ? devices.idle : devices.busy)
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
