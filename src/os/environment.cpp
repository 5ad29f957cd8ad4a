#include "os/environment.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace rankscope {

std::vector<std::string> changed_environment(const EnvironmentChanges& set,
                                             const std::vector<std::string>& unset) {
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  const auto changed = [&](std::string_view name) {
    return std::ranges::any_of(set, [&](const auto& change) { return change.first == name; }) ||
           std::ranges::find(unset, name) != unset.end();
  };
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!changed(name_of(*entry)))
      out.emplace_back(*entry);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const auto& [name, value] = set[i];
    const bool again =
        std::any_of(set.begin() + static_cast<std::ptrdiff_t>(i) + 1, set.end(),
                    [&name = name](const auto& later) { return later.first == name; });
    if (!again) // the last value is used
      out.push_back(name + "=" + value);
  }
  return out;
}

std::string path_variable(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment)
    if (entry.starts_with("PATH="))
      return entry.substr(5);
  return "/bin:/usr/bin";
}

std::string find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos)
    return name;
  for (std::size_t at = 0; !name.empty() && at <= path.size();) {
    const std::size_t colon = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, colon - at);
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat info = {};
    if (::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(file.c_str(), X_OK) == 0)
      return file;
    at = colon + 1;
  }
  return "";
}

} // namespace rankscope
