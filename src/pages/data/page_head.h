// The head of every page, whatever its kind: title, badges, findings, next steps.
#pragma once

#include "core/finding.h"
#include "pages/data/page_blob.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// A data loss, warning or note below the title.
struct PageBadge {
  std::string severity; ///< "loss", "warning" or "note"
  std::string text;     ///< a few words
  std::string more;     ///< the complete sentence
};

/// A command that looks closer, and why.
struct PageNext {
  std::string command, why;
};

/// A file that the page links to.
struct PageLink {
  std::string label, address; ///< the latter relative and escaped
};

struct PageHead {
  std::string kind; ///< "run", "sweep", "comparison" or "history": which script shows it
  std::string title;
  std::string subtitle;      ///< device, ranks, steps
  std::string command;       ///< that made the page
  std::int64_t begun_ns = 0; ///< of the data, unix; 0 = unknown
  std::vector<PageBadge> badges;
  std::vector<Finding> findings;
  std::vector<PageNext> next;
  std::vector<std::string> files; ///< inputs of the page
  std::vector<PageLink> links;    ///< reports and traces made from the same data
};

void add_head(PageBlob& page, const PageHead& head);

} // namespace rankscope
