#include "collect/samplers/sampler.h"

#include "base/noncopyable.h"
#include "collect/clock_anchor.h"
#include "collect/samplers/documented_csv.h"
#include "collect/samplers/host_reader.h"
#include "collect/samplers/rapl_reader.h"
#include "collect/samplers/sample_file.h"
#include "collect/samplers/schedule.h"
#include "os/clock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <mutex>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

constexpr std::string_view kSamplesHeader =
    "t_mono_ns,t_unix_ns,phase,gpu,bdf,power_w,energy_j,vram_used_b,vram_total_b,gpu_busy_pct,"
    "read_us,mem_busy_pct,sclk_mhz,mclk_mhz,temp_c\n";
constexpr std::string_view kProcessesHeader = "t_mono_ns,t_unix_ns,phase,gpu,bdf,pid,vram_used_b\n";
constexpr std::string_view kHostHeader =
    "t_mono_ns,t_unix_ns,phase,cpu_busy_pct,memory_used_b,memory_total_b,load1,cpu_energy_j,"
    "dram_energy_j\n";

/// Part of a period; if reading takes longer, it is the reason for missed ticks.
constexpr double kBusyPart = 0.25;

/// A file descriptor that the destructor closes.
struct Descriptor : NonCopyable {
  explicit Descriptor(int value) : fd(value) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  int fd;
};

struct Documented {
  DocumentedKind kind = DocumentedKind::kPower;
  std::vector<DocumentedColumn> columns;
  SampleFile file;
  Schedule schedule;
};

} // namespace

struct Sampler::State {
  explicit State(SamplerOptions o)
      : options(std::move(o)), host(options.proc_root), rapl(options.backend.sysfs_root) {}

  Result<void> open();
  Result<void> open_files(const GpuChoice& choice, const std::string& visible);
  Result<void> first_sample();
  void run();
  void tick(std::int64_t now);
  void sample(Phase is);
  void scatter();
  void read_gpus();
  void write_gpus(std::string& rows, Phase phase);
  void write_host(Phase phase, std::int64_t t);
  void read_processes(Phase is);
  [[nodiscard]] std::int64_t next_ns() const;
  [[nodiscard]] SamplerSummary summary() const;
  [[nodiscard]] Result<void> problem() const;

  SamplerOptions options;
  std::unique_ptr<GpuBackend> backend; ///< empty: only the host is sampled
  std::vector<std::size_t> positions;  ///< of the sampled GPUs, in the order of the back end
  std::vector<GpuIdentity> chosen;
  std::vector<GpuAccumulator> accumulators;      ///< in the order of `chosen`
  std::vector<GpuReading> readings;              ///< by position
  std::vector<std::int64_t> read_at_ns, read_ns; ///< by position
  HostReader host;
  RaplReader rapl;
  RaplReading rapl_begin; ///< at the begin of the phase run
  HostSummary host_summary;
  double cpu_sum = 0;
  std::size_t cpu_samples = 0;
  std::optional<SampleFile> samples_file, host_file, processes_file;
  std::map<std::pair<int, std::int64_t>, std::optional<std::int64_t>> process_peaks;
  std::vector<Documented> documented;
  Schedule schedule;
  std::minstd_rand random;
  ClockAnchor anchor;
  std::vector<std::string> notes;

  std::mutex mutex; ///< protects all members above once the thread runs
  Phase phase = Phase::kPre;
  std::int64_t run_begin_ns = 0, run_end_ns = 0;
  std::int64_t read_sum_ns = 0, read_max_ns = 0;
  std::size_t reads = 0;
  std::int64_t thread_cpu_ns = 0;
  std::thread thread;
  Descriptor timer{-1}, wake{-1};
  std::optional<SamplerSummary> done;
};

Result<void> Sampler::State::open_files(const GpuChoice& choice, const std::string& visible) {
  if (!options.samples_csv.empty() && backend) {
    RS_TRY(SampleFile file, SampleFile::create(options.samples_csv, kSamplesHeader));
    samples_file.emplace(std::move(file));
  }
  if (!options.processes_csv.empty() && backend && backend->tells_processes()) {
    RS_TRY(SampleFile file, SampleFile::create(options.processes_csv, kProcessesHeader));
    processes_file.emplace(std::move(file));
  }
  if (!options.host_csv.empty()) {
    RS_TRY(SampleFile file, SampleFile::create(options.host_csv, kHostHeader));
    host_file.emplace(std::move(file));
  }
  for (const DocumentedCsv& csv : options.documented) {
    GpuChoice columns_of = choice;
    if (!csv.devices.empty() && backend) {
      RS_TRY(columns_of, choose_gpus(backend->gpus(), csv.devices, visible));
    }
    std::vector<DocumentedColumn> columns;
    if (backend)
      columns = documented_columns(csv.kind, csv.dual_gcd, backend->gpus(), columns_of, notes);
    RS_TRY(SampleFile file, SampleFile::create(csv.path, documented_header(csv.kind, columns)));
    for (const DocumentedColumn& c : columns)
      positions.insert(positions.end(), c.gpus.begin(), c.gpus.end());
    Schedule when;
    when.period_ns = csv.period.count() > 0 ? csv.period.count() : options.period.count();
    documented.push_back({csv.kind, std::move(columns), std::move(file), when});
  }
  return {};
}

Result<void> Sampler::State::open() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                           "GPU_DEVICE_ORDINAL"})
    if (const char* value = std::getenv(name); value != nullptr) // NOLINT(concurrency-mt-unsafe)
      environment[name] = value;
  const std::string visible = visible_devices(environment);
  GpuChoice choice;
  if (options.devices != "none") {
    RS_TRY(backend, open_gpu_backend(options.backend));
    if (options.devices == "visible" && backend->several_vendors())
      return Error{ErrorCode::kUsage, "visible",
                   "this host has GPUs of two vendors, and the *_VISIBLE_DEVICES of a vendor "
                   "numbers only its own GPUs",
                   "give the GPUs by UUID, PCI address or the numbers of rankscope sample --list"};
    RS_TRY(choice, choose_gpus(backend->gpus(), options.devices, visible));
    notes = backend->notes();
    notes.insert(notes.end(), choice.notes.begin(), choice.notes.end());
    // the GPU that measures for a named die is sampled with it
    std::vector<std::string> unused;
    positions = power_columns(backend->gpus(), choice, unused);
    positions.insert(positions.end(), choice.gpus.begin(), choice.gpus.end());
  }
  if (!rapl.problem().empty())
    notes.push_back("no energy of the processors: " + rapl.problem());
  RS_CHECK(open_files(choice, visible));
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  if (backend) {
    readings.resize(backend->gpus().size());
    read_at_ns.resize(readings.size());
    read_ns.resize(readings.size());
    for (const std::size_t i : positions) {
      chosen.push_back(backend->gpus()[i]);
      accumulators.emplace_back(chosen.back(), options.period.count());
    }
  }
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  schedule.period_ns = options.period.count();
  anchor = read_clock_anchor();
  return {};
}

void Sampler::State::read_gpus() {
  const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
  std::int64_t before = begin;
  for (const std::size_t i : positions) {
    read_at_ns[i] = before;
    readings[i] = backend->read(i);
    const std::int64_t after = clock_ns(CLOCK_MONOTONIC);
    read_ns[i] = after - before;
    before = after;
  }
  read_sum_ns += before - begin;
  read_max_ns = std::max(read_max_ns, before - begin);
  ++reads;
}

void Sampler::State::write_gpus(std::string& rows, Phase is) {
  const std::int64_t to_unix = anchor.unix_ns - anchor.monotonic_ns;
  for (const std::size_t i : positions) {
    const GpuReading& r = readings[i];
    const GpuIdentity& gpu = backend->gpus()[i];
    rows += fmt::format("{},{},{},{},{},", read_at_ns[i], read_at_ns[i] + to_unix, phase_name(is),
                        gpu.index, gpu.bdf);
    add_cell(rows, r.power_w, 3);
    add_cell(rows += ',', r.energy_j, 3);
    add_cell(rows += ',', r.vram_used_b);
    add_cell(rows += ',', r.vram_total_b);
    add_cell(rows += ',', r.gpu_busy_pct, 1);
    rows += fmt::format(",{:.1f}", static_cast<double>(read_ns[i]) / 1e3);
    add_cell(rows += ',', r.mem_busy_pct, 1);
    add_cell(rows += ',', r.sclk_mhz, 1);
    add_cell(rows += ',', r.mclk_mhz, 1);
    add_cell(rows += ',', r.temp_c, 1);
    rows += '\n';
  }
}

void Sampler::State::write_host(Phase is, std::int64_t t) {
  const HostReading r = host.read();
  const RaplReading energy = rapl.read();
  if (is == Phase::kRun && phase != Phase::kRun)
    rapl_begin = energy;
  if (phase == Phase::kRun && energy.cpu_j)
    host_summary.cpu_joules = *energy.cpu_j - rapl_begin.cpu_j.value_or(0);
  if (phase == Phase::kRun && energy.dram_j)
    host_summary.dram_joules = *energy.dram_j - rapl_begin.dram_j.value_or(0);
  if (phase == Phase::kRun || is == Phase::kRun) {
    ++host_summary.samples;
    if (r.cpu_busy_pct && phase == Phase::kRun) { // the value covers the time up to now
      cpu_sum += *r.cpu_busy_pct;
      ++cpu_samples;
      host_summary.max_cpu_pct = std::max(host_summary.max_cpu_pct.value_or(0), *r.cpu_busy_pct);
    }
    if (r.memory_used_b)
      host_summary.peak_memory_b =
          std::max(host_summary.peak_memory_b.value_or(0), *r.memory_used_b);
    host_summary.memory_total_b = r.memory_total_b;
  }
  if (!host_file)
    return;
  std::string row =
      fmt::format("{},{},{},", t, t + anchor.unix_ns - anchor.monotonic_ns, phase_name(is));
  add_cell(row, r.cpu_busy_pct, 2);
  add_cell(row += ',', r.memory_used_b);
  add_cell(row += ',', r.memory_total_b);
  add_cell(row += ',', r.load1, 2);
  add_cell(row += ',', energy.cpu_j, 3);
  add_cell(row += ',', energy.dram_j, 3);
  host_file->append(row + "\n");
}

void Sampler::State::read_processes(Phase is) {
  const bool counts = phase == Phase::kRun || is == Phase::kRun;
  std::string rows;
  for (const std::size_t i : positions) {
    const GpuIdentity& gpu = backend->gpus()[i];
    const std::int64_t at = clock_ns(CLOCK_MONOTONIC);
    for (const GpuProcess& p : backend->processes(i)) {
      rows += fmt::format("{},{},{},{},{},{}", at, at + anchor.unix_ns - anchor.monotonic_ns,
                          phase_name(is), gpu.index, gpu.bdf, p.pid);
      add_cell(rows += ',', p.vram_used_b);
      rows += '\n';
      if (!counts)
        continue;
      std::optional<std::int64_t>& peak = process_peaks[{gpu.index, p.pid}];
      if (p.vram_used_b)
        peak = std::max(peak.value_or(0), *p.vram_used_b);
    }
  }
  if (!rows.empty())
    processes_file->append(rows);
}

/// Takes one sample of everything. `is` is the phase from now on, `phase` the phase up to now.
void Sampler::State::sample(Phase is) {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (backend) {
    read_gpus();
    for (std::size_t k = 0; k < positions.size(); ++k)
      accumulators[k].add(read_at_ns[positions[k]], phase, is, readings[positions[k]]);
    if (samples_file) {
      std::string rows;
      write_gpus(rows, is);
      samples_file->append(rows);
    }
    if (processes_file)
      read_processes(is);
  }
  write_host(is, now);
}

/// Without an energy counter, the energy is computed from the samples. They are taken at random
/// times, one per period, so that the integral of the samples has no bias, whatever the load, and
/// its standard error can be estimated (GpuAccumulator). At regular times, all samples of a load
/// with the same period could have the same wrong value. The time must be random in the complete
/// period: otherwise no sample would be in a part of the cycle of such a load.
void Sampler::State::scatter() {
  if (std::any_of(positions.begin(), positions.end(),
                  [this](std::size_t i) { return readings[i].power_w && !readings[i].energy_j; }))
    schedule.scatter(random);
}

void Sampler::State::tick(std::int64_t now) {
  const bool all = schedule.due(now);
  if (all) {
    sample(phase);
    scatter();
  }
  bool fresh = all;
  for (Documented& d : documented) {
    if (!d.schedule.due(now))
      continue;
    if (!fresh && backend) {
      read_gpus();
      fresh = true;
    }
    const std::int64_t unix_ns = now + anchor.unix_ns - anchor.monotonic_ns;
    d.file.append(documented_row(d.kind, d.columns, unix_ns, readings));
  }
}

std::int64_t Sampler::State::next_ns() const {
  std::int64_t next = schedule.tick_ns();
  for (const Documented& d : documented)
    next = std::min(next, d.schedule.next_ns);
  return next;
}

/// The sampling thread. It uses an absolute timer, so that a late tick does not delay the next
/// ones, and a wake-up for the end.
void Sampler::State::run() {
  std::array<pollfd, 2> fds = {pollfd{timer.fd, POLLIN, 0}, pollfd{wake.fd, POLLIN, 0}};
  while (true) {
    itimerspec at = {};
    {
      const std::lock_guard lock(mutex);
      const std::int64_t next = next_ns();
      at.it_value = {next / 1'000'000'000, next % 1'000'000'000};
    }
    ::timerfd_settime(timer.fd, TFD_TIMER_ABSTIME, &at, nullptr);
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
      break;
    if (fds[1].revents != 0)
      break;
    if (fds[0].revents == 0)
      continue;
    const std::lock_guard lock(mutex);
    tick(clock_ns(CLOCK_MONOTONIC));
  }
  const std::lock_guard lock(mutex);
  thread_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

Result<void> Sampler::State::first_sample() {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  schedule.next_ns = now;
  for (Documented& d : documented)
    d.schedule.next_ns = now;
  tick(now);
  if (backend && std::none_of(positions.begin(), positions.end(), [&](std::size_t i) {
        return readings[i].power_w || readings[i].vram_used_b || readings[i].gpu_busy_pct;
      }))
    return Error{ErrorCode::kMissingTool, "GPUs",
                 fmt::format("{} gave no value in the first sample", backend->name()), ""};
  return problem();
}

Result<void> Sampler::State::problem() const {
  for (const std::optional<SampleFile>* file : {&samples_file, &host_file, &processes_file})
    if (*file)
      RS_CHECK((*file)->problem());
  for (const Documented& d : documented)
    RS_CHECK(d.file.problem());
  return {};
}

SamplerSummary Sampler::State::summary() const {
  SamplerSummary out;
  out.backend = backend ? backend->name() : "";
  out.period_s = static_cast<double>(options.period.count()) / 1e9;
  out.run_s = run_begin_ns > 0 ? static_cast<double>(run_end_ns - run_begin_ns) / 1e9 : 0;
  out.ticks = schedule.ticks;
  out.missed = schedule.missed;
  out.worst_late_us = static_cast<double>(schedule.worst_late_ns) / 1e3;
  if (reads > 0)
    out.mean_read_us = static_cast<double>(read_sum_ns) / 1e3 / static_cast<double>(reads);
  out.max_read_us = static_cast<double>(read_max_ns) / 1e3;
  out.cpu_s = static_cast<double>(thread_cpu_ns) / 1e9;
  for (const GpuAccumulator& a : accumulators)
    out.gpus.push_back(a.summary());
  for (const auto& [key, peak] : process_peaks)
    out.processes.push_back({key.first, key.second, peak});
  out.host = host_summary;
  if (cpu_samples > 0)
    out.host.mean_cpu_pct = cpu_sum / static_cast<double>(cpu_samples);
  if (Result<void> written = problem(); !written)
    out.write_error = std::move(written.error());
  out.notes = notes;
  if (out.missed * 10 > out.ticks)
    out.notes.push_back(fmt::format(
        "{} of {} ticks were missed: {}", out.missed, out.missed + out.ticks,
        out.mean_read_us > kBusyPart * out.period_s * 1e6
            ? fmt::format(
                  "reading takes {:.0f} \u00b5s of a period of {:.0f} \u00b5s; sample less often",
                  out.mean_read_us, out.period_s * 1e6)
            : std::string("the sampler did not run: it was stopped or the machine was busy")));
  for (const std::optional<SampleFile>* file : {&samples_file, &host_file, &processes_file})
    if (*file)
      out.files.push_back((*file)->path());
  for (const Documented& d : documented)
    out.files.push_back(d.file.path());
  return out;
}

Sampler::Sampler(std::unique_ptr<State> state) : state_(std::move(state)) {}

Sampler::~Sampler() {
  (void)stop();
}

Result<std::unique_ptr<Sampler>> Sampler::start(SamplerOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  RS_CHECK(state->open());
  state->timer.fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  state->wake.fd = ::eventfd(0, EFD_CLOEXEC);
  if (state->timer.fd < 0 || state->wake.fd < 0)
    return Error{ErrorCode::kOutput, "sampler", "cannot create a timer", ""};
  RS_CHECK(state->first_sample());
  try {
    state->thread = std::thread([s = state.get()] { s->run(); });
  } catch (const std::system_error& e) {
    return Error{ErrorCode::kOutput, "sampler", fmt::format("cannot start a thread: {}", e.what()),
                 ""};
  }
  return std::unique_ptr<Sampler>(new Sampler(std::move(state)));
}

void Sampler::phase(Phase next) {
  const std::lock_guard lock(state_->mutex);
  if (next == state_->phase)
    return;
  state_->sample(next);
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (next == Phase::kRun)
    state_->run_begin_ns = now;
  else if (state_->phase == Phase::kRun)
    state_->run_end_ns = now;
  state_->phase = next;
}

Result<SamplerSummary> Sampler::stop() {
  if (!state_->done && state_->thread.joinable()) {
    const std::uint64_t increment = 1;
    [[maybe_unused]] const auto n = ::write(state_->wake.fd, &increment, sizeof increment);
    state_->thread.join();
    if (state_->phase == Phase::kRun) {
      state_->sample(Phase::kRun);
      state_->run_end_ns = clock_ns(CLOCK_MONOTONIC);
    }
    state_->done = state_->summary();
  }
  if (!state_->done)
    return Error{ErrorCode::kInternal, "sampler", "was never started", ""};
  return *state_->done;
}

Result<void> Sampler::problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem();
}

const std::vector<GpuIdentity>& Sampler::gpus() const {
  return state_->chosen;
}

std::string Sampler::backend() const {
  return state_->backend ? state_->backend->name() : "";
}

} // namespace rankscope
