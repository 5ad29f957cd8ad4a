// Makes command lines for hipblaslt-bench and MIOpenDriver, with options in the order in which the
// logs of the libraries print them.
#include "model/replay/replay_request.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

std::string gemm_command(const GemmReplay& g) {
  std::string out = fmt::format(
      "hipblaslt-bench --api_method c -m {} -n {} -k {} --lda {} --ldb {} --ldc {} --ldd {} "
      "--stride_a {} --stride_b {} --stride_c {} --stride_d {} --alpha {} --beta {} --transA {} "
      "--transB {} --batch_count {}",
      g.m, g.n, g.k, g.lda, g.ldb, g.ldd, g.ldd, g.stride_a, g.stride_b, g.stride_d, g.stride_d,
      g.alpha, g.beta, g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', g.batch);
  if (g.scale_a > 0)
    out += fmt::format(" --scaleA {} --scaleB {}", g.scale_a, g.scale_b);
  if (!g.bias_type.empty())
    out += " --bias_vector --bias_source d";
  out += fmt::format(" --a_type {} --b_type {} --c_type {} --d_type {} --scale_type {}", g.type_a,
                     g.type_b, g.type_d, g.type_d, g.scale);
  if (!g.bias_type.empty())
    out += fmt::format(" --bias_type {}", g.bias_type);
  return out + fmt::format(" --compute_type {} --algo_method heuristic --requested_solution 1 "
                           "--activation_type none --rotating 512 --cold_iters 100 --iters 100 "
                           "--flush --initialization trig_float --use_gpu_timer "
                           "--print_kernel_info",
                           g.compute);
}

std::string conv_command(const ConvReplay& c, int direction) {
  const bool three = c.spatial == 3;
  std::string out = fmt::format("MIOpenDriver {} -n {} -c {}", c.program, c.n, c.c);
  const auto extents = [&](std::string_view depth, const std::array<std::int64_t, 3>& v,
                           std::string_view height, std::string_view width) {
    if (three)
      out += fmt::format(" {} {}", depth, v[0]);
    out += fmt::format(" {} {} {} {}", height, v[1], width, v[2]);
  };
  extents("--in_d", c.in, "-H", "-W");
  out += fmt::format(" -k {}", c.k);
  extents("--fil_d", c.filter, "-y", "-x");
  extents("--pad_d", c.pad, "-p", "-q");
  extents("--conv_stride_d", c.stride, "-u", "-v");
  extents("--dilation_d", c.dilation, "-l", "-j");
  if (three)
    out += " --spatial_dim 3";
  if (c.channels_last) {
    const std::string_view layout = three ? "NDHWC" : "NHWC";
    out += fmt::format(" --in_layout {0} --fil_layout {0} --out_layout {0}", layout);
  }
  return out + fmt::format(" -m conv -g {} -F {} -t 1 -V 0 -i 100", c.groups, direction);
}

} // namespace

std::vector<std::string> replay_commands(const ReplayRequest& request) {
  if (const auto* const g = std::get_if<GemmReplay>(&request.call))
    return {gemm_command(*g)};
  std::vector<std::string> out;
  if (const auto* const c = std::get_if<ConvReplay>(&request.call))
    for (const int direction : c->directions)
      out.push_back(conv_command(*c, direction));
  return out;
}

std::string_view replay_library(const ReplayRequest& request) {
  return std::holds_alternative<GemmReplay>(request.call)   ? "hipblaslt"
         : std::holds_alternative<ConvReplay>(request.call) ? "miopen"
                                                            : "";
}

} // namespace rankscope
