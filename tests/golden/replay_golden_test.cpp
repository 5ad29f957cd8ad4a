// Compares replay requests with recorded kernels: the kernel names of recorded products contain
// which operands were transposed. These names were not made for this test.
#include "analyses/replay/replay_items.h"
#include "engine/loader.h"
#include "golden_data.h"
#include "model/kernels.h"
#include "model/ops/op_model.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace rankscope {
namespace {

TEST(ReplayGolden, TransposesAreThoseOfTheKernels) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  std::map<std::string, int> compared; // by operator and transposes
  for (const auto& path : golden::entries(golden::root())) {
    const std::string text = path.string();
    if (!text.ends_with(".json.gz") ||
        (text.find("/h100/") == std::string::npos && text.find("/mi300/") == std::string::npos))
      continue;
    const auto t = load_trace(text, {});
    ASSERT_TRUE(t) << text;
    for (EventId e = 0; e < t->trace.events.size(); ++e) {
      const OpArgs* const args = t->trace.op(e);
      if (args == nullptr || find_op(t->trace.name(e)) == nullptr)
        continue;
      const auto view = [&](StrId id) { return t->trace.strings.view(id); };
      const ReplayRequest r =
          replay_request(t->trace.name(e),
                         ParsedArgs(view(args->input_dims), view(args->input_types),
                                    view(args->input_strides), view(args->concrete_inputs)),
                         "");
      const auto* const g = std::get_if<GemmReplay>(&r.call);
      if (g == nullptr)
        continue;
      for (const EventId k : t->tree.gpu_events(e)) {
        const auto kernel = parse_gemm_kernel(t->trace.name(k));
        if (!kernel || !kernel->transpose_a || !kernel->transpose_b)
          continue;
        ++compared[std::string(t->trace.name(e)) + (g->trans_a ? " T" : " N") +
                   (g->trans_b ? "T" : "N")];
        EXPECT_EQ(g->trans_a, *kernel->transpose_a)
            << text << " " << t->trace.name(k) << " " << replay_commands(r)[0];
        EXPECT_EQ(g->trans_b, *kernel->transpose_b)
            << text << " " << t->trace.name(k) << " " << replay_commands(r)[0];
      }
    }
  }
  // the test needs traces with these cases
  for (const char* what :
       {"aten::addmm TN", "aten::mm TN", "aten::mm NT", "aten::mm NN", "aten::bmm NN"})
    EXPECT_GT(compared[what], 1) << what;
}

} // namespace
} // namespace rankscope
