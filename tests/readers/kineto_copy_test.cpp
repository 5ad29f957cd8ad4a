// Tests copies of parts of a Kineto file: which bytes each part gets, and files from which no part
// can be copied.
#include "readers/kineto/kineto_copy.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

const char* const kEntries[] = {
    R"({"ph":"M","name":"process_name","pid":1,"ts":5.5,"args":{"name":"python"}})",
    R"({"ph":"X","name":"a ] } \" b","pid":1,"tid":1,"ts":10,"dur":2})",
    R"({"ph":"s","id":7,"pid":1,"tid":1,"ts":10,"cat":"ac2g","name":"ac2g"})",
    R"({"ph":"f","id":7,"pid":1,"tid":1,"ts":11,"cat":"fwdbwd","name":"fwdbwd"})",
    R"({"ph":"X","name":"c","pid":1,"tid":1,"ts":20,"dur":2})",
    R"({"ph":"i","name":"memory","pid":1,"tid":1,"ts":21.5,"s":"t"})",
    R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"t"}})",
    R"(17)",
};

std::string file_text() {
  std::string out = "{\"schemaVersion\": 1, \"other\": [1, {\"x\": \"]\"}],\n \"traceEvents\": [";
  for (std::size_t i = 0; i < std::size(kEntries); ++i)
    out += (i > 0 ? " ,\n" : "") + std::string(kEntries[i]);
  return out + "], \"traceName\": \"t\"}\n";
}

KinetoCopyRules rules() {
  KinetoCopyRules out;
  out.events = {1, 4};
  out.all_entries = std::size(kEntries);
  return out;
}

std::string with(const std::vector<int>& entries) {
  std::string out = "{\"schemaVersion\": 1, \"other\": [1, {\"x\": \"]\"}],\n \"traceEvents\": [";
  for (std::size_t i = 0; i < entries.size(); ++i)
    out += (i > 0 ? ",\n" : "\n") + std::string(kEntries[entries[i]]);
  return out + "\n], \"traceName\": \"t\"}\n";
}

TEST(KinetoCopy, EntriesAsTheyStand) {
  const test::TempFolder folder;
  const std::string path = folder.write("t.json", file_text());
  const std::vector<KinetoPart> parts = {{folder.path("a.json"), {1}, {7}, {}},
                                         {folder.path("b.json"), {4}, {}, {{20'000, 22'000}}},
                                         {folder.path("none.json"), {}, {}, {}}};
  const auto counts = copy_kineto_parts(path, parts, rules());
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(*counts, (std::vector<std::uint64_t>{4, 4, 2}));
  EXPECT_EQ(test::bytes_of(parts[0].path), with({0, 1, 2, 6}));
  EXPECT_EQ(test::bytes_of(parts[1].path), with({0, 4, 5, 6}));
  EXPECT_EQ(test::bytes_of(parts[2].path), with({0, 6}));
  KinetoCopyRules old = rules(); // like the reference: metadata with a time is dropped
  old.metadata = false;
  old.forward_flows = true;
  ASSERT_TRUE(copy_kineto_parts(path, {parts[0]}, old));
  EXPECT_EQ(test::bytes_of(parts[0].path), with({1, 2, 3, 6}));
}

TEST(KinetoCopy, ABareListAndManyParts) {
  const test::TempFolder folder;
  const std::string path =
      folder.write("t.json", std::string("\xef\xbb\xbf [") + kEntries[1] + "," + kEntries[4] + "]");
  KinetoCopyRules rules;
  rules.events = {0, 1};
  rules.all_entries = 2;
  std::vector<KinetoPart> parts;
  for (std::uint32_t i = 0; i < 150; ++i) // more than can be open at the same time
    parts.push_back({folder.path("p" + std::to_string(i)), {i % 2}, {}, {}});
  const auto counts = copy_kineto_parts(path, parts, rules);
  ASSERT_TRUE(counts) << counts.error().message();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ((*counts)[i], 1U);
    EXPECT_EQ(test::bytes_of(parts[i].path),
              "    [\n" + std::string(kEntries[i % 2 == 0 ? 1 : 4]) + "\n]");
  }
}

// Regression test: blanks and members of the header were buffered together, and so were blanks
// between events.
TEST(KinetoCopy, BlanksTakeNoMemory) {
  const test::TempFolder folder;
  const std::string blanks(std::size_t{5} << 20U, ' ');
  std::string text = blanks + "{" + blanks + "\"schemaVersion\": 1," + blanks +
                     "\"other\": \"a\"," + blanks + " \"traceEvents\": [" + blanks;
  for (std::size_t i = 0; i < std::size(kEntries); ++i)
    text += (i > 0 ? "," : "") + blanks + kEntries[i] + blanks;
  const std::string path = folder.write("t.json", text + "], \"traceName\": \"t\"}\n");
  const std::vector<KinetoPart> parts = {{folder.path("a.json"), {1}, {7}, {}}};
  const auto counts = copy_kineto_parts(path, parts, rules());
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(*counts, (std::vector<std::uint64_t>{4}));
  std::string copied = test::bytes_of(parts[0].path);
  EXPECT_LT(copied.size(), 7 * blanks.size());
  std::erase(copied, ' ');
  const std::string plain = with({0, 1, 2, 6});
  std::string want =
      R"({"schemaVersion":1,"other":"a","traceEvents":[)" + plain.substr(plain.find("[\n") + 1);
  std::erase(want, ' ');
  EXPECT_EQ(copied, want);
}

TEST(KinetoCopy, DamagedFilesGiveNothing) {
  const test::TempFolder folder;
  const std::string text = file_text();
  const std::size_t list_end = text.rfind(']');
  for (std::size_t size = 0; size <= list_end; size += 7) {
    const std::string path = folder.write("t.json", text.substr(0, size));
    const auto counts = copy_kineto_parts(path, {{folder.path("a.json"), {1}, {}, {}}}, rules());
    ASSERT_FALSE(counts) << size;
    EXPECT_EQ(counts.error().code, ErrorCode::kUnreadable);
    EXPECT_FALSE(std::filesystem::exists(folder.path("a.json")));
  }
  const std::string path = folder.write("t.json", text);
  KinetoCopyRules other = rules();
  other.all_entries = 9; // the file differs from the one that was read
  EXPECT_FALSE(copy_kineto_parts(path, {{folder.path("a.json"), {1}, {}, {}}}, other));
  EXPECT_FALSE(
      copy_kineto_parts(folder.path("none"), {{folder.path("a.json"), {1}, {}, {}}}, other));
  const auto folderless =
      copy_kineto_parts(path, {{folder.path("no/a.json"), {1}, {}, {}}}, rules());
  ASSERT_FALSE(folderless);
  EXPECT_EQ(folderless.error().code, ErrorCode::kOutput);
}

} // namespace
} // namespace rankscope
