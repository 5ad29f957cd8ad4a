// Input: a saved baseline with a valid frame and checksum. A decoded baseline must encode to one
// that decodes to the same, can be compared with itself, and can be part of a history.
#include "analyses/compare/compare_tables.h"
#include "analyses/compare/history.h"
#include "app/baseline_part.h"
#include "fuzz/fuzz_target.h"

#include <cstdlib>
#include <string>

RS_FUZZ_TARGET(baseline) {
  using namespace rankscope;
  std::string whole = PartWriter(kBaselineKind, kBaselineVersion).finish();
  whole.resize(whole.size() - 8); // removes the checksum
  whole += bytes;
  const std::uint64_t sum = part_checksum(whole);
  for (unsigned shift = 0; shift < 64; shift += 8)
    whole += static_cast<char>((sum >> shift) & 0xffU);
  const auto saved = decode_part<SavedBaseline>(kBaselineKind, kBaselineVersion, whole);
  if (!saved)
    return;
  const std::string again = encode_part(kBaselineKind, kBaselineVersion, *saved);
  const auto back = decode_part<SavedBaseline>(kBaselineKind, kBaselineVersion, again);
  if (!back || encode_part(kBaselineKind, kBaselineVersion, *back) != again)
    std::abort();
  const Comparison same = compare_runs(saved->run, {back->run}, JudgeRule{});
  for (const Change& row : same.changes.at(0).work.rows)
    if (row.told)
      std::abort();
  (void)final_report(same);
  (void)history_report(history_of({saved->run, back->run}));
}
