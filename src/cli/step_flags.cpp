#include "cli/step_flags.h"

namespace rankscope {

void add_window_flags(FlagSet& app, WindowOptions& window) {
  app.add_option("--num-steps,--window-steps", window.steps, "number of steps in a window")
      .range(1, 1000000)
      .capture_default_str();
  app.add_option("--CONC,--concurrency", window.concurrency,
                 "number of requests that are in flight at the same time");
  app.add_option("--OSL,--output-tokens", window.output_tokens,
                 "maximum number of output tokens per request");
  app.add_option("--R,--length-ratio", window.length_ratio,
                 "output tokens of the shortest request as a fraction of --output-tokens, 0 to 1");
}

} // namespace rankscope
