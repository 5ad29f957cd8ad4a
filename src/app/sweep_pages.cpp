#include "app/sweep_pages.h"

#include "app/analyze_state.h"
#include "pages/sweep_page.h"

#include <filesystem>

namespace rankscope {

Result<void> write_analysed_page(const std::vector<AnalysedFolder>& sweeps,
                                 const std::string& path) {
  std::vector<SweepFacts> facts;
  for (const AnalysedFolder& sweep : sweeps) {
    RS_TRY(SweepFacts one, load_analysed(sweep.folder));
    facts.push_back(std::move(one));
  }
  std::vector<SweepSide> sides;
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    sides.push_back({sweeps[i].label, sweeps[i].folder, &facts[i]});
  return write_sweep_page(sides, path);
}

std::string leaf_name(const std::string& path) {
  const std::filesystem::path p = std::filesystem::absolute(path).lexically_normal();
  return (p.has_filename() ? p : p.parent_path()).filename().string();
}

} // namespace rankscope
