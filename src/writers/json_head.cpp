#include "writers/json_head.h"

#include "base/json_text.h"

namespace rankscope {

std::string json_head(std::string_view title) {
  return "\"schema\":\"rankscope/1\",\"version\":\"" RANKSCOPE_VERSION "\",\"title\":\"" +
         json_escaped(title) + "\"";
}

std::string headed_json(std::string_view title, std::string_view object) {
  const std::size_t brace = object.find('{');
  return "{" + json_head(title) + "," + std::string(object.substr(brace + 1));
}

std::string headed_json_list(std::string_view title, std::string_view name, std::string_view list) {
  return "{" + json_head(title) + ",\"" + std::string(name) + "\":" + std::string(list) + "}\n";
}

} // namespace rankscope
