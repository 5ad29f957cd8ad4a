// rankscope synth OUT: a synthetic sweep with its ground truth.
#include "app/command_reports.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/flag_set.h"
#include "cli/synth_flags.h"
#include "cli/synth_switches.h"
#include "synth/synth.h"
#include "writers/writer.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <string>

namespace rankscope {
namespace {

struct SynthFlags {
  synth::Options options;
  std::string out;
  SynthSwitches switches;
  bool no_seq = false;
  SynthServer server;
};

constexpr std::array kVendors{std::pair("amd", false), std::pair("nvidia", true)};
constexpr Choice<bool> kVendor{"--vendor", "vendor of kernel and runtime names", kVendors};
constexpr std::array kFormats{std::pair("kineto", synth::TraceFormat::kKineto),
                              std::pair("rocpd", synth::TraceFormat::kRocpd),
                              std::pair("rpd", synth::TraceFormat::kRpd),
                              std::pair("rocprofv3-csv", synth::TraceFormat::kRocprofCsv),
                              std::pair("rocprofv3-json", synth::TraceFormat::kRocprofJson)};
constexpr Choice<synth::TraceFormat> kFormat{
    options::format.name,
    "kineto: JSON of the PyTorch profiler; others: the formats of AMD's tools", kFormats};
constexpr std::array kLayouts{std::pair("thread", false), std::pair("cu", true)};
constexpr Choice<bool> kLayout{
    options::layout.name,
    "folder names: <T>thread/nccl_<C>channels (thread) or <CU>cu_<T>threads (cu)", kLayouts};
constexpr std::array kClockScopes{std::pair("rank", false), std::pair("node", true)};
constexpr Choice<bool> kClockScope{"--clock-scope", "one clock per rank or per node", kClockScopes};

void add_form(FlagSet& app, SynthFlags& f) {
  app.add(options::gz, f.options.gz);
  app.add(kVendor, f.options.nvidia);
  app.add(kFormat, f.options.format);
  app.add(kLayout, f.options.cu_layout);
  app.add_flag("--no-seq", f.no_seq, "leave out the Seq argument, as older producers do");
}

void add_defects(FlagSet& app, SynthFlags& f) {
  synth::Options& o = f.options;
  app.add_option("--clock-offset-us", o.clock_offset_us, "largest clock offset, \u00b5s");
  app.add(kClockScope, o.clock_per_node);
  app.add_flag("--distinct-base", o.distinct_base, "use another baseTimeNanoseconds on each rank");
  app.add_option("--missing-rank", o.missing_ranks, "leave these ranks out").delimiter(',');
  app.add_option("--shift-window", o.shift_window, "leave out the first step of this rank");
  app.add_option("--fewer-steps", o.fewer_steps, "leave out the last step of this rank");
}

void add_times(FlagSet& app, SynthFlags& f) {
  synth::Options& o = f.options;
  app.add_option("--gemm-scale", o.gemm_scale, "factor on the time of every GEMM")
      .capture_default_str();
  app.add_option("--noise", o.noise, "relative standard deviation of kernel times")
      .capture_default_str();
  app.add_option("--contention", o.contention,
                 "factor on the slowdown of GEMMs that overlap collectives (0: no slowdown)")
      .capture_default_str();
  app.add_flag("--equal-configs", o.equal_configs, "make every configuration as fast as the first");
  app.add_flag("--equal-devices", o.equal_devices, "make the GPUs of all ranks equally fast");
  add_synth_switches(app, f.switches, o);
}

const char* kind_of(synth::TraceFormat format) {
  using synth::TraceFormat;
  return format == TraceFormat::kRocpd || format == TraceFormat::kRpd ? "databases"
         : format == TraceFormat::kRocprofCsv                         ? "CSV"
                                                                      : "JSON";
}

Action setup_synth(FlagSet& app) {
  auto f = std::make_shared<SynthFlags>();
  synth::Options& o = f->options;
  app.add_option("OUT", f->out, "folder for the sweep and ground_truth.json").required();
  app.add(options::force, o.force, "write into a folder that contains another sweep");
  in_group(app, "Size", [&] { add_synth_size(app, o); });
  in_group(app, "Form of the traces", [&] { add_form(app, *f); });
  in_group(app, "Clocks and missing data", [&] { add_defects(app, *f); });
  in_group(app, "Times", [&] { add_times(app, *f); });
  in_group(app, "Inference server", [&] { add_synth_server(app, f->server); });
  return [f](Context& ctx) -> Result<void> {
    synth::Options& options = f->options;
    options.seq = !f->no_seq;
    RS_CHECK(read_synth_switches(f->switches, options));
    if (f->server.program == "inference")
      return write_synth_server(ctx, f->server, options, f->out);
    const auto begin = std::chrono::steady_clock::now();
    RS_TRY(const synth::Summary s,
           synth::generate(options, f->out, ctx.threads,
                           [&ctx](const std::string& folder) { ctx.note("  " + folder); }));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (ctx.json)
      ctx.out(json_text(synth_report(f->out, s, seconds)));
    else
      ctx.out(fmt::format("{}, {} events, {:.1f} MB of {} in {:.2f} s ({:.0f} MB/s)\n"
                          "ground truth: {}\n",
                          counted(s.files, "trace", "traces"), s.events,
                          static_cast<double>(s.bytes) / 1e6, kind_of(options.format), seconds,
                          static_cast<double>(s.bytes) / 1e6 / seconds, s.truth_path));
    return {};
  };
}

} // namespace

const Command synth_command{
    "synth", "generate a multi-rank training sweep with known answers",
    "  rankscope synth sweep --threads 256,512 --channels 28,42,56,70 --ranks 8\n"
    "  rankscope synth slow --slow-config 512thread_28ch:1.05 --throttle 3:1.1 --slow-link 0-1:2\n"
    "  rankscope synth big --threads 256 --channels 28 --ranks 1 --events 3000000 --gz\n"
    "  rankscope synth server --program inference --node-ids",
    setup_synth};

} // namespace rankscope
