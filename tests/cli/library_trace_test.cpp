// Tests rankscope library-trace with saved logs on the command line, also compressed ones.
#include "cli/run_binary.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <string>

namespace rankscope {
namespace {

const std::string kConv =
    "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 -c 1 "
    "-H 8 -W 8 -k 1 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -m conv -g 1 -F 1 -t 1\n";

TEST(LibraryTraceCommand, PlainAndCompressedLogsTogether) {
  const test::TempFolder t;
  const std::string log = t.write("a.log", kConv + "epoch 1\n" + kConv);
  ASSERT_EQ(test::run_program("/bin/gzip", {"-k", log}).code, 0);
  const auto r =
      test::run_binary({"--json", "library-trace", log, log + ".gz", "-o", t.path("lt.csv"),
                        "--model", "alexnet", "--job-id", "12", "--others", t.path("rest.log")});
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string csv = test::bytes_of(t.path("lt.csv"));
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "jobid,created_date,model,library,config,calls");
  EXPECT_NE(csv.find("\n12,20"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",alexnet,miopen,./bin/MIOpenDriver conv -n 1"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",4\n"), std::string::npos) << csv;
  EXPECT_NE(test::bytes_of(t.path("lt_detail.csv")).find("miopen,conv forward,f32,"),
            std::string::npos);
  EXPECT_EQ(test::bytes_of(t.path("rest.log")), "epoch 1\nepoch 1\n");
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(r.out);
  EXPECT_EQ(json["tables"]["log"]["rows"].at(0).at(1).get_uint64().value(), 6U);       // lines
  EXPECT_EQ(json["tables"]["libraries"]["rows"].at(0).at(2).get_uint64().value(), 4U); // calls
  EXPECT_EQ(json["tables"]["files"]["rows"].get_array().size(), 2U);
}

TEST(LibraryTraceCommand, ProfileTraceParseIsTheSame) {
  const test::TempFolder t;
  const std::string log = t.write("a.log", kConv + "epoch 1\n" + kConv);
  const auto a = test::run_binary({"library-trace", log, "-o", t.path("a.csv")});
  const auto b = test::run_binary({"profile", "trace-parse", log, "-o", t.path("b.csv")});
  ASSERT_EQ(a.code, 0) << a.err;
  ASSERT_EQ(b.code, 0) << b.err;
  EXPECT_NE(b.out.find("2 calls of 1 configurations"), std::string::npos) << b.out;
  const std::string detail = test::bytes_of(t.path("b_detail.csv"));
  EXPECT_NE(detail.find("miopen,conv forward"), std::string::npos) << detail;
  EXPECT_EQ(detail, test::bytes_of(t.path("a_detail.csv")));
  EXPECT_NE(test::bytes_of(t.path("b.csv")).find(",miopen,./bin/MIOpenDriver conv"),
            std::string::npos);
  EXPECT_EQ(test::run_binary({"profile", "trace-parse"}).code, 2);
  EXPECT_EQ(test::run_binary({"profile", "tools", log}).code, 2);
}

TEST(LibraryTraceCommand, DamageAndTruncationAreTold) {
  const test::TempFolder t;
  const std::string log = t.write("a.log", kConv + kConv.substr(0, 90) + "\n");
  const auto r = test::run_binary({"library-trace", log, "-o", t.path("lt.csv")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("damaged or unknown lines"), std::string::npos) << r.err;
  EXPECT_NE(r.out.find("1 damaged"), std::string::npos) << r.out;
  ASSERT_EQ(test::run_program("/bin/gzip", {"-k", log}).code, 0);
  const std::string gz = test::bytes_of(log + ".gz");
  const auto cut = test::run_binary(
      {"library-trace", t.write("b.gz", gz.substr(0, gz.size() / 2)), "-o", t.path("cut.csv")});
  EXPECT_EQ(cut.code, 4) << cut.err;
  EXPECT_EQ(test::run_binary({"library-trace", t.path("none.log")}).code, 3);
  EXPECT_EQ(test::run_binary({"library-trace"}).code, 2);
}

TEST(LibraryTraceCommand, ALogIsNeverReplaced) {
  const test::TempFolder t;
  const std::string log = t.write("a.log", kConv);
  EXPECT_NE(test::run_binary({"library-trace", log, "-o", log}).code, 0);
  EXPECT_EQ(test::bytes_of(log), kConv);
}

TEST(LibraryTraceCommand, TheTableOnStandardOutput) {
  const test::TempFolder t;
  const auto r = test::run_binary({"library-trace", t.write("a.log", kConv), "-o", "-"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.substr(0, 6), "jobid,");
  EXPECT_NE(r.out.find("MIOpenDriver"), std::string::npos);
}

} // namespace
} // namespace rankscope
