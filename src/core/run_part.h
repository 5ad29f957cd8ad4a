// The fields of runs as parts (core/part.h).
#pragma once

#include "core/part.h"
#include "core/run.h"

#include <concepts>
#include <type_traits>

namespace rankscope {

template <class Archive, PartOf<Parameter> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.value);
}

template <class Archive, PartOf<Configuration> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.label, r.parameters);
}

template <class Archive, PartOf<RunKey> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.configuration, r.rank);
}

} // namespace rankscope
