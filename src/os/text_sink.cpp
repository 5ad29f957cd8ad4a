#include "os/text_sink.h"

#include <charconv>
#include <isa-l/igzip_lib.h>
#include <utility>
#include <vector>

namespace rankscope {

struct TextSink::Deflate {
  isal_zstream stream{};
  std::vector<std::uint8_t> level = std::vector<std::uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::vector<std::uint8_t> out = std::vector<std::uint8_t>(std::size_t{1} << 18);

  Deflate() {
    isal_deflate_init(&stream);
    stream.gzip_flag = IGZIP_GZIP;
    stream.level = 1;
    stream.level_buf = level.data();
    stream.level_buf_size = static_cast<std::uint32_t>(level.size());
    stream.flush = NO_FLUSH;
  }

  void run(std::string_view in, bool last, OutputFile& file) {
    // next_in is not const, but the library does not write to it
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<std::uint32_t>(in.size());
    stream.end_of_stream = last ? 1 : 0;
    do {
      stream.next_out = out.data();
      stream.avail_out = static_cast<std::uint32_t>(out.size());
      isal_deflate(&stream);
      file.write(std::string_view(reinterpret_cast<const char*>(out.data()),
                                  out.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  }
};

Result<TextSink> TextSink::create(const std::string& path, bool gzip) {
  RS_TRY(OutputFile file, OutputFile::create(path));
  return TextSink(std::move(file), gzip);
}

TextSink::TextSink(OutputFile file, bool gzip)
    : file_(std::move(file)), deflate_(gzip ? std::make_unique<Deflate>() : nullptr),
      buffer_(new char[kBuffer]) {}
TextSink::TextSink(TextSink&&) noexcept = default;
TextSink::~TextSink() = default;

void TextSink::emit(std::string_view s) {
  flushed_ += s.size();
  if (deflate_)
    deflate_->run(s, false, file_);
  else
    file_.write(s);
}

void TextSink::flush_for(std::size_t) {
  if (used_ == 0)
    return;
  emit({buffer_.get(), used_});
  used_ = 0;
}

void TextSink::number(std::int64_t v) {
  if (used_ + 24 > kBuffer)
    flush_for(24);
  char* const at = buffer_.get() + used_;
  used_ += static_cast<std::size_t>(std::to_chars(at, at + 24, v).ptr - at);
}

void TextSink::microseconds(std::int64_t ns) {
  if (used_ + 28 > kBuffer)
    flush_for(28);
  char* at = buffer_.get() + used_;
  char* const begin = at;
  if (ns < 0) {
    *at++ = '-';
    ns = -ns;
  }
  at = std::to_chars(at, at + 24, ns / 1000).ptr;
  const auto rest = static_cast<unsigned>(ns % 1000);
  *at++ = '.';
  *at++ = static_cast<char>('0' + rest / 100);
  *at++ = static_cast<char>('0' + rest / 10 % 10);
  *at++ = static_cast<char>('0' + rest % 10);
  used_ += static_cast<std::size_t>(at - begin);
}

Result<void> TextSink::commit() {
  flush_for(0);
  if (deflate_)
    deflate_->run({}, true, file_);
  return file_.commit();
}

} // namespace rankscope
