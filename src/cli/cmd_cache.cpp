// rankscope cache: the cached facts of traces.
#include "app/cache_report.h"
#include "cli/command.h"
#include "cli/flag_set.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Result<void> run_cache(Context& ctx, bool clear) {
  if (ctx.cache == nullptr)
    return Error{ErrorCode::kUsage, "cache", "there is no cache", "name a folder: --cache DIR"};
  FactCache& cache = *ctx.cache;
  const FactCache::Size size = clear ? cache.clear() : cache.size();
  if (ctx.json) {
    ctx.report(cache_report(cache, size, clear));
    return {};
  }
  const double mb = static_cast<double>(size.bytes) / 1e6;
  ctx.out(
      clear
          ? fmt::format("{}: {} cached facts removed, {:.1f} MB\n", cache.folder(), size.files, mb)
          : fmt::format("{}: {} cached facts, {:.1f} MB of at most {:.1f} MB\n", cache.folder(),
                        size.files, mb, static_cast<double>(FactCache::kMostBytes) / 1e6));
  return {};
}

Action setup_cache(FlagSet& app) {
  auto clear = std::make_shared<bool>(false);
  app.add_flag("--clear", *clear, "remove all cached trace data");
  return [clear](Context& ctx) { return run_cache(ctx, *clear); };
}

} // namespace

const Command cache_command{"cache", "show or clear cached trace data",
                            "  rankscope cache\n"
                            "  rankscope cache --clear",
                            setup_cache};

} // namespace rankscope
