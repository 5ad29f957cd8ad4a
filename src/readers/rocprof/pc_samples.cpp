#include "readers/rocprof/pc_samples.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr auto kNames = std::to_array<std::string_view>(
    {"NONE", "NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY", "WAITCNT", "INTERNAL_INSTRUCTION",
     "BARRIER_WAIT", "ARBITER_NOT_WIN", "ARBITER_WIN_EX_STALL", "OTHER_WAIT", "SLEEP_WAIT"});
static_assert(kNames.size() == PcSamples::kReasons);
constexpr std::size_t kAll = 0;
constexpr std::size_t kIssued = 1;
constexpr std::size_t kFirstReason = 2;
constexpr std::size_t kOther = kFirstReason + PcSamples::kReasons;

} // namespace

int PcSamples::reason(std::int64_t number) {
  return number >= 0 && number < kReasons ? static_cast<int>(number) : -1;
}

int PcSamples::reason(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status == std::errc() && end == text.data() + text.size())
    return reason(number);
  constexpr std::string_view kCommon = "REASON_";
  if (const std::size_t at = text.find(kCommon); at != std::string_view::npos)
    text.remove_prefix(at + kCommon.size());
  const auto* const found = std::find(kNames.begin(), kNames.end(), text);
  return found == kNames.end() ? -1 : static_cast<int>(found - kNames.begin());
}

void PcSamples::add(std::int64_t kernel, std::optional<bool> issued, int reason) {
  Counts& counts = counts_[kernel];
  ++counts[kAll];
  if (!issued)
    return;
  if (*issued)
    ++counts[kIssued];
  else
    ++counts[reason < 0 ? kOther : kFirstReason + static_cast<std::size_t>(reason)];
}

std::uint64_t
PcSamples::put(TraceBuilder& out,
               const std::function<std::optional<EventId>(std::int64_t)>& event_of) const {
  std::uint64_t homeless = 0;
  for (const auto& [kernel, counts] : counts_) {
    const std::optional<EventId> event = event_of(kernel);
    if (!event) {
      homeless += counts[kAll];
      continue;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0)
        continue;
      const std::string name =
          i == kAll      ? "PC samples"
          : i == kIssued ? "PC samples issued"
                         : fmt::format("PC samples stalled: {}",
                                       i == kOther ? "(another reason)" : kNames[i - kFirstReason]);
      out.kernel_counter(*event, out.text(name), static_cast<double>(counts[i]));
    }
  }
  return homeless;
}

} // namespace rankscope
