// The use case behind `rankscope top`: reads one trace or the ranks of a run, parses each once, and
// makes the facts of one page. Can repeat this while traces arrive.
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
  ReportOptions report;           ///< options: gpu_arch as in report, and those of gpu_timeline
  std::size_t top_k = 8;          ///< rows of each list, 0 = all
  std::uint64_t memory_bytes = 0; ///< for traces in memory; 0 = half of the free memory
};

/// Reads the ranks, several at a time. The session's diagnostics and the facts contain what was
/// lost. Errors: kUnreadable if no rank could be read, kUsage for a folder with several
/// configurations or an unknown GPU.
Result<TopFacts> top_of(Session& session, const TopRequest& request);

/// Returns the facts of a trace in memory, equal to top_of() on its file, for reports that show
/// them next to their sheets. If Python frames were not read, a note replaces the causes.
/// `diagnostics`: shown as warnings.
Result<TopFacts> top_of_trace(const LoadedTrace& trace, const ReportOptions& options,
                              const Diagnostics& diagnostics, std::size_t top_k);

/// The result of a poll of the folders.
struct TopPoll {
  bool changed = false;             ///< since the previous poll; ignores waiting files
  TopFacts facts;                   ///< facts of all ranks read so far; made if `changed`
  std::vector<std::string> waiting; ///< files that grow or cannot be read yet, with the reason
  Diagnostics diagnostics;          ///< diagnostics of the facts
};

/// Polls folders. Reads a file if its size and time are the same as in the previous poll, or if it
/// was last written `settled_s` ago. Reads it again only if these change. Stores the part of each
/// rank, not its trace. Not thread-safe.
class TopWatch {
public:
  explicit TopWatch(TopRequest request, double settled_s = 5);
  /// Lists the files, reads new files, and combines the facts. Errors: those that another poll
  /// cannot resolve (kUsage, kInternal, kInterrupted).
  Result<TopPoll> poll(Session& session);
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
    std::string why; ///< why the rank is lost
  };
  using Stamps = std::map<std::string, Stamp>;

  [[nodiscard]] Stamps stamps(Diagnostics& diagnostics) const;
  [[nodiscard]] Stamps complete(const Stamps& now, TopPoll& out) const;
  Result<void> read(Session& session, const RunPlan& plan);

  TopRequest request_;
  double settled_s_;
  Stamps seen_;     ///< files in the previous poll
  Stamps complete_; ///< files from which the parts were made
  bool polled_ = false;
  TopParts parts_;
  std::map<std::int64_t, Kept> kept_; ///< by rank
  std::size_t traces_read_ = 0;
};

} // namespace rankscope
