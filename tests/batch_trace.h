// Builds small traces for tests of the batch report: calls with correlation ids and flows, and GPU
// events with ids.
#pragma once

#include "base/json_text.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace rankscope::test {

/// Times in us.
class BatchTrace {
public:
  /// `args`: a JSON object.
  BatchTrace& event(const char* category, const std::string& name, double ts, double dur,
                    const std::string& args = "{}", int pid = 1, int tid = 1) {
    events_.push_back(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},)"
                                  R"("dur":{},"args":{}}})",
                                  category, json_escaped(name), pid, tid, ts, dur, args));
    return *this;
  }
  BatchTrace& op(const std::string& name, double ts, double dur, const std::string& dims = "",
                 const std::string& types = "[]", const std::string& strides = "[]",
                 const std::string& concrete = "[]") {
    return event("cpu_op", name, ts, dur,
                 dims.empty() ? "{}"
                              : fmt::format(R"({{"Input Dims":{},"Input type":{},)"
                                            R"("Input Strides":{},"Concrete Inputs":{}}})",
                                            dims, types, strides, concrete));
  }
  BatchTrace& call(const std::string& name, double ts, double dur, int id,
                   const char* category = "cuda_runtime") {
    return event(category, name, ts, dur, fmt::format("{{\"correlation\":{}}}", id));
  }
  BatchTrace& gpu(const char* category, const std::string& name, double ts, double dur, int id,
                  bool external = true, const std::string& more = "") {
    return event(category, name, ts, dur,
                 fmt::format("{{\"correlation\":{},\"stream\":7{}{}}}", id,
                             external ? fmt::format(",\"External id\":{}", id) : "", more),
                 0, 7);
  }
  BatchTrace& flow(int id) {
    events_.push_back(fmt::format(
        R"({{"ph":"s","id":{},"pid":1,"tid":1,"ts":1,"cat":"ac2g","name":"ac2g"}})", id));
    events_.push_back(fmt::format(
        R"({{"ph":"f","id":{},"pid":0,"tid":7,"ts":1,"cat":"ac2g","name":"ac2g","bp":"e"}})", id));
    return *this;
  }
  /// Adds a call of 0.2 us at `at` that launches a kernel.
  BatchTrace& kernel(const std::string& name, double at, double ts, double dur,
                     const std::string& more = "", const char* category = "kernel") {
    const int id = next_++;
    return call("hipLaunchKernel", at, 0.2, id)
        .gpu(category, name, ts, dur, id, true, more)
        .flow(id);
  }
  /// Adds a collective kernel with its arguments.
  BatchTrace& collective(const std::string& name, double ts, double dur, const std::string& group,
                         const std::string& dtype = "Float", std::int64_t in = 1024,
                         std::int64_t out = 1024, int size = 2) {
    const std::string pg = group.empty() ? "" : fmt::format(R"(,"Process Group Name":"{}")", group);
    return kernel("ncclDevKernel_Generic(ncclDevComm*)", ts - 1, ts, dur,
                  fmt::format(R"(,"Collective name":"{}","dtype":"{}","In msg nelems":{},)"
                              R"("Out msg nelems":{},"Group size":{},)"
                              R"("Process Group Ranks":"[0, 1]","In split size":"[]",)"
                              R"("Out split size":"[]"{})",
                              name, dtype, in, out, size, pg));
  }
  [[nodiscard]] std::string text() const {
    std::string out = R"({"schemaVersion":1,"traceEvents":[)";
    for (std::size_t i = 0; i < events_.size(); ++i)
      out += (i > 0 ? ",\n" : "") + events_[i];
    return out + "]}";
  }

private:
  std::vector<std::string> events_;
  int next_ = 1000;
};

} // namespace rankscope::test
