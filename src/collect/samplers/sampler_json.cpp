#include "collect/samplers/sampler_json.h"

#include "base/json_text.h"
#include "collect/finding_json.h"

#include <fmt/format.h>
#include <iterator>

namespace rankscope {
namespace {

std::string quoted(const std::string& text) {
  return fmt::format("\"{}\"", json_escaped(text));
}
std::string value(const std::optional<double>& v) {
  return v ? fmt::format("{:.6g}", *v) : "null";
}
std::string value(const std::optional<std::int64_t>& v) {
  return v ? fmt::format("{}", *v) : "null";
}
std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& t : texts)
    out += (out.empty() ? "" : ", ") + quoted(t);
  return "[" + out + "]";
}

std::string identity_json(const GpuIdentity& g) {
  return fmt::format("\"gpu\": {}, \"bdf\": {}, \"uuid\": {}, \"name\": {}, "
                     "\"render_node\": {}, \"partition\": {}, \"package\": {}",
                     g.index, quoted(g.bdf), quoted(g.uuid), quoted(g.name), quoted(g.render_node),
                     quoted(g.partition), g.package);
}

std::string gpu_json_sampler_json(const GpuSummary& g) {
  return fmt::format(
      "{{{}, \"samples\": {}, \"missing_power\": {}, "
      "\"mean_w\": {}, \"median_w\": {}, \"p95_w\": {}, \"max_w\": {}, \"energy_j\": {}, "
      "\"energy_low_j\": {}, \"energy_high_j\": {}, \"energy_source\": {}, "
      "\"counter_energy_j\": {}, \"sampled_energy_j\": {}, \"counter_resets\": {}, "
      "\"covered\": {:.6g}, \"lost_s\": {:.6g}, \"gap_s\": {:.6g}, \"peak_vram_b\": {}, "
      "\"vram_total_b\": {}, "
      "\"mean_busy_pct\": {}, \"peak_temp_c\": {}}}",
      identity_json(g.gpu), g.samples, g.missing_power, value(g.mean_w), value(g.median_w),
      value(g.p95_w), value(g.max_w), value(g.joules), value(g.joules_low), value(g.joules_high),
      quoted(g.energy_source()), value(g.counter_joules), value(g.sampled_joules), g.counter_resets,
      g.covered, g.lost_s, g.gap_s, value(g.peak_vram_b), value(g.vram_total_b),
      value(g.mean_busy_pct), value(g.peak_temp_c));
}

void add(std::string& line, const char* format, const std::optional<double>& v) {
  if (v)
    line += fmt::format(fmt::runtime(format), *v);
}

std::string gpu_text(const GpuSummary& g) {
  std::string line = fmt::format("GPU {} {}:", g.gpu.index, g.gpu.bdf);
  if (g.gpu.secondary())
    line += fmt::format(" power included in GPU {}", g.gpu.package);
  add(line, " mean {:.1f} W,", g.mean_w);
  add(line, " median {:.1f} W,", g.median_w);
  add(line, " p95 {:.1f} W,", g.p95_w);
  add(line, " max {:.1f} W,", g.max_w);
  add(line, g.counter_joules ? " {:.1f} J (energy counter)" : " {:.1f} J (samples)", g.joules);
  if (g.joules_low && !g.joules)
    line += fmt::format(" between {:.1f} and {:.1f} J (aliased)", *g.joules_low, *g.joules_high);
  if (g.lost_s > 0)
    line += fmt::format(" of {:.1f} % of the run", 100 * g.covered);
  if (g.peak_vram_b)
    line +=
        fmt::format("; memory up to {:.3f} GiB", static_cast<double>(*g.peak_vram_b) / (1 << 30));
  if (g.peak_vram_b && g.vram_total_b && *g.vram_total_b > 0)
    line += fmt::format(" ({:.1f} %)", 100.0 * static_cast<double>(*g.peak_vram_b) /
                                           static_cast<double>(*g.vram_total_b));
  add(line, "; busy {:.0f} %", g.mean_busy_pct);
  line += fmt::format("; {} samples", g.samples);
  if (g.missing_power > 0 && !g.gpu.secondary())
    line += fmt::format(", {} without power", g.missing_power);
  if (g.gap_s > 0)
    line += fmt::format(", gaps of {:.3f} s", g.gap_s);
  return line + "\n";
}

} // namespace

std::string gpu_list_json(GpuBackend& backend) {
  std::string gpus;
  for (std::size_t i = 0; i < backend.gpus().size(); ++i)
    gpus += fmt::format("{}{{{}, \"power_w\": {}}}", gpus.empty() ? "" : ", ",
                        identity_json(backend.gpus()[i]), value(backend.read(i).power_w));
  return fmt::format("{{\"backend\": {}, \"gpus\": [{}], \"notes\": {}}}", quoted(backend.name()),
                     gpus, list(backend.notes()));
}

std::string sampler_json(const SamplerSummary& s, std::span<const Finding> findings) {
  std::string gpus;
  for (const GpuSummary& g : s.gpus)
    gpus += (gpus.empty() ? "" : ", ") + gpu_json_sampler_json(g);
  std::string processes;
  for (const GpuProcessSummary& p : s.processes)
    processes += fmt::format("{}{{\"gpu\": {}, \"pid\": {}, \"peak_vram_b\": {}}}",
                             processes.empty() ? "" : ", ", p.gpu, p.pid, value(p.peak_vram_b));
  return fmt::format(
      "{{\"backend\": {}, \"period_s\": {:.6g}, \"run_s\": {:.6g}, \"ticks\": {}, "
      "\"missed\": {}, \"mean_read_us\": {:.6g}, \"max_read_us\": {:.6g}, "
      "\"worst_late_us\": {:.6g}, \"cpu_s\": {:.6g}, \"gpus\": [{}], "
      "\"processes\": [{}], "
      "\"host\": {{\"samples\": {}, \"mean_cpu_pct\": {}, \"max_cpu_pct\": {}, "
      "\"peak_memory_b\": {}, \"memory_total_b\": {}, "
      "\"cpu_energy_j\": {}, \"dram_energy_j\": {}}}, \"findings\": {}, "
      "\"write_error\": {}, \"notes\": {}, \"files\": {}}}",
      quoted(s.backend), s.period_s, s.run_s, s.ticks, s.missed, s.mean_read_us, s.max_read_us,
      s.worst_late_us, s.cpu_s, gpus, processes, s.host.samples, value(s.host.mean_cpu_pct),
      value(s.host.max_cpu_pct), value(s.host.peak_memory_b), value(s.host.memory_total_b),
      value(s.host.cpu_joules), value(s.host.dram_joules), findings_json(findings).dump(),
      s.write_error ? quoted(s.write_error->message()) : "null", list(s.notes), list(s.files));
}

std::string sampler_text(const SamplerSummary& s, std::span<const Finding> findings) {
  std::string out;
  for (const GpuSummary& g : s.gpus)
    out += gpu_text(g);
  for (const GpuProcessSummary& p : s.processes)
    if (p.peak_vram_b)
      out += fmt::format("GPU {} process {}: memory up to {:.3f} GiB\n", p.gpu, p.pid,
                         static_cast<double>(*p.peak_vram_b) / (1 << 30));
  if (s.host.samples > 0) {
    std::string line = "host:";
    add(line, " processors busy {:.1f} %,", s.host.mean_cpu_pct);
    if (s.host.peak_memory_b)
      line += fmt::format(" memory up to {:.3f} GiB,",
                          static_cast<double>(*s.host.peak_memory_b) / (1 << 30));
    add(line, " processors {:.1f} J (RAPL),", s.host.cpu_joules);
    add(line, " memory {:.1f} J (RAPL),", s.host.dram_joules);
    line.back() = '\n';
    out += line;
  }
  out += fmt::format(
      "{:.3f} s every {:.4g} s{}{}: {} ticks, {} missed, reading takes {:.0f} \u00b5s\n", s.run_s,
      s.period_s, s.backend.empty() ? "" : " by ", s.backend, s.ticks, s.missed, s.mean_read_us);
  for (const Finding& f : findings)
    out += "warning: " + f.sentence() + "\n";
  for (const std::string& note : s.notes)
    out += "note: " + note + "\n";
  return out;
}

} // namespace rankscope
