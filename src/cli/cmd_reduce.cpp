// rankscope reduce PARTS... -o OUT: runs a command over ranks from the parts of all ranks. The
// program frame replaces this command by the named one, with its own flags (cli/parts_flags.h).
#include "app/rank_commands.h"
#include "cli/command.h"

#include <memory>

namespace rankscope {
namespace {

Result<void> no_such_command(Context&) {
  return Error{ErrorCode::kUsage, "reduce", "needs folders of parts", "rankscope reduce --help"};
}

Action setup_reduce(FlagSet& app) {
  struct Flags {
    std::vector<std::string> parts;
    std::string as = "collectives";
  };
  auto f = std::make_shared<Flags>();
  std::vector<std::string> names;
  for (const RankCommand& command : rank_commands())
    names.emplace_back(command.name);
  app.add_option("PARTS", f->parts, "folders of one run, written by rankscope partial");
  app.add_option("--as", f->as,
                 "command to run, with its own options (reduce --as COMMAND --help) and folders of "
                 "parts in place of traces")
      .one_of(std::move(names))
      .capture_default_str();
  return [f](Context& ctx) { return no_such_command(ctx); };
}

} // namespace

const Command reduce_command{
    "reduce",
    "run a command on the parts that rankscope partial has written",
    "  rankscope reduce parts -o nccl.xlsx\n"
    "  rankscope reduce node*/parts --as page -o run.html\n"
    "  rankscope reduce parts --as analyze -o out\n"
    "  rankscope reduce parts --as top --width 200\n"
    "  rankscope reduce variance parts --as gemm -o out\n"
    "  rankscope reduce --as batch -b parts\n"
    "  rankscope reduce --as compare --baseline parts_a --test parts_b -o out "
    "--fail-on 'total_time>2%'",
    setup_reduce,
    false,
    false,
    true};

} // namespace rankscope
