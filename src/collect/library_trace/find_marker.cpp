#include "collect/library_trace/log_matchers.h"

#include <array>

namespace rankscope {
namespace {

struct Needle {
  std::string_view text;
  LogMarker marker;
};

/// No text is the beginning of another text, so at most one matches at a position.
constexpr std::array<Needle, 12> kNeedles = {{
    {"rocblas-bench ", LogMarker::kRocblasBench},
    {"rocblas_function: ", LogMarker::kRocblasFunction},
    {"hipblaslt-bench ", LogMarker::kHipblasltBench},
    {"{ function: ", LogMarker::kHipblasltFunction},
    {"MIOpenDriver", LogMarker::kMiopenDriver},
    {"Running kernel: ", LogMarker::kTensileKernel},
    {"Library logic solution index of winning solution: ", LogMarker::kTensileSolution},
    {"NCCL INFO ", LogMarker::kNccl},
    {"[cublasLt][", LogMarker::kCublaslt},
    {"I! cuBLAS ", LogMarker::kCublasBegin},
    {"I! CuDNN ", LogMarker::kCudnnBegin},
    {"I! cuDNN ", LogMarker::kCudnnBegin},
}};

constexpr std::array<bool, 256> first_letters() {
  std::array<bool, 256> out = {};
  for (const Needle& n : kNeedles)
    out[static_cast<unsigned char>(n.text[0])] = true;
  return out;
}
constexpr std::array<bool, 256> kFirst = first_letters();

bool word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns whether `rest` is a line of layer 1: rocblas_NAME, then a comma without a blank after
/// it.
bool is_rocblas_trace(std::string_view rest) {
  if (!rest.starts_with("rocblas_"))
    return false;
  std::size_t end = 8;
  while (end < rest.size() && word_byte(rest[end]))
    ++end;
  return end > 8 && end + 1 < rest.size() && rest[end] == ',' && rest[end + 1] != ' ';
}

std::optional<FoundMarker> at(std::string_view line, std::size_t i) {
  const std::string_view rest = line.substr(i);
  for (const Needle& n : kNeedles)
    if (n.text[0] == rest[0] && rest.starts_with(n.text))
      return FoundMarker{n.marker, i};
  if (rest[0] == 'r' && (i == 0 || !word_byte(line[i - 1])) && is_rocblas_trace(rest))
    return FoundMarker{LogMarker::kRocblasTrace, i};
  return std::nullopt;
}

} // namespace

std::optional<FoundMarker> find_marker(std::string_view line) {
  if (line.starts_with("i!"))
    return FoundMarker{LogMarker::kCudaField, 0};
  constexpr std::size_t kShortest = 9;
  for (std::size_t i = 0; i + kShortest <= line.size(); ++i) {
    if (!kFirst[static_cast<unsigned char>(line[i])])
      continue;
    if (auto found = at(line, i))
      return found;
  }
  return std::nullopt;
}

} // namespace rankscope
