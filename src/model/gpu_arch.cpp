#include "model/gpu_arch.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <simdjson.h>

namespace rankscope {
namespace {

const std::vector<GpuArch>& builtin() {
  static const std::vector<GpuArch> kArchs = {
      // max achievable rates: perf-report.md 1.3, memory 5.3 TB/s: AMD data sheet
      {"MI300X",
       5300,
       {{"matrix_fp16", 654},
        {"matrix_bf16", 708},
        {"matrix_fp32", 163},
        {"matrix_fp64", 81},
        {"matrix_fp8", 1273},
        {"matrix_int8", 2600},
        {"vector_fp16", 163},
        {"vector_bf16", 163},
        {"vector_fp32", 81},
        {"vector_fp64", 40}},
       "achievable rates, perf report reference; memory: AMD data sheet"},
      // same compute die as MI300X with 6 TB/s HBM3E: theoretical peaks of the AMD data sheet
      {"MI325X",
       6000,
       {{"matrix_fp16", 1307.4},
        {"matrix_bf16", 1307.4},
        {"matrix_fp32", 163.4},
        {"matrix_fp64", 163.4},
        {"matrix_fp8", 2614.9},
        {"matrix_int8", 2614.9},
        {"vector_fp32", 163.4},
        {"vector_fp64", 81.7}},
       "theoretical dense peaks, AMD MI325X data sheet"},
      // AMD MI355X data sheet, dense
      {"MI355X",
       8000,
       {{"matrix_fp16", 2516.6},
        {"matrix_bf16", 2516.6},
        {"matrix_fp32", 157.3},
        {"matrix_fp64", 78.6},
        {"matrix_fp8", 5033.2},
        {"matrix_fp4", 10066.3},
        {"vector_fp32", 157.3},
        {"vector_fp64", 78.6}},
       "theoretical dense peaks, AMD MI355X data sheet"},
      // NVIDIA H100 SXM data sheet, dense = half the printed sparse figures. matrix_fp32 = TF32
      {"H100",
       3350,
       {{"matrix_fp16", 989.4},
        {"matrix_bf16", 989.4},
        {"matrix_fp32", 494.7},
        {"matrix_fp64", 67},
        {"matrix_fp8", 1978.9},
        {"vector_fp16", 133.8},
        {"vector_bf16", 133.8},
        {"vector_fp32", 66.9},
        {"vector_fp64", 33.5}},
       "theoretical dense peaks, NVIDIA H100 SXM data sheet; matrix_fp32 is TF32"},
      // NVIDIA H200 data sheet: compute of H100 SXM, 4.8 TB/s
      {"H200",
       4800,
       {{"matrix_fp16", 989.4},
        {"matrix_bf16", 989.4},
        {"matrix_fp32", 494.7},
        {"matrix_fp64", 67},
        {"matrix_fp8", 1978.9},
        {"vector_fp16", 133.8},
        {"vector_bf16", 133.8},
        {"vector_fp32", 66.9},
        {"vector_fp64", 33.5}},
       "theoretical dense peaks, NVIDIA H200 SXM data sheet; matrix_fp32 is TF32"},
      // NVIDIA HGX B200 data sheet, one GPU, dense
      {"B200",
       8000,
       {{"matrix_fp16", 2250},
        {"matrix_bf16", 2250},
        {"matrix_fp32", 1125},
        {"matrix_fp64", 37},
        {"matrix_fp8", 4500},
        {"matrix_fp4", 9000},
        {"vector_fp32", 75},
        {"vector_fp64", 37}},
       "theoretical dense peaks, NVIDIA HGX B200 data sheet; matrix_fp32 is TF32"},
  };
  return kArchs;
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

} // namespace

std::vector<std::string> builtin_gpu_archs() {
  std::vector<std::string> names;
  for (const GpuArch& arch : builtin())
    names.push_back(arch.name);
  return names;
}

Result<GpuArch> load_gpu_arch(const std::string& name_or_path) {
  for (const GpuArch& arch : builtin())
    if (same(arch.name, name_or_path))
      return arch;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const auto status = parser.load(name_or_path).get(root);
  if (status == simdjson::IO_ERROR) {
    std::string names;
    for (const GpuArch& arch : builtin())
      names += (names.empty() ? "" : ", ") + arch.name;
    return Error{ErrorCode::kUnreadable, name_or_path, "no such file and no built-in GPU",
                 "built in: " + names};
  }
  if (status != simdjson::SUCCESS)
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

std::optional<Roofline> roofline(const GpuArch& arch, std::string_view spec, double flops,
                                 double bytes) {
  const auto peak = arch.tflops.find(spec);
  if (peak == arch.tflops.end() || !(flops > 0) || std::isnan(bytes) || !(arch.mem_bw_gbps > 0))
    return std::nullopt;
  const double compute_us = flops / (peak->second * 1e12) * 1e6;
  const double memory_us = bytes / (arch.mem_bw_gbps * 1e9) * 1e6;
  return Roofline{std::max(compute_us, memory_us), compute_us >= memory_us};
}

} // namespace rankscope
