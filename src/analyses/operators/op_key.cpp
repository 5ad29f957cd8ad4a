#include "analyses/operators/op_key.h"

#include "core/arg_text.h"

namespace rankscope {

std::size_t OpKeyHash::operator()(const OpKey& k) const {
  std::uint64_t h = 0;
  for (const std::uint64_t v :
       {std::uint64_t{k.name}, std::uint64_t{k.process_name}, std::uint64_t{k.process_label},
        std::uint64_t{k.thread_name}, std::uint64_t{k.dims}, std::uint64_t{k.types},
        std::uint64_t{k.strides}, std::uint64_t{k.concrete}, std::uint64_t{k.num_kernels},
        std::uint64_t{k.overlap_set}, std::uint64_t{k.module},
        std::uint64_t{k.recompute ? 1U : 0U}})
    h = (h ^ v) * 0x9e3779b97f4a7c15ULL + (h >> 29);
  return static_cast<std::size_t>(h);
}

OpKey op_key(const Trace& trace, EventId e, std::string_view category) {
  OpKey key;
  key.name = trace.events.name[e];
  key.category = category;
  const Track& track = trace.tracks[trace.events.track[e]];
  key.process_name = track.process_name;
  key.process_label = track.process_label;
  key.thread_name = track.thread_name;
  if (const OpArgs* a = trace.op(e)) {
    key.dims = a->input_dims;
    key.types = a->input_types;
    key.strides = a->input_strides;
    key.concrete = a->concrete_inputs;
  }
  return key;
}

std::string_view OpKeyTexts::repr(StrId json) {
  if (json == kEmptyStr)
    return {};
  const auto it = reprs_.find(json);
  if (it != reprs_.end())
    return it->second;
  return reprs_.emplace(json, python_repr(*trace_.arg(json), true)).first->second;
}

OpLabels OpKeyTexts::labels(const OpKey& key) {
  OpLabels out;
  out.name = trace_.strings.view(key.name);
  out.category = key.category;
  out.process_name = name_or_unknown(trace_, key.process_name);
  out.process_label = name_or_unknown(trace_, key.process_label);
  out.thread_name = name_or_unknown(trace_, key.thread_name);
  out.dims = repr(key.dims);
  out.types = repr(key.types);
  out.strides = repr(key.strides);
  out.concrete = repr(key.concrete);
  return out;
}

} // namespace rankscope
