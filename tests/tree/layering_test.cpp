// Tests that includes between layers have one direction, and that every leaf file is in the .def
// list of its folder.
#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

const fs::path kSource = test::source_dir() / "src";

TEST(Layering, IncludesPointOneWay) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"base", {"base"}},
      {"os", {"base", "os"}},
      {"core", {"base", "os", "core"}},
      {"model", {"base", "os", "core", "model"}},
      {"readers", {"base", "os", "core", "model", "readers"}},
      {"analyses", {"base", "os", "core", "model", "analyses"}},
      {"findings", {"base", "os", "core", "model", "analyses", "findings"}},
      {"writers", {"base", "os", "core", "model", "writers"}},
      {"sql", {"base", "os", "core", "model", "sql"}},
      {"synth", {"base", "os", "core", "model", "synth"}},
      {"collect", {"base", "os", "core", "model", "collect"}},
      {"engine",
       {"base", "os", "core", "model", "readers", "analyses", "findings", "writers", "engine"}},
      {"pages",
       {"base", "os", "core", "model", "readers", "analyses", "findings", "writers", "engine",
        "pages"}},
      {"app",
       {"base", "os", "core", "model", "readers", "analyses", "findings", "writers", "synth",
        "collect", "sql", "engine", "pages", "app"}},
      {"api",
       {"base", "os", "core", "model", "readers", "analyses", "findings", "writers", "synth",
        "collect", "sql", "engine", "pages", "app", "api"}},
      {"cli",
       {"base", "os", "core", "model", "readers", "analyses", "findings", "writers", "synth",
        "collect", "sql", "engine", "pages", "app", "cli"}},
      {"mpi",
       {"base", "os", "core", "model", "readers", "analyses", "findings", "writers", "synth",
        "collect", "sql", "engine", "pages", "app", "cli", "mpi"}},
  };
  const std::regex include(R"re(#include "([a-z]+)/)re");
  int checked = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    if (!entry.is_regular_file() || entry.path().filename() == "CMakeLists.txt")
      continue;
    const std::string layer = fs::relative(entry.path(), kSource).begin()->string();
    ASSERT_TRUE(allowed.count(layer)) << entry.path();
    const std::string text = test::bytes_of(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      EXPECT_TRUE(allowed.at(layer).count((*it)[1])) << entry.path() << " includes " << (*it)[1];
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

// The target of simdjson has a definition that changes the layout of its classes. If a layer
// includes the header without the target, its inline functions have another layout than those of
// other layers.
TEST(Layering, WhoIncludesSimdjsonLinksItsTarget) {
  std::set<std::string> layers;
  for (const auto& entry : fs::recursive_directory_iterator(kSource))
    if (entry.is_regular_file() &&
        test::bytes_of(entry.path()).find("#include <simdjson.h>") != std::string::npos)
      layers.insert(fs::relative(entry.path(), kSource).begin()->string());
  EXPECT_GE(layers.size(), 3U);
  const std::string lists = test::bytes_of(kSource / "CMakeLists.txt");
  for (const std::string& layer : layers)
    EXPECT_TRUE(std::regex_search(lists, std::regex("rs_" + layer + "[^)]*simdjson::simdjson")))
        << layer;
}

TEST(Registration, EveryDescriptorHasItsRowAndEveryRowItsDescriptor) {
  struct Folder {
    const char* name;
    const char* def;
    const char* type;
    const char* macro;
    const char* suffix;
  };
  const Folder folders[] = {
      {"readers", "readers.def", "Reader", "RANKSCOPE_READER", "_reader"},
      {"analyses", "analyses.def", "Analysis", "RANKSCOPE_ANALYSIS", "_analysis"},
      {"writers", "writers.def", "Writer", "RANKSCOPE_WRITER", "_writer"},
      {"cli", "commands.def", "Command", "RANKSCOPE_COMMAND", "_command"},
  };
  for (const Folder& f : folders) {
    std::multiset<std::string> rows;
    const std::string def = test::bytes_of(kSource / f.name / f.def);
    const std::regex row(std::string(f.macro) + R"(\((\w+)\))");
    for (std::sregex_iterator it(def.begin(), def.end(), row), end; it != end; ++it)
      rows.insert((*it)[1]);
    std::multiset<std::string> defined;
    const std::regex descriptor(std::string(R"(const )") + f.type + R"( (\w+))" + f.suffix +
                                R"(\s*(=|\{))");
    for (const auto& entry : fs::recursive_directory_iterator(kSource / f.name)) {
      if (entry.path().extension() != ".cpp")
        continue;
      const std::string text = test::bytes_of(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), descriptor), end; it != end; ++it)
        defined.insert((*it)[1]);
    }
    EXPECT_EQ(rows, defined) << f.name;
  }
}

TEST(Layering, TraceBuilderAloneFillsTraces) {
  // columns of a Trace or of a chunk that only the builder fills
  const std::regex fills(
      R"((events|flows|counters)_?\.[a-z_]+\.(push_back|emplace_back|resize|insert|assign)\()"
      R"(|(op_args|gpu_args|python_args|launch_args)\.(push_back|emplace_back)\()");
  const std::set<std::string> may = {"core/trace_builder.cpp", "readers/kineto/kineto_chunk.cpp"};
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h")
      continue;
    const std::string file = fs::relative(entry.path(), kSource).string();
    const std::string text = test::bytes_of(entry.path());
    const bool does = std::regex_search(text, fills);
    EXPECT_TRUE(!does || may.count(file) > 0) << file;
    found += does ? 1 : 0;
  }
  EXPECT_EQ(found, 2); // if it is not 2, the regular expression does not match any more
}

TEST(Sources, AreAsciiBesideEscapes) {
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    if (!entry.is_regular_file())
      continue;
    const std::string text = test::bytes_of(entry.path());
    const auto bad = std::find_if(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) > 126; });
    EXPECT_TRUE(bad == text.end()) << entry.path() << " at byte " << bad - text.begin();
  }
}

} // namespace
} // namespace rankscope
