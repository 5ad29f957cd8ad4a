// The page of `rankscope top --watch`: redrawn in place on a terminal.
#pragma once

#include "app/top.h"
#include "cli/command.h"
#include "cli/page_flags.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

/// Draws pages over each other on a terminal, below each other elsewhere. Nothing of the terminal
/// is changed but what is shown, so that there is nothing to restore however the program ends.
class TopScreen {
public:
  /// `every`: seconds between two looks, which the page names. Both are used while this is.
  TopScreen(const Context& ctx, const PageFlags& flags, double every)
      : ctx_(ctx), flags_(flags), every_(every) {}

  /// `last`: no further look follows.
  void show(const TopLook& look, bool last);

private:
  [[nodiscard]] std::string waiting_text(const TopLook& look) const;
  void below(const TopLook& look, bool last);
  void over(const TopLook& look, std::size_t rows, bool last);

  const Context& ctx_;
  const PageFlags& flags_;
  double every_;
  std::size_t drawn_ = 0; ///< lines on the terminal
  std::string page_;      ///< on the terminal
  std::vector<std::string> waiting_;
  bool shown_ = false;
};

} // namespace rankscope
