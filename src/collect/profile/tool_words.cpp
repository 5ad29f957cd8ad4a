// Splits commands and --tool into words.
#include "base/ascii.h"
#include "base/nearest.h"
#include "collect/profile/tool_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace rankscope {

Result<std::vector<std::string>> split_words(const std::string& text, const std::string& where) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorCode::kUsage, where, what, "set \"shell\": true to run the text in a shell"};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\'' || c == '"') {
      open = true;
      const std::size_t begin = i;
      for (++i; i < text.size() && text[i] != c; ++i) {
        const bool escaped = c == '"' && text[i] == '\\' && i + 1 < text.size() &&
                             std::string_view("\"\\$`").find(text[i + 1]) != std::string::npos;
        if (escaped)
          ++i;
        else if (c == '"' &&
                 (text[i] == '`' || (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '(')))
          return refuse(fmt::format("'{}' needs a shell", text));
        word += text[i];
      }
      if (i >= text.size())
        return refuse(fmt::format("a quote is not closed: {}", text.substr(begin)));
    } else if (c == '\\' && next != '\0') {
      open = true;
      word += text[++i];
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (open)
        out.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (std::string_view("&|;<>`").find(c) != std::string::npos ||
               (c == '$' && next == '(')) {
      return refuse(fmt::format("'{}' has {}, which only a shell understands", text, c));
    } else {
      open = true;
      word += c;
    }
  }
  if (open)
    out.push_back(std::move(word));
  return out;
}

Result<Json> tool_use(const std::string& text) {
  const std::size_t colon = text.find(':');
  Json out = Json::object();
  out.at("name") = text.substr(0, colon);
  if (colon == std::string::npos)
    return out;
  const std::string list = text.substr(colon + 1);
  std::string last;
  for (const std::string_view part : split(list, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      // DEVICE=0,1,2: a part without '=' continues the value before it
      if (last.empty())
        return Error{ErrorCode::kUsage, "--tool",
                     fmt::format("expected key=value, found '{}'", part), ""};
      out.at("env_vars").at(last).text.append(",").append(part);
      continue;
    }
    const std::string key(part.substr(0, equals));
    const std::string value(part.substr(equals + 1));
    last.clear();
    if (std::none_of(key.begin(), key.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
      out.at("env_vars").at(key) = value;
      last = key;
    } else if (key == "cmd" || key == "timeout") {
      out.at(key) = value;
    } else if (key == "native" || key == "shell") {
      out.at(key) = value == "1" || value == "true";
    } else if (key == "kernel") {
      if (value == "1" || value == "true")
        out.at("options").at(key) = true;
    } else {
      const std::vector<std::string> known = {"cmd", "timeout", "native", "shell", "kernel"};
      return Error{ErrorCode::kUsage, "--tool",
                   fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)),
                   "keys: cmd, timeout, native, shell, kernel, or VARIABLE"};
    }
  }
  return out;
}

bool is_path_variable(const std::string& name) {
  return name == "LD_LIBRARY_PATH" || name == "LD_PRELOAD" || name == "PATH" ||
         name == "PYTHONPATH";
}

} // namespace rankscope
