#include "model/gpu_arch.h"

#include "base/ascii.h"
#include "os/whole_file.h"

#include <algorithm>
#include <cmath>
#include <simdjson.h>

namespace rankscope {
namespace {

struct Peak {
  const char* spec;
  double tflops;
  const char* source;
};
struct GpuModel {
  const char* name;
  std::int64_t multiprocessors;
  double mem_bw_gbps;
  const char* mem_source;
  const char* kind;
  std::vector<Peak> peaks;
};

// Sources: "CU x GHz x flops" is the number of units, the boost clock, and the flops per unit and
// clock. These numbers are from vendor documents (CDNA 3 and CDNA 4 white papers, H100 architecture
// white paper). Their product is the dense peak in the data sheet.
const std::vector<GpuModel>& gpu_models() {
  constexpr const char* kMeasured = "rate that GEMMs reach, GPU file of the reference report";
  // H100 SXM and H200 have the same compute die
  static const std::vector<Peak> kHopper = {{"matrix_fp16", 989.4, "132 SM x 1.83 GHz x 4096"},
                                            {"matrix_bf16", 989.4, "132 SM x 1.83 GHz x 4096"},
                                            {"matrix_fp32", 494.7, "132 SM x 1.83 GHz x 2048"},
                                            {"matrix_fp64", 66.9, "132 SM x 1.98 GHz x 256"},
                                            {"matrix_fp8", 1978.9, "132 SM x 1.83 GHz x 8192"},
                                            {"vector_fp16", 133.8, "132 SM x 1.98 GHz x 512"},
                                            {"vector_bf16", 133.8, "132 SM x 1.98 GHz x 512"},
                                            {"vector_fp32", 66.9, "132 SM x 1.98 GHz x 256"},
                                            {"vector_fp64", 33.5, "132 SM x 1.98 GHz x 128"}};
  static const std::vector<GpuModel> kGpuModels = {
      {"MI300X",
       304,
       5300,
       "AMD MI300X data sheet",
       "achievable rates",
       {{"matrix_fp16", 654, kMeasured},
        {"matrix_bf16", 708, kMeasured},
        {"matrix_fp32", 163, kMeasured},
        {"matrix_fp64", 81, kMeasured},
        {"matrix_fp8", 1273, kMeasured},
        {"matrix_int8", 2600, kMeasured},
        {"vector_fp16", 163, kMeasured},
        {"vector_bf16", 163, kMeasured},
        {"vector_fp32", 81, kMeasured},
        {"vector_fp64", 40, kMeasured}}},
      {"MI325X",
       304,
       6000,
       "AMD MI325X data sheet",
       "theoretical dense peaks",
       {{"matrix_fp16", 1307.4, "304 CU x 2.1 GHz x 2048"},
        {"matrix_bf16", 1307.4, "304 CU x 2.1 GHz x 2048"},
        {"matrix_fp32", 163.4, "304 CU x 2.1 GHz x 256"},
        {"matrix_fp64", 163.4, "304 CU x 2.1 GHz x 256"},
        {"matrix_fp8", 2614.9, "304 CU x 2.1 GHz x 4096"},
        {"matrix_int8", 2614.9, "304 CU x 2.1 GHz x 4096"},
        {"vector_fp32", 163.4, "304 CU x 2.1 GHz x 256"},
        {"vector_fp64", 81.7, "304 CU x 2.1 GHz x 128"}}},
      {"MI355X",
       256,
       8000,
       "AMD MI355X data sheet",
       "theoretical dense peaks",
       {{"matrix_fp16", 2516.6, "256 CU x 2.4 GHz x 4096"},
        {"matrix_bf16", 2516.6, "256 CU x 2.4 GHz x 4096"},
        {"matrix_fp32", 157.3, "256 CU x 2.4 GHz x 256"},
        {"matrix_fp64", 78.6, "256 CU x 2.4 GHz x 128"},
        {"matrix_fp8", 5033.2, "256 CU x 2.4 GHz x 8192"},
        {"matrix_fp4", 10066.3, "256 CU x 2.4 GHz x 16384"},
        {"vector_fp32", 157.3, "256 CU x 2.4 GHz x 256"},
        {"vector_fp64", 78.6, "256 CU x 2.4 GHz x 128"}}},
      {"H100", 132, 3350, "NVIDIA H100 SXM data sheet",
       "theoretical dense peaks; matrix_fp32 is TF32", kHopper},
      {"H200", 132, 4800, "NVIDIA H200 SXM data sheet",
       "theoretical dense peaks; matrix_fp32 is TF32", kHopper},
      {"B200",
       148,
       8000,
       "NVIDIA HGX B200 data sheet, 64 TB/s over 8 GPUs",
       "theoretical dense peaks; matrix_fp32 is TF32",
       {{"matrix_fp16", 2250,
         "NVIDIA HGX B200 data sheet, 36 PFLOPS sparse over 8 GPUs, half dense"},
        {"matrix_bf16", 2250,
         "NVIDIA HGX B200 data sheet, 36 PFLOPS sparse over 8 GPUs, half dense"},
        {"matrix_fp32", 1125,
         "NVIDIA HGX B200 data sheet, 18 PFLOPS sparse over 8 GPUs, half dense"},
        {"matrix_fp64", 37, "NVIDIA HGX B200 data sheet, 296 TFLOPS over 8 GPUs"},
        {"matrix_fp8", 4500,
         "NVIDIA HGX B200 data sheet, 72 PFLOPS sparse over 8 GPUs, half dense"},
        {"matrix_fp4", 9000, "NVIDIA HGX B200 data sheet, 72 PFLOPS dense over 8 GPUs"},
        {"vector_fp32", 75, "NVIDIA HGX B200 data sheet, 600 TFLOPS over 8 GPUs"},
        {"vector_fp64", 37, "NVIDIA HGX B200 data sheet, 296 TFLOPS over 8 GPUs"}}},
  };
  return kGpuModels;
}

const std::vector<GpuArch>& builtin() {
  static const std::vector<GpuArch> kArchs = [] {
    std::vector<GpuArch> out;
    for (const GpuModel& model : gpu_models()) {
      GpuArch arch;
      arch.name = model.name;
      arch.mem_bw_gbps = model.mem_bw_gbps;
      arch.source = std::string(model.kind) + "; memory: " + model.mem_source;
      for (const Peak& peak : model.peaks) {
        arch.tflops.emplace(peak.spec, peak.tflops);
        arch.sources.emplace(peak.spec, peak.source);
      }
      out.push_back(std::move(arch));
    }
    return out;
  }();
  return kArchs;
}

} // namespace

std::vector<std::string> builtin_gpu_archs() {
  std::vector<std::string> names;
  for (const GpuArch& arch : builtin())
    names.push_back(arch.name);
  return names;
}

std::string recognised_gpu(std::string_view device_name, std::int64_t multiprocessors) {
  const std::string name = lowercase(std::string(device_name));
  std::string found;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(" -_/", begin), name.size());
    const std::string word = name.substr(begin, end - begin);
    if (word == "pcie" || word == "nvl" || word == "mig")
      return "";
    for (const GpuModel& model : gpu_models())
      if (lowercase(model.name) == word &&
          (multiprocessors == 0 || multiprocessors == model.multiprocessors))
        found = model.name;
    begin = end + 1;
  }
  return found;
}

Result<GpuArch> load_gpu_arch(const std::string& name_or_path) {
  for (const GpuArch& arch : builtin())
    if (lowercase(arch.name) == lowercase(name_or_path))
      return arch;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const Result<std::string> text = read_input_file(name_or_path);
  if (!text) {
    std::string names;
    for (const GpuArch& arch : builtin())
      names += (names.empty() ? "" : ", ") + arch.name;
    return Error{ErrorCode::kUnreadable, name_or_path, "no such file and no built-in GPU",
                 "built in: " + names};
  }
  if (const auto status = parser.parse(*text).get(root); status != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, name_or_path, simdjson::error_message(status), ""};
  GpuArch arch;
  std::string_view name;
  arch.name = root["name"].get(name) == simdjson::SUCCESS ? std::string(name) : name_or_path;
  arch.source = name_or_path;
  simdjson::dom::object peaks;
  if (root["mem_bw_gbps"].get(arch.mem_bw_gbps) != simdjson::SUCCESS || !(arch.mem_bw_gbps > 0) ||
      root["max_achievable_tflops"].get(peaks) != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, name_or_path,
                 "expected mem_bw_gbps > 0 and an object max_achievable_tflops", ""};
  for (const auto field : peaks) {
    double value = 0;
    if (field.value.get(value) != simdjson::SUCCESS || !(value > 0))
      return Error{ErrorCode::kUnreadable, name_or_path,
                   "max_achievable_tflops." + std::string(field.key) + " is not a positive number",
                   ""};
    arch.tflops.emplace(std::string(field.key), value);
  }
  return arch;
}

std::string_view peak_spec(const GpuArch& arch, std::string_view spec) {
  if (arch.tflops.find(spec) != arch.tflops.end())
    return spec;
  constexpr std::string_view kAtLeast = "vector_fp32";
  const bool is_16_bit = spec == "vector_fp16" || spec == "vector_bf16";
  return is_16_bit && arch.tflops.find(kAtLeast) != arch.tflops.end() ? kAtLeast : "";
}

std::optional<Roofline> roofline(const GpuArch& arch, std::string_view spec, double flops,
                                 double bytes) {
  const std::string_view bound = peak_spec(arch, spec);
  if (bound.empty() || !(flops > 0) || std::isnan(bytes) || !(arch.mem_bw_gbps > 0))
    return std::nullopt;
  const double compute_us = flops / (arch.tflops.find(bound)->second * 1e12) * 1e6;
  const double memory_us = bytes / (arch.mem_bw_gbps * 1e9) * 1e6;
  if (bound != spec && compute_us > memory_us)
    return std::nullopt;
  return Roofline{std::max(compute_us, memory_us), compute_us >= memory_us};
}

} // namespace rankscope
