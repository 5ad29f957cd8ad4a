// Handmade traces of a server and of its graph captures. Times are in us.
#pragma once

#include <fmt/format.h>
#include <string>
#include <vector>

namespace rankscope::test {

using Names = std::vector<std::string>;

inline std::string event(const char* category, const std::string& name, double ts, double dur,
                         const std::string& args = "{}", int tid = 6) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":5,"tid":{},"ts":{},"dur":{},)"
                     R"("args":{}}})",
                     category, name, tid, ts, dur, args);
}

inline std::string trace_text(const Names& events, int rank = 0) {
  std::string out = fmt::format(
      R"({{"schemaVersion":1,"distributedInfo":{{"rank":{},"world_size":8}},"traceEvents":[)",
      rank);
  for (std::size_t i = 0; i < events.size(); ++i)
    out += (i > 0 ? ",\n" : "") + events[i];
  return out + "]}";
}

/// Returns one captured graph per list. Each call is inside an operator "op::KERNEL" with shapes
/// (batch, 8).
inline Names capture_events(const std::vector<Names>& graphs, int batch) {
  Names out;
  double ts = 100;
  for (const Names& kernels : graphs) {
    out.push_back(event("cuda_runtime", "hipStreamBeginCapture", ts, 1));
    for (const std::string& k : kernels) {
      ts += 10;
      out.push_back(
          event("cpu_op", "op::" + k, ts, 5,
                fmt::format(R"({{"Input Dims":[[{},8]],"Input type":["float"]}})", batch)));
      out.push_back(event("cuda_runtime", "hipLaunchKernel", ts + 1, 1,
                          fmt::format(R"({{"kernel":"{}","grid":[1,1,1]}})", k)));
    }
    ts += 10;
    out.push_back(event("cuda_runtime", "hipStreamEndCapture", ts, 1));
    ts += 10;
  }
  return out;
}

inline std::string decode_step(int batch) {
  return fmt::format("execute_{0}_context_0(sq0sk0sqsq0sqsk0)_generation_{0}(sq{0}sk9sqsq{0}sqsk9)",
                     batch);
}

/// Returns a step with one graph launch per list of kernels. Times start at `at`.
inline Names replay_events(const std::string& step, const std::vector<Names>& launches,
                           double at = 1000) {
  Names out;
  if (!step.empty())
    out.push_back(
        event("user_annotation", step, at, 100.0 * static_cast<double>(launches.size()) + 50));
  for (std::size_t l = 0; l < launches.size(); ++l) {
    const double ts = at + 10 + 100.0 * static_cast<double>(l);
    const auto id = static_cast<int>(ts);
    out.push_back(event("cuda_runtime", "hipGraphLaunch", ts, 20,
                        fmt::format(R"({{"correlation":{}}})", id)));
    double gpu = ts + 30;
    for (const std::string& k : launches[l]) {
      out.push_back(event("kernel", k, gpu, 4,
                          fmt::format(R"({{"device":0,"stream":1,"correlation":{}}})", id), 1));
      gpu += 5;
    }
  }
  return out;
}

} // namespace rankscope::test
