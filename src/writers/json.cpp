// Reports as JSON: {"title":...,"tables":{NAME:{"columns":[...],"units":[...],"rows":[[...]],
// "notes":[...]}},
// "problems":[...]}. Blank cells are null.
#include "base/json_text.h"
#include "base/number_text.h"
#include "os/output_file.h"
#include "writers/writer.h"

#include <cmath>

namespace rankscope {
namespace {

std::string quoted_text(std::string_view text) {
  return '"' + json_escaped(text) + '"';
}

void append(std::string& out, const Value& v) {
  switch (v.kind) {
  case CellKind::kInt:
    out += std::to_string(v.i);
    return;
  case CellKind::kBool:
    out += v.i != 0 ? "true" : "false";
    return;
  case CellKind::kDouble:
    out += std::isfinite(v.d) ? python_float(v.d) : "null";
    return;
  case CellKind::kText:
    out += quoted_text(v.text);
    return;
  case CellKind::kNull:
    out += "null";
  }
}

Result<void> write(const Report& report, const std::string& path) {
  RS_TRY(auto file, OutputFile::create(path));
  file.write(json_text(report));
  return file.commit();
}

} // namespace

std::string json_text(const Report& report) {
  std::string out = "{\"title\":" + quoted_text(report.title) + ",\"tables\":{";
  for (const Table& t : report.tables) {
    if (&t != report.tables.data())
      out += ',';
    out += '\n' + quoted_text(t.name()) + ":{\"columns\":[";
    for (std::size_t c = 0; c < t.cols(); ++c)
      out += (c > 0 ? "," : "") + quoted_text(t.columns()[c].name);
    out += "],\"units\":[";
    for (std::size_t c = 0; c < t.cols(); ++c)
      out += (c > 0 ? "," : "") + quoted_text(unit_name(t.columns()[c].unit));
    out += "],\"rows\":[";
    for (std::size_t r = 0; r < t.rows(); ++r) {
      out += r > 0 ? ",\n[" : "\n[";
      for (std::size_t c = 0; c < t.cols(); ++c) {
        if (c > 0)
          out += ',';
        append(out, t.at(r, c));
      }
      out += ']';
    }
    out += "],\"notes\":[";
    for (std::size_t i = 0; i < t.notes.size(); ++i)
      out += (i > 0 ? "," : "") + quoted_text(t.notes[i]);
    out += "]}";
  }
  out += "},\n\"problems\":[";
  bool first = true;
  for (const Problem& p : report.diagnostics.problems()) {
    out += first ? "" : ",";
    first = false;
    out += "{\"name\":" + quoted_text(p.name) + ",\"count\":" + std::to_string(p.count) +
           ",\"where\":" + quoted_text(p.where) + ",\"sentence\":" + quoted_text(p.sentence) + "}";
  }
  return out + "]}\n";
}

const Writer json_writer{"json", ".json", "one JSON file with all tables", write};

} // namespace rankscope
