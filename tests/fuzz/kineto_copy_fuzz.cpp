// Input: damaged and malicious traces, from which entries are copied. If the input was a valid
// trace, the copy must be one too.
#include "fuzz_target.h"
#include "readers/kineto/kineto_copy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <simdjson.h>
#include <string>
#include <unistd.h>

RS_FUZZ_TARGET(kineto_copy) {
  using namespace rankscope;
  namespace fs = std::filesystem;
  if (bytes.empty())
    return;
  static const fs::path folder =
      fs::temp_directory_path() / ("rs_copy_fuzz_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string in = (folder / "in.json").string();
  const std::string out = (folder / "out.json").string();
  std::ofstream(in, std::ios::binary) << bytes.substr(1);
  KinetoCopyRules rules;
  // the number that the file claims to have
  rules.all_entries = static_cast<unsigned char>(bytes[0]) % 16;
  rules.events = {0, 2};
  const auto counts = copy_kineto_parts(in, {{out, {0, 2, 9}, {1, 7}, {{0, 1000}}}}, rules);
  if (counts && (counts->size() != 1 || counts->front() > rules.all_entries))
    std::abort();
  simdjson::dom::parser parser;
  if (const auto complete = simdjson::padded_string::load(in); counts && !complete.error()) {
    // a valid trace gives a valid part
    const bool was_json = parser.parse(complete.value_unsafe()).error() == simdjson::SUCCESS;
    if (const auto part = simdjson::padded_string::load(out);
        was_json && (part.error() || parser.parse(part.value_unsafe()).error()))
      std::abort();
  }
  fs::remove_all(folder);
}
