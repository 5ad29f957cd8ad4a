// rankscope reduce PARTS... -o OUT: writes the outputs of a command from the parts of all ranks.
#include "cli/command.h"
#include "cli/reduce_flags.h"

#include <memory>

namespace rankscope {
namespace {

Result<void> reduce(Context& ctx, const ReduceFlags& f) {
  RS_TRY(const ReduceRequest request, reduce_request(f));
  RS_TRY(const ReduceResult result, reduce_parts(ctx, request));
  return show_reduced(ctx, "reduce", request, result, "", f.compare.annotate);
}

Action setup_reduce(FlagSet& app) {
  auto f = std::make_shared<ReduceFlags>();
  add_reduce_flags(app, *f);
  return [f](Context& ctx) { return reduce(ctx, *f); };
}

} // namespace

const Command reduce_command{
    "reduce", "run collectives, analyze, compare, page or baseline on the parts of all shards",
    "  rankscope reduce parts -o nccl.xlsx\n"
    "  rankscope reduce node*/parts --as page -o run.html\n"
    "  rankscope reduce parts --as analyze -o out\n"
    "  rankscope reduce --as compare --baseline parts_a --test parts_b -o out "
    "--fail-on 'total_time>2%'",
    setup_reduce};

} // namespace rankscope
