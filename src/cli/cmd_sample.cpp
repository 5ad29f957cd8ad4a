// rankscope sample -o DIR: samples power, memory and load of GPUs and the host until a signal or
// the end of --duration.
#include "cli/command.h"
#include "collect/samplers/sampler.h"
#include "collect/samplers/sampler_json.h"
#include "findings/energy_findings.h"
#include "os/folder_lock.h"
#include "os/output_file.h"
#include "os/signals.h"
#include "writers/json_head.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <thread>

namespace rankscope {
namespace {

using namespace std::chrono_literals;

struct SampleFlags {
  SamplerOptions options;
  std::string out;
  std::string period = "0.1";
  double duration_s = 0; ///< 0: until a signal
  bool dual_gcd = false;
  bool list = false;
  bool force = false;
};

Result<void> list_gpus(Context& ctx, const SampleFlags& f) {
  RS_TRY(const auto backend, open_gpu_backend(f.options.backend));
  if (ctx.json) {
    ctx.out(headed_json("sample", gpu_list_json(*backend)) + "\n");
    return {};
  }
  std::string out = fmt::format("GPUs by {}:\n", backend->name());
  for (std::size_t i = 0; i < backend->gpus().size(); ++i) {
    const GpuIdentity& g = backend->gpus()[i];
    const GpuReading r = backend->read(i);
    out += fmt::format("{:3}  {}  {}  {}  {}", g.index, g.bdf, g.uuid.empty() ? "-" : g.uuid,
                       g.render_node, g.name);
    if (g.secondary())
      out += fmt::format("  power included in GPU {}", g.package);
    else if (r.power_w)
      out += fmt::format("  {:.1f} W", *r.power_w);
    out += "\n";
  }
  for (const std::string& note : backend->notes())
    out += "note: " + note + "\n";
  ctx.out(out);
  return {};
}

/// Waits until the duration has passed or a signal arrives, and warns as soon as a file cannot be
/// written. The sampler has its own schedule.
void wait(const Context& ctx, const Sampler& sampler, double duration_s) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(duration_s));
  const CancelToken token = interrupt_token();
  bool warned = false;
  while (!token.cancelled() && (duration_s <= 0 || std::chrono::steady_clock::now() < end)) {
    std::this_thread::sleep_for(5ms);
    if (warned)
      continue;
    if (const Result<void> written = sampler.problem(); !written) {
      ctx.warn(written.error().message() +
               "; the rows written before are complete, and sampling continues for the summary");
      warned = true;
    }
  }
}

Result<void> sample(Context& ctx, SampleFlags f) {
  if (f.list)
    return list_gpus(ctx, f);
  if (f.out.empty())
    return Error{ErrorCode::kUsage, "sample", "needs -o DIR", "or --list"};
  RS_TRY(f.options.period, parse_period(f.period));
  RS_CHECK(make_folder(f.out));
  RS_TRY(const FolderLock lock, FolderLock::take(f.out, f.out, "sample"));
  f.options.samples_csv = f.out + "/gpu_samples.csv";
  f.options.host_csv = f.out + "/host_samples.csv";
  f.options.processes_csv = f.out + "/gpu_processes.csv";
  std::error_code ec;
  if (!f.force && (std::filesystem::exists(f.options.samples_csv, ec) ||
                   std::filesystem::exists(f.options.host_csv, ec)))
    return Error{ErrorCode::kUsage, f.out, "has the samples of an earlier run",
                 "choose another folder, or replace them with --force"};
  if (f.options.devices != "none")
    f.options.documented = {
        {DocumentedKind::kPower, f.out + "/gpu_info_power_profiler_output.csv", "", 0ns,
         f.dual_gcd},
        {DocumentedKind::kVram, f.out + "/gpu_info_vram_profiler_output.csv", "", 0ns, f.dual_gcd}};
  const InterruptGrace grace(10s); // a signal ends the sampling, not the writing
  RS_TRY(const auto sampler, Sampler::start(f.options));
  sampler->phase(Phase::kRun);
  ctx.note(fmt::format("{} GPUs, every {} s, into {}{}", sampler->gpus().size(),
                       static_cast<double>(f.options.period.count()) / 1e9, f.out,
                       f.duration_s > 0 ? "" : "; press Ctrl-C to stop"));
  wait(ctx, *sampler, f.duration_s);
  RS_TRY(const SamplerSummary summary, sampler->stop());
  std::vector<Finding> findings;
  for (const EnergyDoubt& doubt : energy_doubts(summary))
    findings.push_back(energy_finding("", doubt));
  ctx.out(ctx.json ? headed_json("sample", sampler_json(summary, findings)) + "\n"
                   : sampler_text(summary, findings));
  if (summary.write_error)
    return *summary.write_error;
  return {};
}

Action setup_sample(FlagSet& app) {
  auto f = std::make_shared<SampleFlags>();
  app.add(options::output, f->out, "folder for the CSV files");
  app.add(options::devices, f->options.devices,
          "GPUs: all, none, visible, or indices (0,2-3), PCI addresses, UUIDs")
      .capture_default_str();
  app.add_option("--period", f->period, "time between samples: 0.1 (seconds), 100ms, 500us")
      .capture_default_str();
  app.add(options::duration, f->duration_s, "seconds to record (0: until Ctrl-C or SIGTERM)")
      .range(0.0, 1e9)
      .capture_default_str();
  app.add(options::dual_gcd, f->dual_gcd);
  app.add(options::force, f->force, "replace samples of an earlier run in the folder");
  app.add_flag("--list", f->list, "list the GPUs, then exit");
  in_group(app, "Source of the readings", [&] {
    const std::map<std::string, GpuSource> sources = {{"auto", GpuSource::kAuto},
                                                      {"sysfs", GpuSource::kSysfs},
                                                      {"amdsmi", GpuSource::kAmdSmi},
                                                      {"rocm-smi", GpuSource::kRocmSmi},
                                                      {"nvml", GpuSource::kNvml}};
    app.add_option_function(
           "--source",
           [f, sources](const std::string& name) { f->options.backend.source = sources.at(name); },
           "auto: nvml and the first of sysfs, amdsmi, rocm-smi that reads power")
        .one_of_any_case({"auto", "sysfs", "amdsmi", "rocm-smi", "nvml"});
    app.add(options::sysfs_root, f->options.backend.sysfs_root).capture_default_str();
    app.add_option("--amdsmi", f->options.backend.amdsmi, "libamd_smi.so to load");
    app.add_option("--rocm-smi", f->options.backend.rocm_smi, "librocm_smi64.so to load");
    app.add(options::nvml, f->options.backend.nvml);
  });
  return [f](Context& ctx) -> Result<void> { return sample(ctx, *f); };
}

} // namespace

const Command sample_command{"sample",
                             "record power, memory, load and temperature of GPUs and host",
                             "  rankscope sample -o samples --period 10ms --duration 60\n"
                             "  rankscope sample --list",
                             setup_sample};

} // namespace rankscope
