#include "collect/samplers/gpu_backend.h"

#include "os/shared_library.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <utility>

namespace rankscope {
namespace {

using Opened = Result<std::unique_ptr<GpuBackend>>;

/// Returns the GPU before `die` whose sensor measures both dies of their package; empty if there is
/// no such GPU.
std::optional<std::size_t> sensor_before(const std::vector<GpuIdentity>& gpus, std::size_t die,
                                         const std::set<std::size_t>& paired) {
  for (std::size_t i = die; i-- > 0;)
    if (gpus[i].power_sensor)
      return gpus[i].two_dies && paired.count(i) == 0 ? std::optional<std::size_t>(i)
                                                      : std::nullopt;
  return std::nullopt;
}

std::optional<std::size_t> same_package(const std::vector<GpuIdentity>& gpus, std::size_t die) {
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (i != die && gpus[i].power_sensor && !gpus[i].uuid.empty() && gpus[i].uuid == gpus[die].uuid)
      return i;
  return std::nullopt;
}

struct Source {
  GpuSource source;
  std::string library; ///< override
  Opened (*open)(const std::string& where);
};

std::vector<Source> sources(const GpuBackendOptions& o) {
  return {{GpuSource::kSysfs, o.sysfs_root, open_sysfs_backend},
          {GpuSource::kAmdSmi, o.amdsmi, open_amdsmi_backend},
          {GpuSource::kRocmSmi, o.rocm_smi, open_rocm_smi_backend},
          {GpuSource::kNvml, o.nvml, open_nvml_backend}};
}

bool reads_power(GpuBackend& backend) {
  for (std::size_t i = 0; i < backend.gpus().size(); ++i)
    if (backend.read(i).power_w)
      return true;
  return false;
}

bool lacks_counter(GpuBackend& backend) {
  for (std::size_t i = 0; i < backend.gpus().size(); ++i)
    if (!backend.energy(i) && backend.read(i).power_w)
      return true;
  return false;
}

/// For each GPU of `backend` without an energy counter, the GPU of `other` with the same PCI
/// address that has a counter; empty without one.
using CounterPlaces = std::vector<std::optional<std::size_t>>;

CounterPlaces counter_places(GpuBackend& backend, GpuBackend& other) {
  CounterPlaces out(backend.gpus().size());
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < other.gpus().size() && !out[i] && !backend.energy(i); ++k)
      if (!other.gpus()[k].bdf.empty() && other.gpus()[k].bdf == backend.gpus()[i].bdf &&
          other.energy(k))
        out[i] = k;
  return out;
}

/// The GPUs and readings of a source, with energy counters of another source. So the counter is
/// used although the first source lacks it, and the other values and the numbers of the GPUs do not
/// depend on the libraries that are installed.
class WithCounters final : public GpuBackend {
public:
  WithCounters(std::unique_ptr<GpuBackend> base, std::unique_ptr<GpuBackend> counters,
               CounterPlaces places)
      : base_(std::move(base)), counters_(std::move(counters)), places_(std::move(places)) {
    gpus_ = base_->gpus();
    notes_ = base_->notes();
  }
  [[nodiscard]] std::string name() const override {
    return base_->name() + " + " + counters_->name();
  }
  [[nodiscard]] GpuReading read(std::size_t i) override {
    GpuReading out = base_->read(i);
    if (!out.energy_j && places_[i] && out.power_w) // without power, the GPU may be lost
      out.energy_j = counters_->energy(*places_[i]);
    return out;
  }
  [[nodiscard]] std::optional<double> energy(std::size_t i) override {
    return places_[i] ? counters_->energy(*places_[i]) : base_->energy(i);
  }
  [[nodiscard]] bool tells_processes() const override { return base_->tells_processes(); }
  [[nodiscard]] std::vector<GpuProcess> processes(std::size_t i) override {
    return base_->processes(i);
  }

private:
  std::unique_ptr<GpuBackend> base_, counters_;
  CounterPlaces places_;
};

/// Adds the energy counters of `other` to a source, if it has some that the source lacks.
void add_counters(std::unique_ptr<GpuBackend>& source, std::unique_ptr<GpuBackend> other) {
  CounterPlaces places = counter_places(*source, *other);
  if (std::ranges::any_of(places, [](const auto& place) { return place.has_value(); }))
    source = std::make_unique<WithCounters>(std::move(source), std::move(other), std::move(places));
}

/// AMD GPUs followed by NVIDIA GPUs, numbered in one sequence.
class TwoVendors final : public GpuBackend {
public:
  TwoVendors(std::unique_ptr<GpuBackend> amd, std::unique_ptr<GpuBackend> nvidia)
      : parts_{std::move(amd), std::move(nvidia)} {
    gpus_ = parts_[0]->gpus();
    const auto shift = static_cast<int>(gpus_.size());
    for (GpuIdentity gpu : parts_[1]->gpus()) {
      gpu.index += shift;
      gpu.package += shift;
      gpus_.push_back(std::move(gpu));
    }
    for (const std::unique_ptr<GpuBackend>& part : parts_)
      notes_.insert(notes_.end(), part->notes().begin(), part->notes().end());
    notes_.push_back(fmt::format("GPUs of two vendors: GPUs up to {} are read by {}, and GPUs from "
                                 "{} on by {} (whose notes call GPU {} GPU 0)",
                                 shift - 1, parts_[0]->name(), shift, parts_[1]->name(), shift));
  }
  [[nodiscard]] std::string name() const override {
    return parts_[0]->name() + " + " + parts_[1]->name();
  }
  [[nodiscard]] GpuReading read(std::size_t i) override {
    const auto [part, at] = place(i);
    return parts_[part]->read(at);
  }
  [[nodiscard]] bool tells_processes() const override {
    return parts_[0]->tells_processes() || parts_[1]->tells_processes();
  }
  [[nodiscard]] std::vector<GpuProcess> processes(std::size_t i) override {
    const auto [part, at] = place(i);
    return parts_[part]->processes(at);
  }
  [[nodiscard]] bool several_vendors() const override { return true; }

private:
  [[nodiscard]] std::pair<std::size_t, std::size_t> place(std::size_t i) const {
    const std::size_t first = parts_[0]->gpus().size();
    return i < first ? std::pair<std::size_t, std::size_t>(0, i)
                     : std::pair<std::size_t, std::size_t>(1, i - first);
  }
  std::array<std::unique_ptr<GpuBackend>, 2> parts_;
};

} // namespace

void pair_dies(std::vector<GpuIdentity>& gpus) {
  std::set<std::size_t> paired;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].package = gpus[i].index;
    if (gpus[i].power_sensor)
      continue;
    std::optional<std::size_t> primary = same_package(gpus, i);
    if (!primary && gpus[i].two_dies) {
      primary = sensor_before(gpus, i, paired);
      if (primary)
        paired.insert(*primary);
    }
    if (primary)
      gpus[i].package = gpus[*primary].index;
  }
}

Opened open_gpu_backend(const GpuBackendOptions& options) {
  const bool simulated = options.sysfs_root != "/sys";
  std::vector<std::string> tried;
  std::vector<std::string> not_installed;
  std::array<Opened, 2> found = {Error{}, Error{}}; // by vendor: AMD, NVIDIA
  std::array<bool, 2> with_power = {false, false};
  std::array<bool, 2> complete = {false, false}; // with power and energy counters
  for (const Source& s : sources(options)) {
    if (options.source != GpuSource::kAuto && options.source != s.source)
      continue;
    const std::size_t vendor = s.source == GpuSource::kNvml ? 1 : 0;
    // with a simulated sysfs tree, libraries are not loaded automatically: they would report the
    // GPUs of the real machine
    if (complete[vendor] || (options.source == GpuSource::kAuto && simulated && s.library.empty()))
      continue;
    Opened opened = s.open(s.library);
    if (!opened) {
      const Error& error = opened.error();
      if (error.what == SharedLibrary::kNotInstalled)
        not_installed.push_back(error.where);
      else
        tried.push_back(error.where + ": " + error.what);
      continue;
    }
    if (with_power[vendor]) {
      add_counters(*found[vendor], std::move(*opened));
    } else {
      with_power[vendor] = options.source != GpuSource::kAuto || reads_power(**opened);
      if (with_power[vendor] || !found[vendor])
        found[vendor] = std::move(opened);
    }
    complete[vendor] = with_power[vendor] &&
                       (options.source != GpuSource::kAuto || !lacks_counter(**found[vendor]));
  }
  if (found[0] && found[1])
    return std::unique_ptr<GpuBackend>(
        std::make_unique<TwoVendors>(std::move(*found[0]), std::move(*found[1])));
  for (Opened& backend : found)
    if (backend)
      return std::move(*backend);
  if (!not_installed.empty())
    tried.push_back(
        fmt::format("{}: {}", fmt::join(not_installed, ", "), SharedLibrary::kNotInstalled));
  return Error{ErrorCode::kMissingTool, "GPUs",
               fmt::format("none can be read ({})", fmt::join(tried, "; ")),
               "use --devices none to sample only the host"};
}

} // namespace rankscope
