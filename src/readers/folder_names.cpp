#include "readers/folder_names.h"

#include "base/to_number.h"
#include "core/output_layout.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace rankscope {
namespace {

Result<std::regex> compiled(const std::string& text, const char* flag,
                            std::regex::flag_type flags = std::regex::ECMAScript) {
  // std::regex has no named groups: (?P<rank>...) and (?<rank>...) become plain groups
  const std::string plain = std::regex_replace(text, std::regex(R"(\(\?P?<([A-Za-z_]+)>)"), "(");
  try {
    return std::regex(plain, flags);
  } catch (const std::regex_error& e) {
    return Error{ErrorCode::kUsage, flag, fmt::format("'{}': {}", text, e.what()), ""};
  }
}

/// Returns the number (1-based) of each named group of an expression, in the order of their
/// brackets.
std::map<std::string, std::size_t> group_names(const std::string& text) {
  std::map<std::string, std::size_t> out;
  std::size_t number = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '[') {
      in_class = true;
    } else if (text[i] == ']') {
      in_class = false;
    } else if (text[i] == '(' && !in_class) {
      if (text.compare(i, 3, "(?<") == 0 || text.compare(i, 4, "(?P<") == 0) {
        const std::size_t from = text.find('<', i) + 1;
        if (text[from] == '=' || text[from] == '!')
          continue;
        out[text.substr(from, text.find('>', from) - from)] = ++number;
      } else if (i + 1 >= text.size() || text[i + 1] != '?') {
        ++number;
      }
    }
  }
  return out;
}

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Returns the start of `folder` up to the next slash after the match, so that the last folder name
/// is complete.
std::string up_to(const std::string& folder, const std::smatch& m) {
  const auto at = static_cast<std::size_t>(m.position(0) + m.length(0));
  return folder.substr(0, folder.find('/', at));
}

std::optional<ConfigName> match_folders(const std::string& folder) {
  static const std::regex kThread(R"((^|/)([0-9]+)threads?/nccl_([0-9]+)channels(?=/|$))");
  static const std::regex kCu(R"((^|/)([0-9]+)cu_([0-9]+)threads?(?=/|$))");
  static const std::regex kNamed(R"((^|/)([A-Za-z][A-Za-z0-9_.-]*)=([^/=]+)(?=/|$))");
  ConfigName out;
  std::smatch m;
  const auto end_at = [&](const std::string& end) {
    if (end.size() > out.folder.size())
      out.folder = end;
  };
  for (std::sregex_iterator it(folder.begin(), folder.end(), kNamed), end; it != end; ++it)
    if ((*it)[2] != "rank") {
      out.configuration.set((*it)[2].str(), (*it)[3].str());
      end_at(up_to(folder, *it));
    }
  if (std::regex_search(folder, m, kThread)) {
    end_at(up_to(folder, m));
    out.configuration.set(kThreads, m[2].str());
    out.configuration.set(kChannels, m[3].str());
  } else if (std::regex_search(folder, m, kCu)) {
    end_at(up_to(folder, m));
    out.configuration.set(kCus, m[2].str());
    out.configuration.set(kThreads, m[3].str());
  }
  if (out.folder.empty())
    return std::nullopt;
  return out;
}

} // namespace

Result<RankNames> RankNames::make(const DiscoverOptions& o) {
  RankNames out;
  if (!o.trace_pattern.empty()) {
    if (std::count(o.trace_pattern.begin(), o.trace_pattern.end(), '*') != 1)
      return Error{ErrorCode::kUsage, "--trace-pattern", "needs exactly one '*' for the rank", ""};
    std::string escaped = "(?:^|.*/)";
    const std::string pattern = o.trace_pattern.substr(o.trace_pattern.rfind("./", 0) == 0 ? 2 : 0);
    for (const char c : pattern)
      escaped += c == '*' ? std::string("([0-9]+)")
                 : std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '_'
                     ? std::string(1, c)
                     : std::string("\\") + c;
    RS_TRY(out.path_regex_, compiled(escaped + "$", "--trace-pattern"));
    out.pattern_ = true;
  } else if (!o.rank_regex.empty()) {
    RS_TRY(out.part_, compiled(o.rank_regex, "--rank-regex"));
    const auto names = group_names(o.rank_regex);
    out.group_ = names.count("rank") != 0 ? names.at("rank") : 1;
    if (out.part_.mark_count() < 1)
      return Error{ErrorCode::kUsage, "--rank-regex", "needs a group that contains the rank", ""};
  } else {
    out.part_ = std::regex(R"(rank[\[\-_/]?([0-9]+))", std::regex::icase);
  }
  return out;
}

bool RankNames::match(Candidate& c) const {
  c.group = c.path;
  std::smatch m;
  if (pattern_) {
    if (!std::regex_match(c.path, m, path_regex_))
      return false;
    set(c, m, 1, 0);
    return true;
  }
  // first search the file name, then the folders from the innermost to the outermost
  std::string rest = c.path;
  while (!rest.empty()) {
    const std::size_t slash = rest.rfind('/');
    const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
    const std::string part = rest.substr(from);
    if (std::regex_search(part, m, part_)) {
      set(c, m, group_, from);
      break;
    }
    if (slash == std::string::npos)
      break;
    rest.resize(slash);
  }
  return true;
}

void RankNames::set(Candidate& c, const std::smatch& m, std::size_t group, std::size_t from) {
  c.rank = to_number(m[group].str());
  if (const std::string digits = m[group].str(); !c.rank && all_digits(digits))
    c.too_large = digits;
  c.group.replace(from + static_cast<std::size_t>(m.position(group)),
                  static_cast<std::size_t>(m.length(group)), 1, '*');
}

Result<ConfigNames> ConfigNames::make(const std::string& text) {
  ConfigNames out;
  if (!text.empty()) {
    RS_TRY(out.expression_, compiled(text, "--config-regex"));
    out.groups_ = group_names(text);
    out.has_expression_ = true;
  }
  return out;
}

std::optional<ConfigName> ConfigNames::match(const std::string& relative) const {
  const std::size_t slash = relative.rfind('/');
  const std::string folder = slash == std::string::npos ? std::string() : relative.substr(0, slash);
  std::optional<ConfigName> out =
      has_expression_ ? match_expression(folder) : match_folders(folder);
  if (out)
    out->configuration.label = configuration_label(out->configuration, out->folder);
  return out;
}

std::optional<ConfigName> ConfigNames::match_expression(const std::string& folder) const {
  std::smatch m;
  if (!std::regex_search(folder, m, expression_))
    return std::nullopt;
  ConfigName out;
  out.folder = up_to(folder, m);
  for (const auto& [name, group] : groups_) // ordered by name, because the order in the expression
                                            // has no meaning
    if (m[group].matched && name != "rank")
      out.configuration.set(name, m[group].str());
  return out;
}

} // namespace rankscope
