#include "collect/samplers/device_choice.h"

#include "base/ascii.h"
#include "base/to_number.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace rankscope {
namespace {

std::string list_of(std::span<const GpuIdentity> gpus) {
  std::string out;
  for (const GpuIdentity& g : gpus)
    out +=
        fmt::format("{}{}{}{}", out.empty() ? "" : ", ", g.index, g.bdf.empty() ? "" : " ", g.bdf);
  return out;
}

std::optional<int> number(std::string_view text) {
  const auto value = to_number<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

bool same_address(const GpuIdentity& gpu, const std::string& word) {
  if (gpu.bdf.empty() || word.find(':') == std::string::npos)
    return false;
  const std::string bdf = lowercase(gpu.bdf);
  return bdf == word || (bdf.size() > word.size() && bdf.ends_with(":" + word));
}

/// Returns whether `word` is the GPU's uuid or at least 4 characters of its beginning, with or
/// without "GPU-" and "0x".
bool begins_uuid(const GpuIdentity& gpu, const std::string& word) {
  const auto bare = [](std::string text) {
    for (const std::string_view front : {"gpu-", "0x"})
      if (text.starts_with(front))
        text.erase(0, front.size());
    return text;
  };
  const std::string wanted = bare(word);
  return wanted.size() >= 4 && bare(lowercase(gpu.uuid)).starts_with(wanted);
}

/// Returns the positions that one word names.
std::vector<std::size_t> named(std::span<const GpuIdentity> gpus, std::string_view word) {
  std::vector<std::size_t> out;
  const std::size_t dash = word.find('-');
  const auto first = number(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
  if (first && last) {
    for (int i = *first; i <= *last; ++i) {
      const auto it = std::ranges::find(gpus, i, &GpuIdentity::index);
      if (it == gpus.end()) {
        out.clear(); // all GPUs of a range must exist
        break;
      }
      out.push_back(static_cast<std::size_t>(it - gpus.begin()));
    }
    if (!out.empty() || dash != std::string_view::npos)
      return out;
  }
  const std::string low = lowercase(word);
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (same_address(gpus[i], low) || begins_uuid(gpus[i], low))
      out.push_back(i);
  if (out.size() > 1) // dies of one package may share their uuid; other matches are ambiguous
    for (const std::size_t i : out)
      if (lowercase(gpus[i].uuid) != lowercase(gpus[out[0]].uuid))
        return {};
  return out;
}

void add_once(std::vector<std::size_t>& list, std::size_t i) {
  if (std::find(list.begin(), list.end(), i) == list.end())
    list.push_back(i);
}

GpuChoice everything(std::span<const GpuIdentity> gpus) {
  GpuChoice out;
  out.all = true;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    out.gpus.push_back(i);
  return out;
}

} // namespace

Result<GpuChoice> choose_gpus(std::span<const GpuIdentity> gpus, std::string_view text,
                              const std::string& visible) {
  text = trimmed(text, " \"");
  if (text == "all")
    return everything(gpus);
  if (text == "visible") {
    if (visible.empty())
      return everything(gpus);
    RS_TRY(GpuChoice chosen, choose_gpus(gpus, visible, ""));
    chosen.notes.push_back(fmt::format("devices: {} by *_VISIBLE_DEVICES", visible));
    return chosen;
  }
  GpuChoice out;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = trimmed(text.substr(0, comma), " \"");
    const std::vector<std::size_t> found = named(gpus, word);
    if (found.empty())
      return Error{ErrorCode::kUsage, "devices",
                   fmt::format("\"{}\" does not match any GPU here ({})", word, list_of(gpus)),
                   "all, visible, or indices, PCI addresses and uuids separated by commas"};
    for (const std::size_t i : found)
      add_once(out.gpus, i);
    if (comma == std::string_view::npos)
      return out;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::size_t> power_columns(std::span<const GpuIdentity> gpus, const GpuChoice& choice,
                                       std::vector<std::string>& notes) {
  std::vector<std::size_t> out;
  for (const std::size_t i : choice.gpus) {
    std::size_t sensor = i;
    if (gpus[i].secondary())
      for (std::size_t k = 0; k < gpus.size(); ++k)
        if (gpus[k].index == gpus[i].package)
          sensor = k;
    if (sensor != i && !choice.all)
      notes.push_back(
          fmt::format("GPU {} has no power sensor: the sensor of GPU {}, which measures the "
                      "complete package, is used",
                      gpus[i].index, gpus[sensor].index));
    add_once(out, sensor);
  }
  return out;
}

std::string visible_devices(const std::map<std::string, std::string>& environment) {
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                           "GPU_DEVICE_ORDINAL"})
    if (const auto it = environment.find(name); it != environment.end() && !it->second.empty())
      return it->second;
  return {};
}

} // namespace rankscope
