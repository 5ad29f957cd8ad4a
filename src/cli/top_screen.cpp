#include "cli/top_screen.h"

#include "os/terminal.h"
#include "pages/top_page.h"
#include "writers/console_page.h"
#include "writers/writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {

void TopScreen::show(const TopPoll& poll, bool last) {
  const Terminal terminal = terminal_of(1);
  if (ctx_.json) {
    if (poll.changed && !last)
      ctx_.page(json_text(top_report(poll.facts)));
  } else if (!terminal.is_terminal) {
    below(poll, last);
  } else {
    over(poll, terminal.rows, last);
  }
}

std::string TopScreen::waiting_text(const TopPoll& poll) const {
  ConsolePage page(page_style(flags_));
  for (const std::string& file : poll.waiting)
    page.sentence(file, "waiting for ", Ink::kFaint);
  return page.text();
}

void TopScreen::below(const TopPoll& poll, bool last) {
  const std::string waiting = waiting_text(poll);
  if (poll.changed && !last && !poll.facts.ranks.empty())
    ctx_.page((shown_ ? "\n" : "") + top_page(poll.facts, page_style(flags_)));
  shown_ = shown_ || (poll.changed && !poll.facts.ranks.empty());
  if (!last && poll.waiting != waiting_)
    ctx_.page(waiting);
  waiting_ = poll.waiting;
}

void TopScreen::over(const TopPoll& poll, std::size_t rows, bool last) {
  const PageStyle style = page_style(flags_);
  std::string page = waiting_text(poll);
  if (!last) {
    ConsolePage foot(style);
    foot.sentence(fmt::format("{} rank{} so far; polls every {} s; press Ctrl-C to stop",
                              poll.facts.ranks.size(), poll.facts.ranks.size() == 1 ? "" : "s",
                              every_),
                  "", Ink::kFaint);
    page += foot.text();
  }
  const auto lines = [](const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  const std::string facts = poll.facts.ranks.empty() ? "" : top_page(poll.facts, style);
  const std::size_t room = rows > lines(page) + 4 ? rows - 1 - lines(page) : 0;
  page = (last ? facts : first_lines(facts, room)) + page;
  if (page == page_)
    return;
  page_ = page;
  ctx_.page((drawn_ > 0 ? fmt::format("\x1b[{}A\r\x1b[J", drawn_) : "") + page);
  drawn_ = lines(page);
}

} // namespace rankscope
