// The use case behind `rankscope top`: one trace or the ranks of a run, each parsed once, to the
// facts of one page; and the same again and again while traces arrive.
#pragma once

#include "analyses/top/top_facts.h"
#include "base/result.h"
#include "engine/session.h"
#include "os/file_stamp.h"
#include "readers/discovery.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct TopRequest {
  std::vector<std::string> inputs; ///< a trace ("-": standard input), or folders and files of ranks
  DiscoverOptions discover;
  ReportOptions report;           ///< gpu_arch as report takes it; what gpu_timeline counts
  std::size_t top_k = 8;          ///< rows of each list, 0 = all
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
};

/// Reads the ranks, several at a time. What is lost is in the session's diagnostics and in the
/// facts. Errors: kUnreadable when no rank could be read, kUsage for a folder with several
/// configurations or an unknown GPU.
Result<TopFacts> top_of(Session& session, const TopRequest& request);

/// Returns the facts of a trace in memory, the same as top_of() of its file; for reports that show
/// them next to their sheets. `diagnostics`: shown as warnings.
Result<TopFacts> top_of_trace(const LoadedTrace& trace, const ReportOptions& options,
                              const Diagnostics& diagnostics, std::size_t top_k);

/// The result of a poll of the folders.
struct TopLook {
  bool changed = false;             ///< since the previous poll, except waiting files
  TopFacts facts;                   ///< of all ranks read so far; made when changed
  std::vector<std::string> waiting; ///< files that still grow or cannot be read yet, with why
  Diagnostics diagnostics;          ///< of these facts
};

/// Polls folders. A file is read if its size and time are those of the previous poll, or if it was
/// last written `settled_s` ago; it is read again only if these change. Stores the part of each
/// rank, not its trace. Not thread-safe.
class TopWatch {
public:
  explicit TopWatch(TopRequest request, double settled_s = 5);
  /// Lists the files, reads new ones, combines. Errors: those that another poll cannot resolve
  /// (kUsage, kInternal, kInterrupted).
  Result<TopLook> look(Session& session);
  /// Returns the number of traces parsed by all polls so far.
  [[nodiscard]] std::size_t traces_read() const { return traces_read_; }

private:
  using Stamp = FileStamp;
  struct Kept {
    std::string path;
    std::optional<std::int64_t> rank_in_file;
    Stamp stamp;
    Diagnostics diagnostics;
    bool lost = false;
    std::string why; ///< it is lost
  };
  using Stamps = std::map<std::string, Stamp>;

  [[nodiscard]] Stamps stamps(Diagnostics& diagnostics) const;
  [[nodiscard]] Stamps complete(const Stamps& now, TopLook& out) const;
  Result<void> read(Session& session, const RunPlan& plan);

  TopRequest request_;
  double settled_s_;
  Stamps seen_;     ///< in the previous poll
  Stamps complete_; ///< from which the parts were made
  bool looked_ = false;
  TopParts parts_;
  std::map<std::int64_t, Kept> kept_; ///< by rank
  std::size_t traces_read_ = 0;
};

} // namespace rankscope
