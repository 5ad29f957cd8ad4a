// The variables that turn the libraries' logs on.
#include "collect/library_trace/trace_environment.h"
#include "base/ascii.h"
#include "collect/library_trace/library_trace.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

using Environment = std::map<std::string, std::string>;

/// Parses a mask: 6, 0x8000.
std::optional<std::uint64_t> mask_of(const std::string& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* const begin = text.data() + (hex ? 2 : 0);
  const char* const last = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [end, ec] = std::from_chars(begin, last, value, hex ? 16 : 10);
  return ec == std::errc() && end == last && begin != last ? std::optional(value) : std::nullopt;
}

class Change {
public:
  explicit Change(const Environment& child) : child_(child) {}

  void set(const std::string& name, const std::string& value) {
    const auto it = child_.find(name);
    if (it != child_.end() && it->second != value)
      out_.notes.push_back(
          fmt::format("{} is changed from \"{}\" to \"{}\"", name, it->second, value));
    out_.set[name] = value;
  }
  /// Sets bits; bits that the user set remain.
  void set_bits(const std::string& name, std::uint64_t bits, bool hex) {
    const auto it = child_.find(name);
    const std::uint64_t had = it == child_.end() ? 0 : mask_of(it->second).value_or(0);
    const std::uint64_t all = had | bits;
    out_.set[name] = hex ? fmt::format("{:#x}", all) : fmt::format("{}", all);
    if (it != child_.end() && had != all)
      out_.notes.push_back(
          fmt::format("{} is changed from \"{}\" to \"{}\"", name, it->second, out_.set[name]));
  }
  void unset(const std::string& name, const char* why) {
    const auto it = child_.find(name);
    if (it == child_.end())
      return;
    out_.unset.push_back(name);
    out_.notes.push_back(fmt::format("{} (\"{}\") is unset: {}", name, it->second, why));
  }
  [[nodiscard]] std::string had(const std::string& name) const {
    const auto it = child_.find(name);
    return it == child_.end() ? std::string() : it->second;
  }
  EnvironmentChange take() { return std::move(out_); }

private:
  const Environment& child_;
  EnvironmentChange out_;
};

/// Returns the user's subsystems plus INIT and COLL, each once. ALL already includes both.
std::string subsystems(const std::string& had) {
  std::string out = had;
  const std::string low = "," + lowercase(had) + ",";
  if (contains(low, ",all,"))
    return out;
  for (const char* wanted : {"INIT", "COLL"})
    if (!contains(low, "," + lowercase(wanted) + ","))
      out += (out.empty() ? "" : ",") + std::string(wanted);
  return out;
}

void set_nccl(Change& change, const std::string& folder, bool kernels) {
  const std::string level = lowercase(change.had("NCCL_DEBUG"));
  if (level != "info" && level != "trace") // TRACE includes INFO
    change.set("NCCL_DEBUG", "INFO");
  const std::string had = change.had("NCCL_DEBUG_SUBSYS");
  // ^X means everything except X, so it includes COLL unless X is COLL
  const std::string wanted = had.starts_with("^") ? had : subsystems(had);
  change.set("NCCL_DEBUG_SUBSYS",
             had.starts_with("^") && contains(lowercase(had), "coll") ? "INIT,COLL" : wanted);
  if (!folder.empty())
    change.set("NCCL_DEBUG_FILE", folder + "/nccl.%h.%p.log");
  if (kernels)
    change.set("RCCL_KERNEL_COLL_TRACE_ENABLE", "1");
}

void set_one(Change& change, TracedLibrary library, const std::string& folder, bool kernels) {
  switch (library) {
  case TracedLibrary::kRocblas:
    change.set_bits("ROCBLAS_LAYER", 6, false); // bench and profile, on standard error
    break;
  case TracedLibrary::kHipblaslt:
    change.unset("HIPBLASLT_LOG_LEVEL",
                 "HIPBLASLT_LOG_MASK has an effect only without this variable");
    change.set_bits("HIPBLASLT_LOG_MASK", 32, false);
    if (!folder.empty())
      change.set("HIPBLASLT_LOG_FILE", folder + "/hipblaslt.%i.log");
    break;
  case TracedLibrary::kMiopen:
    change.set("MIOPEN_ENABLE_LOGGING_CMD", "1");
    break;
  case TracedLibrary::kTensile:
    change.set_bits("TENSILE_DB", 0x8000, true);
    break;
  case TracedLibrary::kRccl:
    set_nccl(change, folder, kernels);
    break;
  case TracedLibrary::kCublas:
    change.set("CUBLAS_LOGINFO_DBG", "1");
    change.set("CUBLAS_LOGDEST_DBG", "stderr");
    break;
  case TracedLibrary::kCublaslt:
    change.set_bits("CUBLASLT_LOG_MASK", 2, false);
    if (!folder.empty())
      change.set("CUBLASLT_LOG_FILE", folder + "/cublaslt.%i.log");
    break;
  case TracedLibrary::kCudnn:
    change.set("CUDNN_LOGLEVEL_DBG", "3"); // version 9
    change.set("CUDNN_LOGINFO_DBG", "1");  // version 8
    change.set("CUDNN_LOGDEST_DBG", "stderr");
    break;
  }
}

} // namespace

EnvironmentChange trace_environment(const LibraryTraceOptions& options, const Environment& child) {
  Change change(child);
  for (const TracedLibrary library : options.libraries)
    set_one(change, library, options.log_folder, options.rccl_kernels);
  return change.take();
}

std::optional<TracedLibrary> traced_library(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, TracedLibrary>, 9> kNames = {
      {{"rocblas", TracedLibrary::kRocblas},
       {"hipblaslt", TracedLibrary::kHipblaslt},
       {"miopen", TracedLibrary::kMiopen},
       {"tensile", TracedLibrary::kTensile},
       {"rccl", TracedLibrary::kRccl},
       {"nccl", TracedLibrary::kRccl},
       {"cublas", TracedLibrary::kCublas},
       {"cublaslt", TracedLibrary::kCublaslt},
       {"cudnn", TracedLibrary::kCudnn}}};
  for (const auto& [known, library] : kNames)
    if (known == name)
      return library;
  return std::nullopt;
}

} // namespace rankscope
