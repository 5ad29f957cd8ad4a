#include "collect/profile/counter_sets.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace rankscope {
namespace {

using Group = std::vector<std::string_view>;
using Groups = std::vector<Group>;

/// On CDNA, eight counters of SQ, four of TCC and two of GRBM can be counted at once.
const Group kCompute = {"SQ_WAVES",          "SQ_INSTS_VALU",  "SQ_INSTS_SALU",   "SQ_INSTS_MFMA",
                        "SQ_BUSY_CU_CYCLES", "SQ_WAVE_CYCLES", "GRBM_GUI_ACTIVE", "GRBM_COUNT"};
const Group kMix = {"SQ_INSTS_VALU",    "SQ_INSTS_SALU",    "SQ_INSTS_SMEM",    "SQ_INSTS_LDS",
                    "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_WAIT_INST_ANY", "SQ_INSTS_BRANCH"};
const Group kAnyCompute = {"SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "GRBM_GUI_ACTIVE"};
const Group kAnyMix = {"SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS"};
const Group kAnyMemory = {"FETCH_SIZE", "WRITE_SIZE"};

bool is_cdna(std::string_view gfx) {
  return gfx == "gfx90a" || gfx.starts_with("gfx94") || gfx == "gfx950";
}

/// The L2's requests to memory are counted as EA on gfx90a and as EA0 from gfx940 on.
Group cdna_memory(std::string_view gfx) {
  return gfx == "gfx90a"
             ? Group{"TCC_HIT_sum", "TCC_MISS_sum", "TCC_EA_RDREQ_sum", "TCC_EA_WRREQ_sum"}
             : Group{"TCC_HIT_sum", "TCC_MISS_sum", "TCC_EA0_RDREQ_sum", "TCC_EA0_WRREQ_sum"};
}

/// Returns the architecture of a version: 90402 = gfx942, 90010 = gfx90a, 110003 = gfx1103.
std::string name_of(long version) {
  return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

} // namespace

std::vector<std::string> gpu_architectures(const std::string& sysfs_root) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(sysfs_root + "/class/kfd/kfd/topology/nodes", ec), end;
       !ec && it != end; it.increment(ec)) {
    std::ifstream in(it->path() / "properties");
    std::string key;
    long value = 0;
    while (in >> key >> value)
      if (key == "gfx_target_version" && value > 0 && value < 1'000'000)
        out.push_back(name_of(value));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Groups counter_groups(std::string_view set, std::string_view gfx) {
  const bool cdna = is_cdna(gfx);
  if (set == "compute")
    return {cdna ? kCompute : kAnyCompute};
  if (set == "mix")
    return {cdna ? kMix : kAnyMix};
  if (set == "memory")
    return {cdna ? cdna_memory(gfx) : kAnyMemory};
  if (set != "all")
    return {};
  if (!cdna)
    return {kAnyCompute, kAnyMix, kAnyMemory};
  return {kCompute, kMix, cdna_memory(gfx), {"FETCH_SIZE"}, {"WRITE_SIZE"}};
}

Result<void> place_counters(std::vector<ToolEntry>& tools, const std::string& gfx) {
  constexpr std::string_view kBegin = "{counters:";
  for (ToolEntry& tool : tools)
    for (std::size_t at = tool.cmd.find(kBegin); at != std::string::npos;
         at = tool.cmd.find(kBegin)) {
      const std::size_t end = tool.cmd.find('}', at);
      const std::string set = end == std::string::npos
                                  ? ""
                                  : tool.cmd.substr(at + kBegin.size(), end - at - kBegin.size());
      const Groups groups = counter_groups(set, gfx);
      if (groups.empty())
        return Error{ErrorCode::kUsage, tool.name,
                     fmt::format("'{}' in its command is not a set of counters", set),
                     "use compute, memory, mix or all"};
      std::string words = fmt::format("--pmc {}", fmt::join(groups[0], " "));
      if (groups.size() > 1) {
        const std::string name = fmt::format("counters_{}.txt", set);
        std::string text;
        for (const Group& group : groups)
          text += fmt::format("pmc: {}\n", fmt::join(group, " "));
        tool.files.emplace_back(name, text);
        words = "-i {out}/" + name;
      }
      tool.passes = std::max(tool.passes, static_cast<int>(groups.size()));
      tool.cmd.replace(at, end + 1 - at, words);
    }
  return {};
}

} // namespace rankscope
