#include "app/batch_replay.h"

namespace rankscope {
namespace {

Error missing() {
  return {ErrorCode::kMissingTool, "--replay", "this version of rankscope has no node replay",
          "leave --replay out for the report without it"};
}

} // namespace

Result<void> check_batch_replay() {
  return missing();
}

Result<std::vector<std::pair<BatchGroup, Table>>>
replay_batch(Session& /*session*/, const std::string& /*folder*/, const BatchFacts& /*facts*/) {
  return missing();
}

} // namespace rankscope
