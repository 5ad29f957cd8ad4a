#include "writers/writer.h"

#include <vector>

namespace rankscope {

std::span<const Writer* const> writers() {
  static const std::vector<const Writer*> kAll = {
#define RANKSCOPE_WRITER(id) &id##_writer,
#include "writers/writers.def"
#undef RANKSCOPE_WRITER
  };
  return kAll;
}

const Writer* find_writer(std::string_view name) {
  for (const Writer* w : writers())
    if (name == w->name)
      return w;
  return nullptr;
}

} // namespace rankscope
