#include "collect/sweep_settings.h"

#include "base/ascii.h"
#include "base/to_number.h"
#include "core/output_layout.h"
#include "os/whole_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <regex>
#include <set>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;

std::optional<std::int64_t> positive_sweep_settings(std::string_view text) {
  const auto value = to_number(text);
  return value && *value > 0 ? value : std::nullopt;
}

/// Returns a value for a folder's name: '/', '=', blanks and control characters become '_'.
std::string folder_value(std::string value) {
  for (char& c : value)
    if (c == '/' || c == '=' || static_cast<unsigned char>(c) < 0x21 || c == 0x7f)
      c = '_';
  return value.empty() ? "_" : value;
}

// ---- the file of parameters

constexpr const char* kDefaultValue = "default"; ///< text for null, the library's default

struct MatrixParameter {
  std::string name;
  std::vector<std::string> variables;
  std::vector<std::optional<std::string>> values;
};

Error wrong_sweep_settings(const std::string& path, const std::string& what) {
  return {ErrorCode::kUsage, path, what, "docs/sweep.md has an example"};
}

/// Returns a text, a number or true/false as text for a program; empty for null.
Result<std::optional<std::string>> value_text(dom::element e, const std::string& path,
                                              const std::string& name) {
  std::string_view text;
  std::int64_t integer = 0;
  double number = 0;
  bool flag = false;
  if (e.is_null())
    return std::optional<std::string>();
  if (e.get(text) == simdjson::SUCCESS)
    return std::optional<std::string>(text);
  if (e.get(integer) == simdjson::SUCCESS)
    return std::optional<std::string>(std::to_string(integer));
  if (e.get(number) == simdjson::SUCCESS)
    return std::optional<std::string>(fmt::format("{}", number));
  if (e.get(flag) == simdjson::SUCCESS)
    return std::optional<std::string>(flag ? "1" : "0");
  return wrong_sweep_settings(
      path, fmt::format("a value of \"{}\" is neither text, number, true, false nor null", name));
}

Result<std::vector<std::optional<std::string>>> value_list(dom::element e, const std::string& path,
                                                           const std::string& name) {
  dom::array list;
  if (e.get(list) != simdjson::SUCCESS || list.size() == 0)
    return wrong_sweep_settings(path, fmt::format("\"{}\" needs a list of values", name));
  std::vector<std::optional<std::string>> out;
  for (const dom::element item : list) {
    RS_TRY(std::optional<std::string> value, value_text(item, path, name));
    if (std::find(out.begin(), out.end(), value) != out.end())
      return wrong_sweep_settings(
          path, fmt::format("\"{}\" has the value {} twice", name, value.value_or("null")));
    out.push_back(std::move(value));
  }
  return out;
}

bool good_name(const std::string& name) {
  static const std::regex kName("[A-Za-z][A-Za-z0-9_.-]*");
  return std::regex_match(name, kName) && name != "rank" && name != "out" && name != "repeat";
}

Result<MatrixParameter> parameter_of(const std::string& name, dom::element e,
                                     const std::string& path) {
  MatrixParameter out;
  out.name = name;
  if (!good_name(name))
    return wrong_sweep_settings(
        path, fmt::format("\"{}\" is not a name for a parameter: letters, digits, _ . -, and "
                          "not rank, out or repeat",
                          name));
  dom::object object;
  if (e.get(object) != simdjson::SUCCESS) { // only a list: the values replace {name} in the command
    RS_TRY(out.values, value_list(e, path, name));
    return out;
  }
  bool valued = false;
  for (const auto [key, value] : object) {
    std::string_view text;
    dom::array list;
    if (key == "values") {
      RS_TRY(out.values, value_list(value, path, name));
      valued = true;
    } else if (key == "env" && value.get(text) == simdjson::SUCCESS) {
      out.variables.emplace_back(text);
    } else if (key == "env" && value.get(list) == simdjson::SUCCESS) {
      for (const dom::element item : list)
        if (item.get(text) == simdjson::SUCCESS)
          out.variables.emplace_back(text);
        else
          return wrong_sweep_settings(path,
                                      fmt::format("env of \"{}\" needs names of variables", name));
    } else {
      return wrong_sweep_settings(
          path, fmt::format("\"{}\" of \"{}\": expected env and values", key, name));
    }
  }
  if (!valued)
    return wrong_sweep_settings(path, fmt::format("\"{}\" has no values", name));
  return out;
}

void apply(SweepSetting& setting, const MatrixParameter& parameter,
           const std::optional<std::string>& value) {
  setting.configuration.set(parameter.name, value.value_or(kDefaultValue));
  for (const std::string& variable : parameter.variables)
    if (value)
      setting.environment[parameter.name].emplace_back(variable, *value);
    else
      setting.unset.push_back(variable);
}

/// Returns the settings that the file lists one by one.
Result<std::vector<SweepSetting>>
listed(dom::element e, const std::vector<MatrixParameter>& parameters, const std::string& path) {
  dom::array list;
  if (e.get(list) != simdjson::SUCCESS || list.size() == 0)
    return wrong_sweep_settings(path, "\"settings\" needs a list of objects");
  std::vector<SweepSetting> out;
  for (const dom::element item : list) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS)
      return wrong_sweep_settings(path, "\"settings\" needs a list of objects");
    SweepSetting setting;
    for (const MatrixParameter& parameter : parameters) {
      dom::element value;
      if (object[parameter.name].get(value) != simdjson::SUCCESS)
        return wrong_sweep_settings(
            path, fmt::format("setting {} lacks \"{}\"", out.size() + 1, parameter.name));
      RS_TRY(const auto text, value_text(value, path, parameter.name));
      apply(setting, parameter, text);
    }
    if (object.size() != parameters.size())
      return wrong_sweep_settings(
          path, fmt::format("setting {} has a member that is not a parameter", out.size() + 1));
    out.push_back(std::move(setting));
  }
  return out;
}

std::vector<SweepSetting> all_of(const std::vector<MatrixParameter>& parameters) {
  std::vector<SweepSetting> out = {SweepSetting{}};
  for (const MatrixParameter& parameter : parameters) {
    std::vector<SweepSetting> next;
    for (const SweepSetting& outer : out)
      for (const std::optional<std::string>& value : parameter.values) {
        SweepSetting setting = outer;
        apply(setting, parameter, value);
        next.push_back(std::move(setting));
      }
    out = std::move(next);
  }
  return out;
}

} // namespace

Result<std::vector<std::int64_t>> number_list(std::string_view text, const std::string& flag) {
  std::vector<std::int64_t> out;
  for (const std::string_view word : split_nonempty(text, ", ")) {
    const auto value = positive_sweep_settings(word);
    if (!value)
      return Error{ErrorCode::kUsage, flag,
                   fmt::format("'{}' is not a positive number; expected a list like 28,42", word),
                   ""};
    if (std::find(out.begin(), out.end(), *value) != out.end())
      return Error{ErrorCode::kUsage, flag, fmt::format("{} is listed twice", *value), ""};
    out.push_back(*value);
  }
  if (out.empty())
    return Error{ErrorCode::kUsage, flag, "expected a list like 28,42", ""};
  return out;
}

Result<std::vector<CuPair>> pair_list(std::string_view text) {
  std::vector<CuPair> out;
  for (const std::string_view word : split_nonempty(text, " ;")) {
    const std::vector<std::string_view> two = split_nonempty(word, ",");
    const auto cus = two.size() == 2 ? positive_sweep_settings(two[0]) : std::nullopt;
    const auto threads = two.size() == 2 ? positive_sweep_settings(two[1]) : std::nullopt;
    if (!cus || !threads)
      return Error{
          ErrorCode::kUsage, "-p",
          fmt::format("'{}' is not a pair of compute units and threads; expected a list like "
                      "\"56,256 37,384\"",
                      word),
          ""};
    if (std::find(out.begin(), out.end(), CuPair{*cus, *threads}) != out.end())
      return Error{ErrorCode::kUsage, "-p", fmt::format("{} is listed twice", word), ""};
    out.push_back({*cus, *threads});
  }
  if (out.empty())
    return Error{ErrorCode::kUsage, "-p", "expected a list like \"56,256 37,384\"", ""};
  return out;
}

std::vector<SweepSetting> grid_settings(const std::vector<std::int64_t>& threads,
                                        const std::vector<std::int64_t>& channels, bool exact) {
  std::vector<SweepSetting> out;
  for (const std::int64_t t : threads)
    for (const std::int64_t c : channels) {
      SweepSetting setting;
      setting.configuration.set(kThreads, t);
      setting.configuration.set(kChannels, c);
      setting.environment[std::string(kThreads)] = {{"RCCL_THREADS_PER_BLOCK", std::to_string(t)},
                                                    {"NCCL_NTHREADS", std::to_string(t)}};
      EnvironmentChanges& limits = setting.environment[std::string(kChannels)];
      limits = {{"NCCL_MAX_NCHANNELS", std::to_string(c)}};
      if (exact)
        limits.emplace_back("NCCL_MIN_NCHANNELS", std::to_string(c));
      name_setting(setting);
      out.push_back(std::move(setting));
    }
  return out;
}

std::vector<SweepSetting> pair_settings(const std::vector<CuPair>& pairs) {
  std::vector<SweepSetting> out;
  for (const CuPair& pair : pairs) {
    SweepSetting setting;
    setting.configuration.set(kCus, pair.cus);
    setting.configuration.set(kThreads, pair.threads);
    setting.environment[std::string(kCus)] = {
        {"RCCL_WARP_SPEED_CU_COUNT", std::to_string(pair.cus)}};
    setting.environment[std::string(kThreads)] = {
        {"RCCL_THREADS_PER_BLOCK", std::to_string(pair.threads)}};
    name_setting(setting);
    out.push_back(std::move(setting));
  }
  return out;
}

Result<std::vector<SweepSetting>> matrix_settings(const std::string& path) {
  const Result<std::string> text = read_input_file(path);
  if (!text)
    return Error{ErrorCode::kUnreadable, path, "cannot read this file", ""};
  dom::parser parser;
  dom::element root;
  if (const auto status = parser.parse(simdjson::padded_string(*text)).get(root);
      status != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, path,
                 fmt::format("not JSON: {}", simdjson::error_message(status)), ""};
  dom::object object;
  dom::object named;
  if (root.get(object) != simdjson::SUCCESS ||
      object["parameters"].get(named) != simdjson::SUCCESS || named.size() == 0)
    return wrong_sweep_settings(path, "expected an object with \"parameters\"");
  std::vector<MatrixParameter> parameters;
  for (const auto [key, value] : named) {
    RS_TRY(MatrixParameter parameter, parameter_of(std::string(key), value, path));
    parameters.push_back(std::move(parameter));
  }
  for (const auto [key, value] : object)
    if (key != "parameters" && key != "settings")
      return wrong_sweep_settings(
          path, fmt::format(
                    "\"{}\" is not known; expected parameters, and settings for a list of settings",
                    key));
  std::vector<SweepSetting> out;
  if (dom::element list; object["settings"].get(list) == simdjson::SUCCESS) {
    RS_TRY(out, listed(list, parameters, path));
  } else {
    out = all_of(parameters);
  }
  for (SweepSetting& setting : out)
    name_setting(setting);
  return out;
}

Result<std::vector<SweepSetting>> combined(const std::vector<SweepSetting>& outer,
                                           const std::vector<SweepSetting>& inner) {
  std::vector<SweepSetting> out;
  std::set<std::string> folders;
  for (const SweepSetting& a : outer)
    for (const SweepSetting& b : inner) {
      SweepSetting both = a;
      for (const Parameter& parameter : b.configuration.parameters) {
        if (a.configuration.text(parameter.name))
          return Error{ErrorCode::kUsage, "",
                       fmt::format("{} is given twice, by a flag and by --matrix", parameter.name),
                       ""};
        both.configuration.set(parameter.name, parameter.value);
      }
      both.environment.insert(b.environment.begin(), b.environment.end());
      both.unset.insert(both.unset.end(), b.unset.begin(), b.unset.end());
      name_setting(both);
      if (!folders.insert(both.folder).second)
        return Error{ErrorCode::kUsage, "",
                     fmt::format("two settings would share the folder {}", both.folder), ""};
      out.push_back(std::move(both));
    }
  return out;
}

void name_setting(SweepSetting& setting) {
  const Configuration& c = setting.configuration;
  std::string folder;
  const auto add = [&folder](const std::string& part) {
    folder += (folder.empty() ? "" : "/") + part;
  };
  std::set<std::string_view> placed;
  if (c.threads() && c.channels()) {
    add(fmt::format("{}thread/nccl_{}channels", *c.text(kThreads), *c.text(kChannels)));
    placed = {kThreads, kChannels};
  } else if (c.threads() && c.cus()) {
    add(fmt::format("{}cu_{}threads", *c.text(kCus), *c.text(kThreads)));
    placed = {kThreads, kCus};
  }
  for (const Parameter& parameter : c.parameters)
    if (placed.count(parameter.name) == 0)
      add(fmt::format("{}={}", parameter.name, folder_value(parameter.value)));
  setting.folder = folder.empty() ? "run" : folder;
  setting.configuration.label = configuration_label(setting.configuration, setting.folder);
}

} // namespace rankscope
