// Tests the Kineto reader with valid and malicious input in the test code.
#include "readers/kineto/json_scan.h"
#include "readers/reader.h"
#include "temp_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace rankscope {
namespace {

using test::TempFolder;

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream z = {};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string event(const std::string& name, const std::string& ts, const std::string& dur,
                  const std::string& more = "") {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         ts + R"(, "dur": )" + dur + R"(, "args": {"stream": 7, "correlation": 5)" + more + "}}";
}

std::string wrap(const std::string& events) {
  return "{\"schemaVersion\": 1,\n\"traceEvents\": [\n" + events + "\n], \"traceName\": \"t\"}";
}

Result<Trace> read_text(const std::string& bytes, ReadOptions options = {}) {
  const TempFolder folder;
  return read_trace(folder.write("t.json", bytes), options);
}

std::uint64_t count_of(const Trace& t, const std::string& problem) {
  for (const Problem& p : t.diagnostics.problems())
    if (p.name == problem)
      return p.count;
  return 0;
}

TEST(KinetoReader, TimesAreExactNanoseconds) {
  // 1.7e15 us: here, a double has a resolution of only 0.25 us
  const auto t = read_text(wrap(event("k", "1700000000000000.001", "0.9") + "," +
                                event("k", "1700000000000000.002", "3")));
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 2U);
  EXPECT_EQ(t->events.ts_ns[0], 1700000000000000001);
  EXPECT_EQ(t->events.ts_ns[1], 1700000000000000002);
  EXPECT_EQ(t->events.dur_ns[0], 900);
  EXPECT_EQ(t->events.dur_ns[1], 3000);
  EXPECT_TRUE(t->diagnostics.empty());
}

TEST(KinetoReader, NumberTexts) {
  std::int64_t ns = 0;
  EXPECT_TRUE(json::us_text_to_ns("1.2345", ns));
  EXPECT_EQ(ns, 1235); // rounded at the fourth decimal
  EXPECT_TRUE(json::us_text_to_ns("-2.5", ns));
  EXPECT_EQ(ns, -2500);
  EXPECT_TRUE(json::us_text_to_ns("1e3", ns));
  EXPECT_EQ(ns, 1000000);
  EXPECT_TRUE(json::us_text_to_ns("1.700000000000000001e15", ns)); // a double would lose the 1
  EXPECT_EQ(ns, 1700000000000000001);
  EXPECT_TRUE(json::us_text_to_ns("-12345.6e-4", ns));
  EXPECT_EQ(ns, -1235);
  EXPECT_TRUE(json::us_text_to_ns("0e99", ns));
  EXPECT_EQ(ns, 0);
  EXPECT_TRUE(json::us_text_to_ns("5e-9", ns));
  EXPECT_EQ(ns, 0);
  for (const char* bad : {"1e", "1e99", "1e3x", "1e99999999999"})
    EXPECT_FALSE(json::us_text_to_ns(bad, ns)) << bad;
  for (const char* bad : {"", "-", "NaN", "Infinity", "1.2.3", "12x", "99999999999999999"})
    EXPECT_FALSE(json::us_text_to_ns(bad, ns)) << bad;
}

TEST(KinetoReader, HeaderBeforeAndAfterTheEvents) {
  const auto t = read_text(
      R"({"baseTimeNanoseconds": 1767189312000000000, "record_shapes": 1, "x": {"a": [1, "]"]},
      "deviceProperties": [{"id": 0, "name": "G", "warpSize": 64, "numSms": 38}], "traceEvents": [)" +
      event("k", "1", "2") +
      R"(], "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8,
      "pg_config": [{"pg_name": "0", "pg_desc": "d", "pg_size": 2, "ranks": "[0, 1]"}]}})");
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->clock().offset_ns, 1767189312000000000);
  EXPECT_EQ(t->header.rank, 3);
  EXPECT_EQ(t->header.world_size, 8);
  EXPECT_EQ(t->header.process_groups.at(0).ranks, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(t->vendor(), "AMD");
  EXPECT_EQ(t->header.devices.at(0).multiprocessors, 38);
  EXPECT_EQ(t->header.other.at(0).first, "x");
  EXPECT_EQ(t->header.other.at(0).second, R"({"a": [1, "]"]})");
}

TEST(KinetoReader, NumbersOfTheHeaderInQuotes) {
  const auto t =
      read_text(R"({"distributedInfo": {"rank": "3", "world_size": "8"}, "traceEvents": [)" +
                event("k", "1", "2") + "]}");
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->header.rank, 3);
  EXPECT_EQ(t->header.world_size, 8);
}

TEST(KinetoReader, BareArrayAndStringTimesAndTextIds) {
  const auto t = read_text(R"([{"name": "a<\"=\u00b5", "ph": "X", "cat": "cpu_op", "pid": "p",
      "tid": "", "ts": "10", "dur": "1.5"},
      {"ph": "M", "name": "process_name", "pid": 5, "tid": 0, "args": {"name": "python"}},
      {"ph": "M", "name": "odd_metadata", "pid": 5}, {}, )" +
                           event("k", "12", "1") + "]");
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 2U);
  EXPECT_EQ(t->name(0), "a<\"=\xc2\xb5");
  EXPECT_EQ(t->events.ts_ns[0], 10000);
  EXPECT_EQ(t->strings.view(t->tracks[t->events.track[0]].pid_text), "p");
  EXPECT_EQ(t->events.uid[1], 4U); // metadata and {} also count as entries
  EXPECT_EQ(t->events_in_file, 5U);
}

TEST(KinetoReader, EventsOfTheProfilerWithoutKineto) {
  // the format of torch 1.13 built without Kineto: no categories, processes by name
  const auto t = read_text(
      R"([{"name": "ProfilerStep#3", "ph": "X", "ts": 115, "dur": 156973, "tid": 1, "pid": "CPU functions", "args": {}}, )"
      R"({"name": "aten::mm", "ph": "X", "ts": 131, "dur": 1, "tid": 1, "pid": "CPU functions", "args": {}}, )"
      R"({"name": "sgemm", "ph": "X", "ts": 140, "dur": 2, "tid": 0, "pid": "CUDA functions", "args": {}}, )"
      R"({"name": "launch", "ph": "s", "ts": 131, "tid": 1, "pid": "CPU functions", "id": 9, "cat": "cpu_to_cuda", "args": {}}, )"
      R"({"name": "other", "ph": "X", "ts": 150, "dur": 1, "tid": 0, "pid": "my functions", "args": {}}])");
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.category, (std::vector<Category>{Category::kUserAnnotation, Category::kCpuOp,
                                                       Category::kKernel, Category::kOther}));
  EXPECT_EQ(t->events.ts_ns[0], 115'000);
}

TEST(KinetoReader, TruncatedJsonKeepsWhatWasRead) {
  const std::string text = wrap(event("a", "1", "1") + ",\n" + event("b", "3", "1"));
  const auto t = read_text(text.substr(0, text.find("\"b\"") + 5));
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 1U);
  EXPECT_TRUE(t->diagnostics.data_lost());
  EXPECT_EQ(count_of(*t, "input_truncated"), 1U);
  EXPECT_EQ(count_of(*t, "event_malformed"), 1U);
}

// Positions in a compressed file count unpacked bytes, which the message must say.
TEST(KinetoReader, PositionSaysWhetherTheFileWasUnpacked) {
  const std::string text = wrap(event("a", "1", "1") + ",\n" + event("b", "3", "1"));
  const std::string cut = text.substr(0, text.find("\"b\"") + 5);
  for (const bool packed : {false, true}) {
    const auto t = read_text(packed ? gzip(cut) : cut);
    ASSERT_TRUE(t) << t.error().message();
    for (const Problem& problem : t->diagnostics.problems()) {
      EXPECT_NE(problem.where.find(": byte "), std::string::npos) << problem.where;
      EXPECT_EQ(problem.where.ends_with(" after unpacking"), packed) << problem.where;
    }
  }
}

TEST(KinetoReader, GzipMembersTrailingBytesAndDamage) {
  std::string text = wrap(event("a", "1", "1"));
  for (int i = 0; i < 2000; ++i)
    text.insert(text.find("\n]"),
                ",\n" + event("k" + std::to_string(i % 7), std::to_string(i), "1"));
  const std::string first = gzip(text.substr(0, text.size() / 3));
  const std::string second = gzip(text.substr(text.size() / 3));
  for (const std::string& bytes :
       {gzip(text), first + second, first + second + std::string(40, '\0'),
        first + second + "\x1f trailing"}) {
    const auto t = read_text(bytes);
    ASSERT_TRUE(t) << t.error().message();
    EXPECT_EQ(t->events.size(), 2001U);
    EXPECT_FALSE(t->diagnostics.data_lost());
  }
  const std::string packed = gzip(text);
  const auto cut = read_text(packed.substr(0, packed.size() / 2));
  ASSERT_TRUE(cut) << cut.error().message();
  EXPECT_GT(cut->events.size(), 10U);
  EXPECT_LT(cut->events.size(), 2001U);
  EXPECT_EQ(count_of(*cut, "input_damaged"), 1U);
}

TEST(KinetoReader, Zstd) {
  const std::string text = wrap(event("a", "1", "1"));
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  const auto t = read_text(packed);
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 1U);
  const auto cut = read_text(packed.substr(0, packed.size() - 9));
  EXPECT_FALSE(cut && !cut->diagnostics.data_lost());
}

TEST(KinetoReader, BadEventsAreDroppedAndCounted) {
  struct Case {
    const char* what;
    std::string bad;
    const char* problem;
  };
  const Case cases[] = {
      {"NaN", event("x", "NaN", "1"), "event_bad_time"},
      {"infinite dur", event("x", "1", "Infinity"), "event_bad_time"},
      {"negative dur", event("x", "1", "-1"), "event_bad_time"},
      {"no dur", R"({"ph": "X", "cat": "kernel", "name": "x", "pid": 0, "tid": 7, "ts": 1})",
       "event_bad_time"},
      {"ts of the wrong type", event("x", "[1]", "1"), "event_bad_time"},
      {"an unescaped quote", event("x\" y", "1", "1"), "event_malformed"},
      {"garbage", "garbage", "event_malformed"},
      {"a number", "12", "event_malformed"},
  };
  for (const Case& c : cases) {
    const auto t =
        read_text(wrap(event("a", "1", "1") + ",\n" + c.bad + ",\n" + event("b", "3", "1")));
    ASSERT_TRUE(t) << c.what << ": " << t.error().message();
    EXPECT_EQ(t->events.size(), 2U) << c.what;
    EXPECT_EQ(t->name(1), "b") << c.what;
    EXPECT_EQ(count_of(*t, c.problem), 1U) << c.what;
    EXPECT_TRUE(t->diagnostics.data_lost()) << c.what;
  }
}

TEST(KinetoReader, OneBadEventCostsOneEventWhateverKeyComesFirst) {
  const auto named = [](const std::string& name, int ts) {
    return fmt::format(
        R"({{"name": "{}", "ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": {},)"
        R"( "dur": 1, "args": {{"stream": 7}}}})",
        name, ts);
  };
  const auto t = read_text(wrap(named("a", 1) + ",\n" + named("x\" y", 2) + ",\n" + named("b", 3) +
                                ",\n" + named("c", 4)));
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 3U);
  EXPECT_EQ(t->name(2), "c");
  EXPECT_EQ(count_of(*t, "event_malformed"), 1U);
}

TEST(KinetoReader, TolerableOdditiesAreReadInFull) {
  // trailing commas, duplicate keys (the last is valid), control characters, bytes that are not
  // UTF-8
  const auto t = read_text(wrap(event("a\x01\xff", "1", "1", ", \"correlation\": 9,") + ",\n,"));
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 1U);
  EXPECT_EQ(t->events.correlation[0], 9);
  EXPECT_EQ(t->name(0), "a\x01\xff");
  EXPECT_EQ(count_of(*t, "text_not_utf8"), 1U);
  EXPECT_EQ(count_of(*t, "text_control_characters"), 1U);
  EXPECT_FALSE(t->diagnostics.data_lost());
}

TEST(KinetoReader, LineBreaksAndTabsAreNoControlCharactersToTell) {
  const auto t = read_text(wrap(event("line\\n\\tone\\r\\nline two", "1", "1",
                                      ", \"grid\": [\n\t1,\r\n\t2, 3], \"correlation\": 9,")));
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 1U);
  EXPECT_EQ(t->name(0), "line\n\tone\r\nline two");
  EXPECT_EQ(count_of(*t, "text_control_characters"), 0U);
}

TEST(KinetoReader, WhatIsNoTraceIsOneClearError) {
  const TempFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty"},
      {"[]", "no usable event"},
      {"{\"a\": 1}", "no traceEvents"},
      {"{\"traceEvents\": []}", "no usable event"},
      {"hello", "unknown trace format"},
      {"{\"a\": [1, 2", "ends in its header"},
  };
  for (const auto& [text, expected] : cases) {
    const auto t = read_trace(folder.write("t.json", text));
    ASSERT_FALSE(t) << text;
    EXPECT_EQ(t.error().code, ErrorCode::kUnreadable) << text;
    EXPECT_NE(t.error().message().find(expected), std::string::npos) << t.error().message();
  }
  EXPECT_NE(read_trace(folder.path("absent")).error().what.find("No such file"), std::string::npos);
  EXPECT_NE(read_trace(folder.path("")).error().what.find("directory"), std::string::npos);
  const std::string closed = folder.write("closed.json", wrap(event("a", "1", "1")));
  ::chmod(closed.c_str(), 0);
  if (::geteuid() != 0) { // root can read every file
    EXPECT_NE(read_trace(closed).error().what.find("denied"), std::string::npos);
  }
}

TEST(KinetoReader, CollectiveAndOperatorArguments) {
  const auto t = read_text(wrap(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 1, "dur": 1,
      "args": {"External id": 4, "Sequence number": 17, "Input Dims": [[8, 4], [4, 2]],
      "Input type": ["float", "float"], "Concrete Inputs": ["", "x]\"y"]}},)" +
      event("ncclDevKernel_Generic", "5", "2",
            R"(, "Collective name": "allreduce", "In msg nelems": 100, "Group size": 8,
            "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": 3, "dtype": "Float",
            "grid": [1,2,3], "bytes": 77)")));
  ASSERT_TRUE(t) << t.error().message();
  const OpArgs* op = t->op(0);
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(t->strings.view(op->input_dims), "[[8, 4], [4, 2]]");
  EXPECT_EQ(op->sequence_number, 17);
  const CollectiveArgs* c = t->collective_of(1);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(t->strings.view(c->collective_name), "allreduce");
  EXPECT_EQ(c->seq, 3);
  EXPECT_EQ(c->in_nelems, 100);
  EXPECT_EQ(t->gpu_arg(1)->bytes, 77);
  EXPECT_EQ(t->collective_of(0), nullptr);
}

TEST(KinetoReader, PythonEventsOnlyWhenAsked) {
  const std::string python =
      R"({"ph": "X", "cat": "python_function", "name": "f.py(3): g", "pid": 1, "tid": 2, "ts": 1,
      "dur": 1, "args": {"Python id": 4, "Python parent id": null}})";
  const std::string text = wrap(python + "," + event("k", "5", "2"));
  EXPECT_EQ(read_text(text)->events.size(), 1U);
  EXPECT_EQ(read_text(text)->python_events_skipped, 1U);
  ReadOptions keep;
  keep.keep_python = true;
  const auto t = read_text(text, keep);
  ASSERT_EQ(t->events.size(), 2U);
  EXPECT_EQ(t->python_args[t->events.args[0]].python_id, 4);
}

void expect_equal(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.events.ts_ns, b.events.ts_ns);
  EXPECT_EQ(a.events.dur_ns, b.events.dur_ns);
  EXPECT_EQ(a.events.correlation, b.events.correlation);
  EXPECT_EQ(a.events.uid, b.events.uid);
  EXPECT_EQ(a.events.name, b.events.name);
  EXPECT_EQ(a.events.track, b.events.track);
  EXPECT_EQ(a.events.args, b.events.args);
  EXPECT_EQ(a.flows.id, b.flows.id);
  EXPECT_EQ(a.strings.size(), b.strings.size());
  EXPECT_EQ(a.events_in_file, b.events_in_file);
}

TEST(KinetoReader, WindowsAndThreadsDoNotChangeTheResult) {
  std::string events;
  for (int i = 0; i < 3000; ++i) {
    if (i > 0)
      events += ",\n";
    if (i % 5 == 0)
      events +=
          fmt::format(R"({{"ph": "s", "id": {}, "pid": 1, "tid": {}, "ts": {}, "cat": "ac2g",)"
                      R"( "name": "ac2g"}})",
                      i, i % 3, i);
    else if (i % 7 == 0) // like a writer that does not write ph first
      events += fmt::format(R"({{"name": "n{}", "ph": "X", "cat": "cpu_op", "pid": {}, "tid": 1,)"
                            R"( "ts": {}, "dur": 2, "args": {{"Input Dims": [[{}]]}}}})",
                            i % 11, i % 2, i, i % 13);
    else
      events += event("kernel_\\\"" + std::to_string(i % 17), std::to_string(i) + ".5", "1");
  }
  const TempFolder folder;
  const std::string path = folder.write("t.json", wrap(events));
  const auto complete = read_trace(path);
  ASSERT_TRUE(complete);
  EXPECT_TRUE(complete->diagnostics.empty());
  for (const unsigned threads : {1U, 3U})
    for (const std::size_t window : {std::size_t{64}, std::size_t{1000}, std::size_t{4096}}) {
      ReadOptions options;
      options.threads = threads;
      options.window_bytes = window;
      const auto t = read_trace(path, options);
      ASSERT_TRUE(t) << t.error().message();
      expect_equal(*complete, *t);
      EXPECT_TRUE(t->diagnostics.empty());
    }
}

TEST(KinetoReader, ArgumentsThatDifferInWhiteSpaceAreOneText) {
  const auto op = [](const char* dims) {
    return std::string(R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1,
        "dur": 1, "args": {"Input Dims": )") +
           dims + "}}";
  };
  const std::string text =
      wrap(op("[[2, 3], []]") + ",\n" + op("[[2,3],[]]") + "," + op("[ [2,\n3 ], [ ] ]"));
  for (const std::size_t window : {std::size_t{0}, std::size_t{100}}) {
    ReadOptions options;
    options.window_bytes = window;
    const auto t = read_text(text, options);
    ASSERT_TRUE(t) << t.error().message();
    ASSERT_EQ(t->events.size(), 3U);
    EXPECT_EQ(t->strings.view(t->op(0)->input_dims), "[[2, 3], []]");
    EXPECT_EQ(t->op(1)->input_dims, t->op(0)->input_dims);
    EXPECT_EQ(t->op(2)->input_dims, t->op(0)->input_dims);
    EXPECT_EQ(t->strings.find("[[2,3],[]]"), StringPool::kNotFound); // stored once, in normal form
    EXPECT_TRUE(t->diagnostics.empty()); // the line break is not part of a text
  }
}

TEST(KinetoReader, ClockIsUnixWithABaseTimeOnly) {
  EXPECT_EQ(read_text(wrap(event("k", "1", "2")))->clock().domain, ClockDomain::kUnknown);
  const auto t =
      read_text(R"({"baseTimeNanoseconds": 5, "traceEvents": [)" + event("k", "1", "2") + "]}");
  EXPECT_EQ(t->clock().domain, ClockDomain::kUnix);
  EXPECT_EQ(t->sources.at(0).reader, "kineto-json");
  const auto far = read_text(R"({"baseTimeNanoseconds": 9223372036854775807, "traceEvents": [)" +
                             event("k", "1", "2") + "]}");
  EXPECT_EQ(far->clock().domain, ClockDomain::kUnknown);
  EXPECT_EQ(count_of(*far, "header_value_malformed"), 1U);
}

TEST(KinetoReader, CountersAreSamples) {
  const auto t = read_text(wrap(
      R"({"ph": "C", "name": "GPU 0", "pid": 3, "ts": 1.5, "args": {"power": 300.5, "x": "no"}},
      {"ph": "C", "name": "util", "pid": 3, "ts": 2, "args": {"value": 7}},
      {"args": {"util": 8}, "name": "util", "ts": 3, "ph": "C", "pid": 3},
      {"ph": "C", "name": "empty", "pid": 3, "ts": 4},)" +
      event("k", "1", "2")));
  ASSERT_TRUE(t) << t.error().message();
  const Counters& c = t->counters;
  ASSERT_EQ(c.size(), 3U);
  EXPECT_EQ(t->strings.view(c.name[0]), "GPU 0 power");
  EXPECT_EQ(t->strings.view(c.name[1]), "util");
  EXPECT_EQ(c.name[1], c.name[2]);
  EXPECT_EQ(c.ts_ns, (std::vector<std::int64_t>{1500, 2000, 3000}));
  EXPECT_EQ(c.value, (std::vector<double>{300.5, 7, 8}));
  EXPECT_EQ(t->tracks[c.track[0]].pid, 3);
  EXPECT_EQ(t->events.uid[0], 4U);
  EXPECT_TRUE(t->diagnostics.empty());
}

TEST(KinetoReader, TimesWhoseSumsWouldNotFitAreRefused) {
  const auto t = read_text(wrap(event("a", "9000000000000000", "9000000000000000") + "," +
                                event("b", "-9000000000000000", "1") + "," + event("c", "1", "2")));
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 1U);
  EXPECT_EQ(count_of(*t, "event_bad_time"), 2U);
}

TEST(KinetoReader, AByteOrderMarkIsSkipped) {
  const auto t = read_text("\xef\xbb\xbf" + wrap(event("a", "1", "2")));
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 1U);
}

TEST(KinetoReader, EscapesInKeysCategoriesAndPhases) {
  const auto t = read_text(
      R"({"traceEv\u0065nts": [{"p\u0068": "\u0058", "c\u0061t": "kern\u0065l", "name": "k", "pid": 0,
      "tid": 0, "ts": 1, "dur": 2, "\u0061rgs": {"str\u0065am": 7}}]})");
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 1U);
  EXPECT_EQ(t->events.category[0], Category::kKernel);
  EXPECT_EQ(t->events.stream[0], 7);
}

TEST(KinetoReader, WhatFollowsTheListOfEventsIsTold) {
  const std::string file = wrap(event("a", "1", "2"));
  const std::string list = "[" + event("a", "1", "2") + "]";
  const std::pair<std::string, const char*> cases[] = {
      {file + file, "input_after_end"},
      {file + std::string(1000, '\0'), "input_after_end"},
      {list + list, "input_after_end"},
      {"{\"traceEvents\": " + list + ", \"traceEvents\": " + list + "}", "second_event_list"},
      {file + "\n \n", nullptr},
      {list + "\n", nullptr},
  };
  for (const std::size_t window : {std::size_t{0}, std::size_t{64}})
    for (const auto& [text, problem] : cases) {
      ReadOptions options;
      options.window_bytes = window;
      const auto t = read_text(text, options);
      ASSERT_TRUE(t) << t.error().message();
      EXPECT_EQ(t->events.size(), 1U);
      EXPECT_EQ(t->diagnostics.data_lost(), problem != nullptr) << text;
      if (problem != nullptr) {
        EXPECT_EQ(count_of(*t, problem), 1U) << text;
      }
    }
  EXPECT_EQ(read_text(gzip(file) + gzip(file))->diagnostics.data_lost(), true);
}

TEST(KinetoReader, BytesBehindTheTraceAreNotKept) {
  const TempFolder folder;
  const std::string path = folder.write("t.json", wrap(event("a", "1", "2")));
  std::filesystem::resize_file(path, std::uintmax_t{512} << 20); // a hole of zero bytes
  ReadOptions options;
  const auto t = read_trace(path, options);
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(count_of(*t, "input_after_end"), 1U);
  EXPECT_LT(t->input_bytes, std::uint64_t{128} << 20); // the bytes after it are not even read
}

TEST(KinetoReader, EveryTruncationIsSurvived) {
  const std::string text = wrap(event("a", "1", "1") + ",\n" + event("b\\u00b5", "3", "1"));
  for (std::size_t n = 0; n <= text.size(); ++n) {
    ReadOptions options;
    options.window_bytes = 32;
    const auto t = read_text(text.substr(0, n), options);
    EXPECT_TRUE(!t || t->events.size() <= 2);
    if (t && n < text.size() - 20) {
      EXPECT_TRUE(t->diagnostics.data_lost()) << n;
    }
  }
}

} // namespace
} // namespace rankscope
