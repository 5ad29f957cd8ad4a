// rankscope columns: every sheet with its columns, as Markdown.
#include "app/column_dictionary.h"
#include "cli/command.h"
#include "writers/writer.h"

namespace rankscope {
namespace {

Action setup_columns(FlagSet&) {
  return [](Context& ctx) -> Result<void> {
    ctx.out(ctx.json ? json_text(column_report()) : column_dictionary());
    return {};
  };
}

} // namespace

const Command columns_command{"columns",
                              "list the columns of every sheet: id, header, unit, meaning",
                              "  rankscope columns > columns.md", setup_columns};

} // namespace rankscope
