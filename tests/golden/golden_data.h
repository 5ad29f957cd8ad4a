// Finds reference tables, and reads and compares their cells.
#pragma once

#include "os/byte_source.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace rankscope::golden {

/// Folder of the reference data in the source tree (tests/data/README.md), which always exists.
inline std::filesystem::path tree_root() {
  return test::source_dir() / "tests" / "data";
}

/// Folder of the reference data outside the source tree; empty if it does not exist.
inline std::filesystem::path root() {
  const std::filesystem::path path = test::golden_dir();
  return std::filesystem::is_directory(path) ? path : std::filesystem::path();
}

/// Message of tests that are skipped because root() is empty.
inline constexpr const char* kAbsent =
    "the reference data of real runs is absent (RANKSCOPE_GOLDEN names its folder)";

/// Returns all entries below a root, sorted. The folder "synth" of the data outside the source tree
/// is left out, because its files are also in the source tree.
inline std::vector<std::filesystem::path> entries(const std::filesystem::path& below) {
  std::vector<std::filesystem::path> out;
  if (below.empty())
    return out;
  const bool outside = below != tree_root();
  for (auto it = std::filesystem::recursive_directory_iterator(below);
       it != std::filesystem::recursive_directory_iterator(); ++it)
    if (outside && it.depth() == 0 && it->path().filename() == "synth")
      it.disable_recursion_pending();
    else
      out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns the decompressed bytes of a trace; empty if it cannot be opened.
inline std::string unpacked(const std::string& path) {
  std::string text;
  auto source = ByteSource::open(path);
  if (!source)
    return text;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t had = text.size();
    text.resize(had + (std::size_t{1} << 20));
    got = (*source)->read(text.data() + had, text.size() - had);
    text.resize(had + got);
  }
  return text;
}

/// Writes the files of a tar archive (with any compression that traces can have) to a folder,
/// without the folders in their names. Returns false if the archive cannot be read.
inline bool unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& to) {
  constexpr std::size_t kBlock = 512;
  const std::string text = unpacked(archive.string());
  std::size_t files = 0;
  for (std::size_t at = 0; at + kBlock <= text.size() && text[at] != '\0';) {
    const std::string name = text.substr(at, 100).c_str(); // up to the first zero byte
    const auto bytes =
        static_cast<std::size_t>(std::strtoull(text.substr(at + 124, 12).c_str(), nullptr, 8));
    const char type = text[at + 156];
    at += kBlock;
    if ((type == '0' || type == '\0') && at + bytes <= text.size()) {
      std::ofstream(to / std::filesystem::path(name).filename(), std::ios::binary)
          .write(text.data() + at, static_cast<std::streamsize>(bytes));
      ++files;
    }
    at += (bytes + kBlock - 1) / kBlock * kBlock;
  }
  return files > 0;
}

struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// Reads a CSV file according to RFC 4180.
inline Csv read_csv(const std::filesystem::path& path) {
  const std::string text = test::bytes_of(path);
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> line;
  std::string cell;
  bool quoted = false;
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        cell += c;
      }
    } else if (c == '"') {
      quoted = any = true;
    } else if (c == ',') {
      line.push_back(std::move(cell));
      cell.clear();
      any = true;
    } else if (c == '\n') {
      if (any || !cell.empty()) {
        line.push_back(std::move(cell));
        lines.push_back(std::move(line));
      }
      line.clear();
      cell.clear();
      any = false;
    } else if (c != '\r') {
      cell += c;
      any = true;
    }
  }
  if (any || !cell.empty()) {
    line.push_back(std::move(cell));
    lines.push_back(std::move(line));
  }
  Csv out;
  if (!lines.empty()) {
    out.header = lines.front();
    out.rows.assign(lines.begin() + 1, lines.end());
  }
  return out;
}

} // namespace rankscope::golden
