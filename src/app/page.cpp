#include "app/page.h"

#include "app/top_parts.h"
#include "os/output_file.h"
#include "pages/data/run_page.h"
#include "pages/page_file.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace rankscope {
namespace {

/// What each of so many ranks may take of a page, so that 64 of a million events stay below 20 MB.
PageDetail detail_for(std::size_t ranks) {
  PageDetail out;
  if (ranks <= 1)
    return out;
  out.events = std::max<std::size_t>(2000, 480'000 / ranks);
  out.columns = std::clamp<std::size_t>(16'384 / ranks, 256, 1024);
  out.tiles = out.columns / 4;
  out.kernels = false;
  return out;
}

/// Pages of ranks, put down by several threads.
class RankPages {
public:
  explicit RankPages(const PageDetail& detail) : detail_(detail) {}

  Result<void> add(const RankItem& item, const LoadedTrace& trace, const ReportOptions& options) {
    RS_TRY(RankPage page, rank_page_of(trace, options, detail_));
    page.rank = item.file.rank;
    const std::lock_guard lock(mutex_);
    pages_.insert_or_assign(item.file.rank, std::move(page));
    return {};
  }
  /// Ascending by rank.
  std::vector<RankPage> take() {
    std::vector<RankPage> out;
    for (auto& [rank, page] : pages_)
      out.push_back(std::move(page));
    return out;
  }

private:
  PageDetail detail_;
  std::mutex mutex_;
  std::map<std::int64_t, RankPage> pages_;
};

Result<std::size_t> write_page(OutputFile file, const std::string& title, const std::string& blob) {
  RS_TRY(const std::string text, page_text(title, blob));
  file.write(text);
  RS_CHECK(file.commit());
  return text.size();
}

} // namespace

Result<PageResult> write_run_page(Session& session, const PageRequest& request) {
  RS_CHECK(can_make_pages());
  RS_TRY(const RunPlan plan, plan_top(session, request.run));
  RS_TRY(OutputFile file, OutputFile::create(request.output));
  TopRequest all = request.run;
  all.top_k = 0;
  RankPages pages(detail_for(plan.ranks.size()));
  RS_TRY(const TopParts parts,
         read_top(session, plan, all, [&](const RankItem& item, const LoadedTrace& trace) {
           return pages.add(item, trace, top_options(trace, all.report));
         }));
  const std::optional<CollectiveFacts> collectives = collectives_of_top(parts);
  const CollectiveFacts* const of_collectives = collectives ? &*collectives : nullptr;
  RS_TRY(const TopFacts top, combine_top(session, plan, parts, of_collectives, all));
  RunPageInput input{&top, &parts, of_collectives, pages.take(), request.command};
  PageResult out{"run", input.ranks.size(), 0};
  RS_TRY(out.bytes, write_page(std::move(file), top.overview.title, run_page_data(input)));
  return out;
}

} // namespace rankscope
