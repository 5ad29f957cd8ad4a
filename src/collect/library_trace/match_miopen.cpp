// Parses MIOpen's log: driver commands that repeat a call.
#include "collect/library_trace/log_matchers.h"
#include "collect/library_trace/log_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

using MatchMiopenOptions = std::vector<CommandOption>;

/// Returns LogCmdConvolution of "[LogCmdConvolution]", or FUNC of "FUNC:" in very old builds; ""
/// for a command that a user typed.
std::string_view logging_function(std::string_view before) {
  const std::size_t command = before.rfind("Command [");
  if (command != std::string_view::npos) {
    const std::string_view rest = before.substr(command + 9);
    const std::size_t end = rest.find(']');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  }
  before = trimmed(before);
  if (!before.ends_with(':'))
    return {};
  before.remove_suffix(1);
  return before.substr(before.find_last_of(" \t") + 1);
}

std::string type_of(std::string_view operation) {
  for (const auto& [suffix, type] : {std::pair<std::string_view, const char*>{"bfp16", "bf16"},
                                     {"bf16", "bf16"},
                                     {"fp16", "f16"},
                                     {"int8", "i8"},
                                     {"fp8", "f8"},
                                     {"bfp8", "bf8"}})
    if (operation.ends_with(suffix))
      return type;
  return "f32";
}

double number(const MatchMiopenOptions& options, std::string_view name, std::int64_t otherwise) {
  return static_cast<double>(to_number(option_value(options, name)).value_or(otherwise));
}

double output_size(double in, double filter, double pad, double stride, double dilation) {
  const double out = (in + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
  return out > 0 ? std::floor(out) : 0;
}

/// Describes a convolution. Its flops are 2 N K C/g Z Y X times the size of the output, for each
/// requested direction. A transposed convolution has as many products per element of its input.
/// Example: n 1, c 1, 8x8, k 1, 3x3, pad 1: 2 * 9 * 64 = 1152 flops, as MIOpenDriver's own flopCnt.
bool describe_conv(const MatchMiopenOptions& o, LibraryCall& call) {
  for (const std::string_view name : {"-n", "-c", "-H", "-W", "-k", "-y", "-x"})
    if (to_number(option_value(o, name)).value_or(0) <= 0)
      return false;
  const double n = number(o, "-n", 1), c = number(o, "-c", 1), k = number(o, "-k", 1);
  const double h = number(o, "-H", 1), w = number(o, "-W", 1), d = number(o, "--in_d", 1);
  const double y = number(o, "-y", 1), x = number(o, "-x", 1), z = number(o, "--fil_d", 1);
  const double groups = std::max(1.0, number(o, "-g", 1));
  const double ho = output_size(h, y, number(o, "-p", 0), number(o, "-u", 1), number(o, "-l", 1));
  const double wo = output_size(w, x, number(o, "-q", 0), number(o, "-v", 1), number(o, "-j", 1));
  const double depth = output_size(d, z, number(o, "--pad_d", 0), number(o, "--conv_stride_d", 1),
                                   number(o, "--dilation_d", 1));
  const bool transposed = option_value(o, "-m") == "trans";
  const auto direction = to_number<unsigned>(option_value(o, "-F")).value_or(0);
  int directions = 0;
  for (const unsigned bit : {1U, 2U, 4U})
    directions += (direction & bit) != 0 ? 1 : 0;
  const double outputs = transposed ? n * c * h * w * d : n * k * ho * wo * depth;
  const double per_output = z * y * x * (transposed ? k : c) / groups;
  call.flops = 2 * outputs * per_output * (directions == 0 ? 1 : directions);
  const double size = element_bytes(call.dtype);
  const double filter = k * c / groups * z * y * x;
  if (!transposed)
    call.bytes = (n * c * h * w * d + filter + n * k * ho * wo * depth) * size *
                 (directions == 0 ? 1 : directions);
  call.problem = fmt::format("n={} c={} h={} w={} k={} y={} x={}", n, c, h, w, k, y, x);
  if (d > 1 || z > 1)
    call.problem += fmt::format(" d={} z={}", d, z);
  if (groups != 1)
    call.problem += fmt::format(" g={}", groups);
  call.operation += direction == 1   ? " forward"
                    : direction == 2 ? " backward data"
                    : direction == 4 ? " backward weights"
                                     : "";
  call.layout = option_value(o, "--in_layout");
  return true;
}

void describe_other(const MatchMiopenOptions& o, LibraryCall& call) {
  for (const auto& [name, key] :
       {std::pair<std::string_view, const char*>{"-n", "n"}, {"-c", "c"}, {"-H", "h"}, {"-W", "w"}})
    if (const std::string_view v = option_value(o, name); !v.empty())
      call.problem += fmt::format("{}{}={}", call.problem.empty() ? "" : " ", key, v);
  call.layout = option_value(o, "--layout");
}

} // namespace

bool is_miopen_log(std::string_view before) {
  const std::string_view function = logging_function(before);
  return !function.empty() && (before.find("MIOpen") != std::string_view::npos ||
                               function.starts_with("Log") || function.starts_with("miopen"));
}

bool is_miopen_find(std::string_view before) {
  return logging_function(before).find("Find") != std::string_view::npos;
}

std::optional<ParsedCall> parse_miopen(std::string_view before, std::string_view text) {
  const std::string_view function = logging_function(before);
  if (text.find("MIOpenDriver", 20) != std::string_view::npos)
    return std::nullopt;
  std::string_view rest = text;
  (void)next_word(rest); // MIOpenDriver or MIOpenDriver.exe
  const std::string_view operation = next_word(rest);
  const auto options = parse_options(rest, false);
  if (function.empty() || operation.empty() || operation.front() == '-' || !options ||
      options->empty())
    return std::nullopt;
  ParsedCall out;
  LibraryCall& c = out.call;
  c.kind =
      function.find("Find") != std::string_view::npos ? LogKind::kMiopenFind : LogKind::kMiopen;
  c.operation = operation;
  c.dtype = type_of(operation);
  if (operation.starts_with("conv")) {
    if (!describe_conv(*options, c))
      return std::nullopt;
  } else {
    describe_other(*options, c);
  }
  c.config = fmt::format("./bin/MIOpenDriver {}", operation);
  for (const CommandOption& o : *options)
    c.config += fmt::format(" {}{}{}", o.name, o.values.empty() ? "" : " ",
                            o.values.empty() ? std::string_view() : o.values[0]);
  return out;
}

} // namespace rankscope
