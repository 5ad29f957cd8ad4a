// Input: the configuration of the Nsight Systems summary, with comments and trailing commas.
#include "analyses/nsys/nsys_summary.h"
#include "fuzz/fuzz_target.h"
#include "readers/nsys/nsys_config.h"
#include "temp_folder.h"

RS_FUZZ_TARGET(nsys_config) {
  static const rankscope::test::TempFolder folder;
  const std::string path = folder.write("config.json", std::string(bytes));
  if (const auto config = rankscope::read_nsys_config(path); config.has_value())
    (void)rankscope::check_kernel_classes(config->classes);
  if (const auto classes = rankscope::read_kernel_classes(path); classes.has_value())
    (void)rankscope::check_kernel_classes(*classes);
}
