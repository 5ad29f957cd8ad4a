#include "cli/options.h"

#include "analyses/collectives/collective_facts.h"
#include "analyses/gemm/gemm_facts.h"

namespace rankscope::options {
namespace {

constexpr std::array kAlignments{std::pair("none", AlignMode::kNone),
                                 std::pair("base", AlignMode::kBase),
                                 std::pair("collectives", AlignMode::kCollectives)};

} // namespace

const Choice<GemmRanking> rank_by{"--rank-by", "order of GEMMs: range, cv or total-excess",
                                  kGemmRankings};
const Choice<AlignMode> align{
    "--align",
    "align clocks by: none, base (time base of each trace), collectives (end times of collectives)",
    kAlignments};

} // namespace rankscope::options
