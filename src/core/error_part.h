// The fields of Error as a part (core/part.h).
#pragma once

#include "base/result.h"
#include "core/run_part.h"

#include <cstdint>

namespace rankscope {

template <class Archive, PartOf<Error> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.code, static_cast<std::uint64_t>(ErrorCode::kInternal) + 1);
  archive(r.where, r.what, r.hint);
}

} // namespace rankscope
