// The page of `rankscope top --watch`: redrawn in place on a terminal.
#pragma once

#include "app/top.h"
#include "cli/command.h"
#include "cli/page_flags.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

/// Draws each page over the previous page on a terminal, and below it elsewhere. The settings of
/// the terminal do not change, so nothing has to be restored at exit.
class TopScreen {
public:
  /// `every`: seconds between two polls, shown on the page. `ctx` and `flags` must outlive this
  /// object.
  TopScreen(const Context& ctx, const PageFlags& flags, double every)
      : ctx_(ctx), flags_(flags), every_(every) {}

  /// Shows a page. `last`: this is the last poll.
  void show(const TopPoll& poll, bool last);

private:
  [[nodiscard]] std::string waiting_text(const TopPoll& poll) const;
  void below(const TopPoll& poll, bool last);
  void over(const TopPoll& poll, std::size_t rows, bool last);

  const Context& ctx_;
  const PageFlags& flags_;
  double every_;
  std::size_t drawn_ = 0; ///< number of lines on the terminal
  std::string page_;      ///< page on the terminal
  std::vector<std::string> waiting_;
  bool shown_ = false;
};

} // namespace rankscope
