// Reads amdgpu's files below /sys/class/drm/renderD*/device, without a library or privileges. Files
// stay open and are read again from their begin. A read that fails (EIO and EAGAIN while a GPU
// sleeps or is reset, ENODEV once it is unplugged) is a missing value.
#include "base/sort.h"
#include "collect/samplers/gpu_backend.h"
#include "collect/samplers/gpu_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr const char* kAmdVendor = "0x1002";
/// MI250X and MI250: a package has two dies and one power sensor; each die is a PCI device.
constexpr std::array<const char*, 2> kTwoDieDevices = {"0x7408", "0x740c"};

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
    line.pop_back();
  return line;
}

/// A small file that is read again and again.
class SmallFile {
public:
  SmallFile() = default;
  explicit SmallFile(const fs::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  SmallFile(SmallFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  SmallFile& operator=(SmallFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~SmallFile() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

protected:
  /// Returns up to `size` bytes from the begin of the file, in `buffer`; "" if it cannot be read.
  [[nodiscard]] std::string_view bytes(char* buffer, std::size_t size) const {
    const ssize_t n = fd_ < 0 ? -1 : ::pread(fd_, buffer, size, 0);
    return n <= 0 || gone() ? std::string_view()
                            : std::string_view(buffer, static_cast<std::size_t>(n));
  }

private:
  /// Returns whether the file was unlinked: a simulated tree removes a GPU in this way (the kernel
  /// reports ENODEV instead).
  [[nodiscard]] bool gone() const {
    struct stat s = {};
    return ::fstat(fd_, &s) == 0 && s.st_nlink == 0;
  }
  int fd_ = -1;
};

/// A file with one integer.
class NumberFile : public SmallFile {
public:
  using SmallFile::SmallFile;
  [[nodiscard]] std::optional<std::int64_t> read() const {
    std::array<char, 64> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by pread
    const std::string_view text = bytes(buffer.data(), buffer.size());
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    return ec == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> scaled(double factor) const {
    const auto value = read();
    return value ? std::optional(static_cast<double>(*value) * factor) : std::nullopt;
  }
};

/// amdgpu's table gpu_metrics.
class MetricsFile : public SmallFile {
public:
  using SmallFile::SmallFile;
  [[nodiscard]] std::optional<double> energy_j() const {
    std::array<char, 4096> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init)
    return energy_of_gpu_metrics(bytes(buffer.data(), buffer.size()));
  }
};

struct GpuFiles {
  NumberFile power_average, power_input, energy;
  NumberFile vram_used, vram_total, gpu_busy, mem_busy;
  NumberFile sclk, mclk, temp;
  MetricsFile metrics;
};

std::string bdf_of(const fs::path& device) {
  std::ifstream in(device / "uevent");
  const std::string key = "PCI_SLOT_NAME=";
  for (std::string line; std::getline(in, line);)
    if (line.rfind(key, 0) == 0)
      return line.substr(key.size());
  std::error_code ec;
  const std::string name = fs::canonical(device, ec).filename().string();
  return std::count(name.begin(), name.end(), ':') == 2 ? name : std::string();
}

std::vector<fs::path> sorted_entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->path().filename().string().rfind(prefix, 0) == 0)
      out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns hwmon's input file whose label of a kind (temp, freq) is `label`, else `fallback`.
fs::path labelled(const fs::path& hwmon, const std::string& kind, const std::string& label,
                  const std::string& fallback) {
  for (const fs::path& file : sorted_entries(hwmon, kind)) {
    const std::string name = file.filename().string();
    const std::size_t at = name.find("_label");
    if (at != std::string::npos && first_line(file) == label)
      return hwmon / (name.substr(0, at) + "_input");
  }
  return fallback.empty() ? fs::path() : hwmon / fallback;
}

GpuFiles open_files(const fs::path& device) {
  GpuFiles f;
  f.vram_used = NumberFile(device / "mem_info_vram_used");
  f.vram_total = NumberFile(device / "mem_info_vram_total");
  f.gpu_busy = NumberFile(device / "gpu_busy_percent");
  f.mem_busy = NumberFile(device / "mem_busy_percent");
  f.metrics = MetricsFile(device / "gpu_metrics");
  for (const fs::path& hwmon : sorted_entries(device / "hwmon", "hwmon")) {
    f.power_average = NumberFile(hwmon / "power1_average");
    f.power_input = NumberFile(hwmon / "power1_input");
    f.energy = NumberFile(hwmon / "energy1_input");
    f.sclk = NumberFile(labelled(hwmon, "freq", "sclk", "freq1_input"));
    f.mclk = NumberFile(labelled(hwmon, "freq", "mclk", ""));
    f.temp = NumberFile(labelled(hwmon, "temp", "junction", "temp1_input"));
    break;
  }
  return f;
}

class SysfsBackend final : public GpuBackend {
public:
  [[nodiscard]] std::string name() const override { return "sysfs"; }

  void find(const std::string& root) {
    struct Found {
      GpuIdentity gpu;
      fs::path device;
    };
    std::vector<Found> found;
    int partitions = 0;
    for (const fs::path& node : sorted_entries(fs::path(root) / "class" / "drm", "renderD")) {
      const fs::path device = node / "device";
      std::error_code ec;
      // partitions after the first one of a GPU are platform devices without sensors
      if (fs::canonical(device, ec).filename().string().rfind("amdgpu_xcp", 0) == 0)
        ++partitions;
      if (first_line(device / "vendor") != kAmdVendor)
        continue;
      Found f;
      f.device = device;
      f.gpu.bdf = bdf_of(device);
      f.gpu.uuid = first_line(device / "unique_id");
      f.gpu.name = first_line(device / "product_name");
      f.gpu.render_node = node.filename().string();
      f.gpu.partition = first_line(device / "current_compute_partition");
      const std::string id = first_line(device / "device");
      f.gpu.two_dies = std::ranges::find(kTwoDieDevices, id) != kTwoDieDevices.end();
      found.push_back(std::move(f));
    }
    sort_stably(found, [](const Found& a, const Found& b) { return a.gpu.bdf < b.gpu.bdf; });
    for (Found& f : found) {
      f.gpu.index = static_cast<int>(gpus_.size());
      files_.push_back(open_files(f.device));
      f.gpu.power_sensor = files_.back().power_average.open() || files_.back().power_input.open();
      gpus_.push_back(std::move(f.gpu));
    }
    pair_dies(gpus_);
    if (partitions > 0)
      notes_.push_back(fmt::format("{} partitions (amdgpu_xcp) have no sensors: their GPUs are "
                                   "sampled as a whole",
                                   partitions));
  }

  [[nodiscard]] GpuReading read(std::size_t i) override {
    const GpuFiles& f = files_[i];
    GpuReading r;
    r.power_w = f.power_average.scaled(1e-6); // uW
    if (!r.power_w)
      r.power_w = f.power_input.scaled(1e-6);
    r.energy_j = energy(i);
    r.vram_used_b = f.vram_used.read();
    r.vram_total_b = f.vram_total.read();
    r.gpu_busy_pct = f.gpu_busy.scaled(1);
    r.mem_busy_pct = f.mem_busy.scaled(1);
    r.sclk_mhz = f.sclk.scaled(1e-6); // Hz
    r.mclk_mhz = f.mclk.scaled(1e-6);
    r.temp_c = f.temp.scaled(1e-3); // millidegrees
    return r;
  }

  [[nodiscard]] std::optional<double> energy(std::size_t i) override {
    const GpuFiles& f = files_[i];
    if (f.energy.open())            // not of amdgpu; other drivers' hwmon has this file
      return f.energy.scaled(1e-6); // uJ
    return gpus_[i].power_sensor ? f.metrics.energy_j() : std::nullopt;
  }

private:
  std::vector<GpuFiles> files_;
};

} // namespace

Result<std::unique_ptr<GpuBackend>> open_sysfs_backend(const std::string& root) {
  auto backend = std::make_unique<SysfsBackend>();
  backend->find(root);
  if (backend->gpus().empty())
    return Error{ErrorCode::kMissingTool, root + "/class/drm", "no AMD GPU",
                 "is amdgpu loaded, are the files visible in this container?"};
  return std::unique_ptr<GpuBackend>(std::move(backend));
}

} // namespace rankscope
