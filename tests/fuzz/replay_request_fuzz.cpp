// Input: the recorded arguments of an operator. The result must have either commands or a reason,
// and no byte of the arguments may be part of a command.
#include "fuzz/fuzz_target.h"
#include "model/ops/op_model.h"
#include "model/replay/replay_request.h"

#include <cstdlib>
#include <string>

namespace {

void check(const rankscope::ReplayRequest& request) {
  const auto commands = rankscope::replay_commands(request);
  if (commands.empty() == request.why.empty())
    std::abort();
  for (const std::string& command : commands)
    if (command.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-+. ") != std::string::npos)
      std::abort();
}

} // namespace

RS_FUZZ_TARGET(replay_request) {
  std::string parts[6]; // operator, shapes, types, strides, values, kernel
  rankscope::test::split_parts(bytes, parts);
  const rankscope::ParsedArgs args(parts[1], parts[2], parts[3], parts[4]);
  check(rankscope::replay_request(parts[0], args, parts[5]));
  for (const char* name : {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                           "aten::_scaled_mm", "aten::convolution", "aten::convolution_backward"})
    check(rankscope::replay_request(name, args, parts[5]));
}
