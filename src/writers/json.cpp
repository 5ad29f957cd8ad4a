// Writes reports as JSON with the schema "rankscope/1" (docs/json.md):
// {"schema":...,"version":...,"title":...,"problems":[...],"tables":{NAME:{"columns":[...],
// "ids":[...],"units":[...],"types":[...],"rows":[[...]],"notes":[...]}}}.
// Blank cells become null, and lists in cells become lists.
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/snake_case.h"
#include "core/nested_text.h"
#include "os/output_file.h"
#include "writers/json_head.h"
#include "writers/stream_writer.h"
#include "writers/writer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace rankscope {
namespace {

std::string quoted_text(std::string_view text) {
  return '"' + json_escaped(text) + '"';
}

/// Appends a JSON list with one text per column.
template <class Get> void append_columns(std::string& out, const Table& t, const Get& get) {
  out += '[';
  for (std::size_t c = 0; c < t.cols(); ++c)
    out += (c > 0 ? "," : "") + quoted_text(get(t.columns()[c]));
  out += ']';
}

std::string type_name(const Column& column) {
  return column.nested ? "list" : cell_kind_name(column.type);
}

/// The JSON texts of the cells of a table. Many cells have the same text, so each text is converted
/// only once.
class Texts {
public:
  explicit Texts(std::size_t cols) : columns_(cols) {}

  const std::string& encoded(std::size_t col, std::string_view text, bool nested) {
    constexpr std::size_t kMost = 1024; // maximum number of stored texts per column
    auto& known = columns_[col];
    if (const auto at = known.find(text.data());
        at != known.end() && at->second.bytes == text.size())
      return at->second.json;
    if (known.size() >= kMost)
      known.clear();
    Text& fresh = known[text.data()];
    fresh.bytes = text.size();
    std::optional<std::string> list = nested ? nested_json(text) : std::nullopt;
    fresh.json = list ? std::move(*list) : quoted_text(text);
    return fresh.json;
  }

private:
  struct Text {
    std::size_t bytes = 0;
    std::string json;
  };
  std::vector<std::unordered_map<const char*, Text>> columns_; ///< key: address of the text
};

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
  case CellKind::kText: // these are written with Texts
  case CellKind::kNull:
    out += "null";
  }
}

Result<void> write(const Report& report, const std::string& path) {
  return write_json_streams(report, {}, path);
}

/// Appends the rows `from` to `to` - 1 of `t`. `first`: no row has been written yet.
void append_rows(std::string& out, Texts& texts, const Table& t, std::size_t from, std::size_t to,
                 bool first) {
  for (std::size_t r = from; r < to; ++r) {
    out += first && r == from ? "\n[" : ",\n[";
    for (std::size_t c = 0; c < t.cols(); ++c) {
      if (c > 0)
        out += ',';
      if (const Value v = t.at(r, c); v.kind == CellKind::kText)
        out += texts.encoded(c, v.text, t.columns()[c].nested);
      else
        append(out, v);
    }
    out += ']';
  }
}

} // namespace

Result<void> write_json_streams(const Report& report, const RowStreams& streams,
                                const std::string& path) {
  RS_TRY(auto file, OutputFile::create(path));
  RS_CHECK(write_json(report, streams, [&file](std::string_view text) { file.write(text); }));
  return file.commit();
}

std::string json_text(const Report& report) {
  std::string out;
  (void)write_json(report, {}, [&out](std::string_view text) { out += text; }); // cannot fail
  return out;
}

Result<void> write_json(const Report& report, const RowStreams& streams,
                        const std::function<void(std::string_view)>& write) {
  constexpr std::size_t kRowsAtOnce = 1000;
  std::string out = "{" + json_head(report.title) + ",\"tables\":{";
  for (const Table& t : report.tables) {
    if (&t != report.tables.data())
      out += ',';
    out += '\n' + quoted_text(t.name()) + ":{\"columns\":";
    append_columns(out, t, [](const Column& c) { return c.name; });
    out += ",\"ids\":";
    append_columns(out, t,
                   [](const Column& c) { return c.id.empty() ? snake_case(c.name) : c.id; });
    out += ",\"units\":";
    append_columns(out, t, [](const Column& c) { return unit_name(c.unit); });
    out += ",\"types\":";
    append_columns(out, t, type_name);
    out += ",\"rows\":[";
    bool any = false;
    RS_CHECK(each_rows(t, streams, [&](const Table& some) -> Result<void> {
      Texts texts(some.cols());
      for (std::size_t r = 0; r < some.rows(); r += kRowsAtOnce) {
        append_rows(out, texts, some, r, std::min(some.rows(), r + kRowsAtOnce), !any);
        any = true;
        write(out);
        out.clear();
      }
      return {};
    }));
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
           ",\"severity\":" + quoted_text(severity_name(p.severity)) +
           ",\"where\":" + quoted_text(p.where) + ",\"sentence\":" + quoted_text(p.sentence) + "}";
  }
  write(out + "]}\n");
  return {};
}

const Writer json_writer{"json", ".json", "one JSON file with all tables", write};

} // namespace rankscope
