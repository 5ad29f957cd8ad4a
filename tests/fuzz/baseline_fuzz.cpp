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
  std::string encoded = PartWriter(kBaselineKind, kBaselineVersion).finish();
  encoded.resize(encoded.size() - 8); // removes the checksum
  encoded += bytes;
  const std::uint64_t sum = part_checksum(encoded);
  for (unsigned shift = 0; shift < 64; shift += 8)
    encoded += static_cast<char>((sum >> shift) & 0xffU);
  const auto saved = decode_part<SavedBaseline>(kBaselineKind, kBaselineVersion, encoded);
  if (!saved)
    return;
  const std::string again = encode_part(kBaselineKind, kBaselineVersion, *saved);
  const auto back = decode_part<SavedBaseline>(kBaselineKind, kBaselineVersion, again);
  if (!back || encode_part(kBaselineKind, kBaselineVersion, *back) != again)
    std::abort();
  const Comparison same = compare_runs(saved->run, {back->run}, JudgeRule{});
  for (const Change& row : same.changes.at(0).work.rows)
    if (row.reported)
      std::abort();
  (void)final_report(same);
  (void)history_report(history_of({saved->run, back->run}));
}
