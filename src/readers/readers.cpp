#include "readers/reader.h"

#include "os/byte_source.h"

#include <vector>

namespace rankscope {

std::span<const Reader* const> readers() {
  static const std::vector<const Reader*> kAll = {
#define RANKSCOPE_READER(id) &id##_reader,
#include "readers/readers.def"
#undef RANKSCOPE_READER
  };
  return kAll;
}

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  if (path == "-") // standard input cannot be looked at twice, and Kineto JSON is what is piped
    return readers().front()->read(path, options);
  std::string head(std::size_t{64} << 10, '\0');
  {
    RS_TRY(auto source, ByteSource::open(path));
    head.resize(source->read(head.data(), head.size()));
  }
  std::string known;
  for (const Reader* reader : readers()) {
    if (reader->sniff(head, path))
      return reader->read(path, options);
    known += known.empty() ? reader->name : std::string(", ") + reader->name;
  }
  return Error{ErrorCode::kUnreadable, path,
               head.empty() ? "the file is empty" : "no known trace format (known: " + known + ")",
               ""};
}

} // namespace rankscope
