// Reference tables: where they are, how their cells are read and compared.
#pragma once

#include "test_paths.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace rankscope::golden {

/// Folder of the reference data; empty when it is absent.
inline std::filesystem::path root() {
  const std::filesystem::path path = test::golden_dir();
  return std::filesystem::is_directory(path) ? path : std::filesystem::path();
}

struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// RFC 4180.
inline Csv read_csv(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
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
