// OpKey: the grouping key of operator calls (name, category, process, thread, arguments), as ids.
#pragma once

#include "core/table.h"
#include "core/trace.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

struct OpKey {
  StrId name = 0;
  std::string_view category; ///< static text
  StrId process_name = 0, process_label = 0, thread_name = 0;
  StrId dims = 0, types = 0, strides = 0, concrete = 0;
  std::uint32_t num_kernels = 0;
  std::uint32_t overlap_set = 0; ///< of OverlapGroups; 0 = nothing overlapped
  bool has_args = false;         ///< an operator without arguments has blank cells
  bool recompute = false;
  bool operator==(const OpKey&) const = default;
};

struct OpKeyHash {
  std::size_t operator()(const OpKey& k) const;
};

[[nodiscard]] OpKey op_key(const Trace& trace, EventId e, std::string_view category);

/// A name of a process or thread; "Unknown" where the trace has none.
[[nodiscard]] inline std::string_view name_or_unknown(const Trace& trace, StrId id) {
  return id == kEmptyStr ? std::string_view("Unknown") : trace.strings.view(id);
}

/// The nine key cells of a row. Texts are made once per distinct argument.
class OpKeyTexts {
public:
  explicit OpKeyTexts(const Trace& trace) : trace_(trace) {}
  /// name, op category, process_name, process_label, thread_name, dims, type, strides, concrete.
  /// Views live as long as this object.
  [[nodiscard]] std::vector<Value> values(const OpKey& key);
  [[nodiscard]] std::string_view repr(StrId json);

private:
  const Trace& trace_;
  std::unordered_map<StrId, std::string> reprs_;
};

} // namespace rankscope
