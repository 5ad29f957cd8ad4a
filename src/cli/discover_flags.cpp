#include "cli/discover_flags.h"

namespace rankscope {

void add_discover_flags(FlagSet& app, DiscoverOptions& options, bool sweep,
                        const std::string& step_flag) {
  in_group(app, "Finding traces", [&] {
    app.add_option("--trace-name", options.trace_name,
                   "if a rank has several traces, use those with this file name");
    app.add_option(step_flag, options.step,
                   "if ranks have several traces, use those with this step or time in the file "
                   "name (default: the newest)");
    app.add_option("--trace-pattern", options.trace_pattern,
                   "paths of the traces, with * for the rank");
    app.add_option("--rank-regex", options.rank_regex,
                   "regular expression of trace paths; group 1 is the rank");
    app.add(options::require_all_ranks, options.require_all_ranks);
    if (sweep) {
      app.add_option(
          "--config-regex", options.config_regex,
          "regular expression of configuration folders; each named group is a parameter");
      app.add_flag("--files-as-runs", options.files_as_runs,
                   "use each trace of a folder as a separate run if neither names nor traces "
                   "contain a rank");
    }
  });
}

} // namespace rankscope
