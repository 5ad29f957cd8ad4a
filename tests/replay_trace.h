// A trace with two operators that can be replayed, and one that cannot.
#pragma once

#include "temp_folder.h"

#include <string>

namespace rankscope::test {

inline std::string replay_event(const std::string& name, int ts, int us, const std::string& args) {
  const std::string id = std::to_string(ts);
  const std::string at = std::to_string(ts + 1);
  return R"({"ph":"X","cat":"cpu_op","pid":1,"tid":1,"name":")" + name + R"(","ts":)" + id +
         R"(,"dur":10,"args":)" + args +
         R"(},{"ph":"X","cat":"cuda_runtime","pid":1,"tid":1,"name":"hipLaunchKernel","ts":)" + at +
         R"(,"dur":1,"args":{"correlation":)" + id +
         R"(}},{"ph":"X","cat":"kernel","pid":0,"tid":7,"name":"k)" + id + R"(","ts":)" +
         std::to_string(ts + 20) + R"(,"dur":)" + std::to_string(us) +
         R"(,"args":{"device":0,"stream":7,"correlation":)" + id +
         R"(}},{"ph":"s","cat":"ac2g","name":"ac2g","pid":1,"tid":1,"id":)" + id + R"(,"ts":)" +
         at + R"(},{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","pid":0,"tid":7,"id":)" + id +
         R"(,"ts":)" + std::to_string(ts + 20) + "}";
}

/// Writes a trace with a product of 100 x 200 and 200 x 50 (40 us), a convolution (30 us), and a
/// product with an unknown type (20 us). The type name contains shell and Python code.
inline std::string replay_trace(const TempFolder& t, const std::string& name = "t.json") {
  return t.write(
      name,
      R"({"schemaVersion":1,"traceEvents":[)" +
          replay_event(
              "aten::mm", 0, 40,
              R"({"Input Dims":[[50,200],[200,100]],"Input type":["c10::BFloat16","c10::BFloat16"],)"
              R"("Input Strides":[[200,1],[1,200]],"Concrete Inputs":["",""]})") +
          "," +
          replay_event(
              "aten::convolution", 100, 30,
              R"({"Input Dims":[[1,4,8,8],[4,4,3,3],[]],"Input type":["float","float",""],)"
              R"("Input Strides":[[256,64,8,1],[36,9,3,1],[]],"Concrete Inputs":["","","",)"
              R"("[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"]})") +
          "," +
          replay_event(
              "aten::mm", 200, 20,
              R"j({"Input Dims":[[2,2],[2,2]],"Input type":["'; touch pwned; '\n$(touch pwned)","x"],)j"
              R"("Input Strides":[[2,1],[2,1]],"Concrete Inputs":["",""]})") +
          "]}");
}

} // namespace rankscope::test
