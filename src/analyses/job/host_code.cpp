#include "analyses/job/host_code.h"

#include "base/ascii.h"

#include <initializer_list>

namespace rankscope {
namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    if (contains(text, part))
      return true;
  return false;
}

} // namespace

HostCode host_code_around(std::string_view range) {
  if (has_any(range, {"enumerate(DataLoader)", "torch/utils/data/dataloader.py"}))
    return HostCode::kLoader;
  if (has_any(range, {"gc.collect", "built-in function collect"}))
    return HostCode::kCollection;
  if (has_any(range, {"torch/serialization.py", "torch/distributed/checkpoint"}))
    return HostCode::kCheckpoint;
  // torch/_dynamo/eval_frame.py and torch/_inductor also run the compiled code
  if (range == "entire_frame_compile" ||
      has_any(range, {"(dynamo_timed)", "torch/_dynamo/convert_frame.py", "triton/compiler"}))
    return HostCode::kCompilation;
  return HostCode::kOther;
}

HostCode host_code_of(std::string_view range) {
  if (const HostCode code = host_code_around(range); code != HostCode::kOther)
    return code;
  if (has_any(range, {"DataLoader", "dataloader.py"}))
    return HostCode::kLoader;
  if (has_any(range, {"torch/_dynamo", "torch/_inductor", "PythonDispatchMode"}))
    return HostCode::kCompilation;
  return HostCode::kOther;
}

} // namespace rankscope
