// What commands wrote, to be compared: all files below a folder by their names.
#pragma once

#include "temp_folder.h"

#include <filesystem>
#include <map>
#include <string>
#include <zip.h>

namespace rankscope::test {

/// A workbook's parts but for the time of its making.
inline std::string workbook_parts(const std::string& path) {
  int problem = 0;
  zip_t* const book = zip_open(path.c_str(), ZIP_RDONLY, &problem);
  if (book == nullptr)
    return "not a workbook";
  std::string out;
  for (zip_int64_t i = 0; i < zip_get_num_entries(book, 0); ++i) {
    const std::string name = zip_get_name(book, static_cast<zip_uint64_t>(i), 0);
    out += name + "\n";
    if (name == "docProps/core.xml")
      continue;
    zip_file_t* const part = zip_fopen_index(book, static_cast<zip_uint64_t>(i), 0);
    if (part == nullptr)
      continue;
    std::string buffer(65536, '\0');
    for (zip_int64_t n = zip_fread(part, buffer.data(), buffer.size()); n > 0;
         n = zip_fread(part, buffer.data(), buffer.size()))
      out.append(buffer, 0, static_cast<std::size_t>(n));
    zip_fclose(part);
  }
  zip_discard(book);
  return out;
}

/// Bytes of a file; of a workbook its parts.
inline std::string content_of(const std::string& path) {
  return path.ends_with(".xlsx") ? workbook_parts(path) : bytes_of(path);
}

/// By path below the folder. Left out: what a command keeps for its next run, and the manifest,
/// which names the folder and the sizes of workbooks.
inline std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    if (entry.is_regular_file() && name.find(".rankscope") == std::string::npos &&
        !name.ends_with("manifest.json"))
      out[name] = content_of(entry.path().string());
  }
  return out;
}

} // namespace rankscope::test
