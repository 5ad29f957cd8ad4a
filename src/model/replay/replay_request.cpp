#include "model/replay/replay_request.h"

#include "model/ops/op_model.h"

namespace rankscope {

bool can_replay_family(std::string_view family) {
  return family == "GEMM" || family == "CONV";
}

ReplayRequest replay_request(std::string_view name, const ParsedArgs& args,
                             std::string_view kernel) {
  const OpInfo* const op = find_op(name);
  if (op == nullptr || !can_replay_family(op->family))
    return replay::no_call("neither a matrix product nor a convolution");
  if (!args.any())
    return replay::no_call("its arguments were not recorded (record_shapes)");
  if (args.absurd())
    return replay::no_call("recorded extents that no tensor has");
  return op->family == "GEMM" ? replay::gemm(name, args, kernel) : replay::conv(name, args);
}

} // namespace rankscope
