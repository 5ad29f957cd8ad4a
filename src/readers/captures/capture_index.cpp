#include "readers/captures/capture_index.h"

#include "base/counters.h"
#include "os/whole_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;

std::optional<CaptureIndexEntry> entry_of(const dom::object& object) {
  std::string_view file;
  std::string_view mode;
  CaptureIndexEntry out;
  if (object["file"].get(file) != simdjson::SUCCESS || file.empty() ||
      file.find('/') != std::string_view::npos || file == "." || file == ".." ||
      object["batch_size"].get(out.batch_size) != simdjson::SUCCESS || out.batch_size < 0 ||
      object["mode"].get(mode) != simdjson::SUCCESS || (mode != "FULL" && mode != "PIECEWISE"))
    return std::nullopt;
  out.file = file;
  out.full = mode == "FULL";
  return out;
}

} // namespace

Result<std::optional<std::vector<CaptureIndexEntry>>> read_capture_index(const std::string& folder,
                                                                         Diagnostics& diag) {
  const std::string path = (std::filesystem::path(folder) / kCaptureIndexName).string();
  std::error_code ec;
  if (!std::filesystem::exists(path, ec))
    return std::optional<std::vector<CaptureIndexEntry>>();
  RS_TRY(const std::string text,
         read_input_file(path, "without this file, rankscope reads the captures themselves"));
  dom::parser parser;
  dom::array list;
  if (const auto status = parser.parse(simdjson::padded_string(text)).get(list);
      status != simdjson::SUCCESS)
    return Error{
        ErrorCode::kUnreadable, path,
        fmt::format("expected a JSON list of captures: {}", simdjson::error_message(status)),
        "without this file, rankscope reads the captures themselves"};
  std::vector<CaptureIndexEntry> out;
  bool names_files = false;
  std::uint64_t bad = 0;
  for (const dom::element element : list) {
    dom::object object;
    const bool is_object = element.get(object) == simdjson::SUCCESS;
    names_files = names_files || (is_object && !object["file"].error());
    if (const auto entry = is_object ? entry_of(object) : std::nullopt)
      out.push_back(*entry);
    else
      ++bad;
  }
  if (!names_files)
    return std::optional<std::vector<CaptureIndexEntry>>();
  if (bad > 0)
    diag.add(counters::capture_index_entries(), path, bad);
  return std::optional(std::move(out));
}

} // namespace rankscope
