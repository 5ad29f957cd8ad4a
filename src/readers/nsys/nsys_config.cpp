// Reads the JSON configuration of the Nsight Systems summary; accepts comments and trailing commas.
#include "readers/nsys/nsys_config.h"

#include "os/whole_file.h"

#include <fmt/format.h>
#include <optional>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;
using Classes = std::vector<std::pair<std::string, std::string>>;

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::kUsage, where, what, "see rankscope nsys --help"};
}

Result<dom::object> parse(dom::parser& parser, const std::string& path) {
  const Result<std::string> text = read_input_file(path);
  if (!text)
    return Error{ErrorCode::kUnreadable, path, "cannot read this file", ""};
  dom::element root;
  if (const auto status = parser.parse(plain_json(*text)).get(root); status != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, path,
                 fmt::format("not JSON: {}", simdjson::error_message(status)), ""};
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS)
    return Error{ErrorCode::kUnreadable, path, "expected a JSON object", ""};
  return object;
}

Result<Classes> classes_of(const dom::object& object, const std::string& where) {
  Classes out;
  for (const auto [key, value] : object) {
    std::string_view name;
    if (value.get(name) != simdjson::SUCCESS)
      return wrong(where, fmt::format("the class of \"{}\" is not a string", key));
    out.emplace_back(key, name);
  }
  return out;
}

/// Reads a text member. Unless `required`, it may be missing or null.
Result<std::string> text_of(const dom::object& object, const char* key, const std::string& where,
                            bool required) {
  dom::element value;
  const bool missing = object[key].get(value) != simdjson::SUCCESS || value.is_null();
  if (missing && !required)
    return std::string();
  std::string_view text;
  if (missing || value.get(text) != simdjson::SUCCESS)
    return wrong(where, fmt::format("{} is missing or not a text", key));
  return std::string(text);
}

template <class T>
Result<T> value_of(const dom::object& object, const char* key, const std::string& where,
                   std::optional<T> fallback) {
  dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) {
    if (fallback)
      return *fallback;
    return wrong(where, fmt::format("{} is missing", key));
  }
  T out{};
  if (value.get(out) != simdjson::SUCCESS)
    return wrong(where, fmt::format("{} has the wrong type", key));
  return out;
}

Result<NsysInput> input_of(const dom::object& object, const std::string& where) {
  NsysInput in;
  RS_TRY(in.format, text_of(object, "format", where, true));
  for (char& c : in.format)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  RS_TRY(in.title, text_of(object, "title", where, true));
  dom::object args;
  if (object["analysis_args"].get(args) != simdjson::SUCCESS)
    return wrong(where, "analysis_args is missing");
  RS_TRY(in.iterations, value_of<std::int64_t>(args, "num_of_iters", where, std::nullopt));
  RS_TRY(in.gpus, value_of<std::int64_t>(args, "num_of_gpus", where, 1));
  RS_TRY(in.nvtx_tag, text_of(args, "nvtx_tag_of_iter", where, false));
  if (in.format == "csv") {
    dom::object files;
    if (object["nsys_csv_file_path"].get(files) != simdjson::SUCCESS)
      return wrong(where, "nsys_csv_file_path is missing");
    RS_TRY(in.kernel_sum, text_of(files, "kernel_sum", where, true));
    RS_TRY(in.nvtx_proj_trace, text_of(files, "nvtx_proj_trace", where, false));
    RS_TRY(in.mem_time_sum, text_of(files, "mem_time_sum", where, false));
    in.with_nvtx = !in.nvtx_proj_trace.empty();
    in.with_memory = !in.mem_time_sum.empty();
  } else if (in.format == "nsys-rep" || in.format == "sqlite") {
    dom::object report;
    if (object["nsys_report"].get(report) != simdjson::SUCCESS)
      return wrong(where, "nsys_report is missing");
    RS_TRY(in.path, text_of(report, "path", where, true));
    RS_TRY(in.with_nvtx, value_of<bool>(report, "with_nvtx", where, true));
    RS_TRY(in.with_memory, value_of<bool>(report, "with_mem", where, true));
  } else {
    return wrong(where,
                 fmt::format("format is \"{}\", expected csv, nsys-rep or sqlite", in.format));
  }
  if (in.with_nvtx && in.nvtx_tag.empty())
    return wrong(where, "nvtx_tag_of_iter is missing; the NVTX analysis needs it");
  return in;
}

} // namespace

std::string plain_json(const std::string& text) {
  std::string out;
  std::size_t comma = std::string::npos; // position in `out` of the last comma, if only blanks have
                                         // followed it
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      comma = std::string::npos;
      const std::size_t start = i;
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      out.append(text, start, std::min(i + 1, text.size()) - start);
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      while (i + 1 < text.size() && text[i + 1] != '\n')
        ++i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 1;
      out += ' ';
    } else {
      if ((c == ']' || c == '}') && comma != std::string::npos)
        out[comma] = ' ';
      if (c == ',')
        comma = out.size();
      else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
        comma = std::string::npos;
      out += c;
    }
  }
  return out;
}

Result<NsysConfig> read_nsys_config(const std::string& path) {
  dom::parser parser;
  RS_TRY(const dom::object root, parse(parser, path));
  NsysConfig config;
  dom::array inputs;
  if (root["inputs"].get(inputs) != simdjson::SUCCESS || inputs.size() == 0)
    return wrong(path, "inputs is missing or empty");
  for (const dom::element element : inputs) {
    const std::string where = fmt::format("{}: input {}", path, config.inputs.size() + 1);
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS)
      return wrong(where, "expected an object");
    RS_TRY(NsysInput input, input_of(object, where));
    config.inputs.push_back(std::move(input));
  }
  dom::object map;
  if (root["kernel_to_class_map"].get(map) == simdjson::SUCCESS) {
    RS_TRY(config.classes, classes_of(map, path));
  }
  return config;
}

Result<Classes> read_kernel_classes(const std::string& path) {
  dom::parser parser;
  RS_TRY(const dom::object root, parse(parser, path));
  dom::object map;
  return classes_of(root["kernel_to_class_map"].get(map) == simdjson::SUCCESS ? map : root, path);
}

} // namespace rankscope
