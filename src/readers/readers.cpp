#include "readers/reader.h"

#include <vector>

namespace rankscope {

std::span<const Reader* const> readers() {
  static const std::vector<const Reader*> kAll = {
#define RANKSCOPE_READER(id) &id##_reader,
#include "readers/readers.def"
#undef RANKSCOPE_READER
  };
  return kAll;
}

} // namespace rankscope
