#include "base/result.h"

namespace rankscope {

std::string Error::message() const {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!hint.empty())
    text += " (" + hint + ")";
  return text;
}

int exit_code(ErrorCode code) {
  switch (code) {
  case ErrorCode::kUsage:
    return 2;
  case ErrorCode::kUnreadable:
    return 3;
  case ErrorCode::kRegression:
    return 5;
  case ErrorCode::kOutput:
    return 6;
  case ErrorCode::kMissingTool:
    return 7;
  case ErrorCode::kInterrupted:
    return 130;
  case ErrorCode::kInternal:
    return 70;
  }
  return 70;
}

} // namespace rankscope
