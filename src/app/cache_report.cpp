#include "app/cache_report.h"

#include <utility>

namespace rankscope {

Report cache_report(const FactCache& cache, const FactCache::Size& size, bool cleared) {
  Table table("cache",
              {"folder", Column("facts", Unit::kCount), Column("bytes", Unit::kBytes), "cleared"});
  table.add_row({Value(cache.folder()), Value(static_cast<std::uint64_t>(size.files)),
                 Value(size.bytes), Value(cleared)});
  Report report;
  report.title = "cache";
  report.tables.push_back(std::move(table));
  return report;
}

} // namespace rankscope
