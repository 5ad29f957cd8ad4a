// The head of every kind of page: title, badges, findings, next steps.
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

/// A command for a closer analysis, and the reason for it.
struct PageNext {
  std::string command, why;
};

/// A file that the page links to.
struct PageLink {
  std::string label, address; ///< address is relative and escaped
};

struct PageHead {
  std::string kind; ///< selects the script: "run", "sweep", "comparison" or "history"
  std::string title;
  std::string subtitle;      ///< device, ranks and steps
  std::string command;       ///< command that made the page
  std::int64_t begun_ns = 0; ///< unix time of the data's start; 0 = unknown
  std::vector<PageBadge> badges;
  std::vector<Finding> findings;
  std::vector<PageNext> next;
  std::vector<std::string> files; ///< inputs of the page
  std::vector<PageLink> links;    ///< other reports and traces from the same data
};

void add_head(PageBlob& page, const PageHead& head);

} // namespace rankscope
