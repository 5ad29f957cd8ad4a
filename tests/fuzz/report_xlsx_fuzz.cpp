// Input: a workbook, either as a zip file (input that starts with PK) or as its parts sheet, shared
// strings, workbook and relations, separated by NUL, which are zipped here. Missing parts are
// replaced by valid ones.
#include "analyses/compare/compare_reports.h"
#include "fuzz/fuzz_target.h"
#include "readers/reports/report_tables.h"
#include "temp_folder.h"

#include <filesystem>
#include <zip.h>

namespace {

constexpr const char* kNames[] = {"xl/worksheets/sheet1.xml", "xl/sharedStrings.xml",
                                  "xl/workbook.xml", "xl/_rels/workbook.xml.rels"};
constexpr const char* kBook =
    R"(<workbook><sheets><sheet name="ops_summary" sheetId="1" r:id="rId1"/></sheets></workbook>)";
constexpr const char* kRelations =
    R"(<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>)";

void zip_parts(const std::string& path, const std::string (&parts)[4]) {
  std::filesystem::remove(path);
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE, &code);
  if (archive == nullptr)
    return;
  for (std::size_t i = 0; i < 4; ++i) {
    if (parts[i].empty())
      continue;
    zip_source_t* const source = zip_source_buffer(archive, parts[i].data(), parts[i].size(), 0);
    const zip_int64_t index = zip_file_add(archive, kNames[i], source, ZIP_FL_OVERWRITE);
    if (index < 0)
      zip_source_free(source);
    else
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0)
    zip_discard(archive);
}

} // namespace

RS_FUZZ_TARGET(report_xlsx) {
  static const rankscope::test::TempFolder folder;
  const std::string path = folder.path("r.xlsx");
  if (bytes.substr(0, 2) == "PK") {
    folder.write("r.xlsx", std::string(bytes));
  } else {
    std::string parts[4];
    rankscope::test::split_parts(bytes, parts);
    if (parts[2].empty())
      parts[2] = kBook;
    if (parts[3].empty())
      parts[3] = kRelations;
    zip_parts(path, parts);
  }
  const auto report = rankscope::read_report_tables(path);
  if (report.has_value())
    (void)rankscope::compare_reports({*report, *report}, {"a", "b"}, {});
}
