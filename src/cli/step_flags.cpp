#include "cli/step_flags.h"

namespace rankscope {

void add_window_flags(FlagSet& app, WindowOptions& window) {
  app.add_option("--num-steps,--window-steps", window.steps, "steps of a window")
      .range(1, 1000000)
      .capture_default_str();
  app.add_option("--CONC,--concurrency", window.concurrency, "requests that the load keeps open");
  app.add_option("--OSL,--output-tokens", window.output_tokens, "most tokens that a request gets");
  app.add_option("--R,--length-ratio", window.length_ratio, "least part of those, 0 to 1");
}

} // namespace rankscope
