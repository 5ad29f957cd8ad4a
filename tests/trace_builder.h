// Builds small handmade traces for tests: operators, Python frames, launches and their kernels.
#pragma once

#include "base/json_text.h"
#include "engine/loader.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope::test {

/// Times are in us. All CPU events are on one thread, except calls with another tid.
class TraceBuilder {
public:
  explicit TraceBuilder(double shift_us = 0) : shift_us_(shift_us) {}
  TraceBuilder& op(const std::string& name, double ts, double dur, const std::string& args = "{}",
                   int tid = 1) {
    return event("cpu_op", name, ts, dur, args, 1, tid);
  }
  TraceBuilder& frame(const std::string& name, double ts, double dur) {
    return event("python_function", name, ts, dur, "{}", 1, 1);
  }
  TraceBuilder& annotation(const std::string& name, double ts, double dur) {
    return event("user_annotation", name, ts, dur, "{}", 1, 1);
  }
  /// Adds a launch of 1 us at `call`, and its kernel; if stream < 0, the kernel has no stream.
  TraceBuilder& kernel(const std::string& name, double call, double ts, double dur, int stream = 7,
                       int tid = 1) {
    const std::string id = std::to_string(++correlation_);
    event("cuda_runtime", "hipLaunchKernel", call, 1, "{\"correlation\":" + id + "}", 1, tid);
    const std::string on = stream < 0 ? "" : ",\"stream\":" + std::to_string(stream);
    return event("kernel", name, ts, dur, "{\"device\":0,\"correlation\":" + id + on + "}", 0,
                 stream < 0 ? 999 : stream);
  }
  /// Adds a kernel without a launch call in the trace.
  TraceBuilder& unlaunched(const std::string& name, double ts, double dur) {
    return event(
        "kernel", name, ts, dur,
        "{\"device\":0,\"stream\":7,\"correlation\":" + std::to_string(++correlation_) + "}", 0, 7);
  }
  /// Adds a launch and its copy.
  TraceBuilder& copy(const std::string& name, double call, double ts, double dur) {
    const std::string id = std::to_string(++correlation_);
    event("cuda_runtime", "hipMemcpyAsync", call, 1, "{\"correlation\":" + id + "}", 1, 1);
    return event("gpu_memcpy", name, ts, dur,
                 "{\"device\":0,\"stream\":7,\"correlation\":" + id + "}", 0, 7);
  }
  /// Adds a runtime call that launches nothing.
  TraceBuilder& call(const std::string& name, double ts, double dur) {
    const std::string id = std::to_string(++correlation_);
    return event("cuda_runtime", name, ts, dur, "{\"correlation\":" + id + "}", 1, 1);
  }
  /// Adds a graph launch of 1 us at `call`. Its kernels start at `ts` and follow each other, 10 us
  /// each. `args` is appended to the arguments of each kernel, after a comma.
  TraceBuilder& graph(const std::vector<std::string>& names, double call, double ts,
                      const std::string& args = "") {
    const std::string id = std::to_string(++correlation_);
    event("cuda_runtime", "cudaGraphLaunch", call, 1, "{\"correlation\":" + id + "}", 1, 1);
    for (const std::string& name : names) {
      event("kernel", name, ts, 10, "{\"device\":0,\"stream\":7,\"correlation\":" + id + args + "}",
            0, 7);
      ts += 10;
    }
    return *this;
  }
  [[nodiscard]] std::string text() const {
    std::string out = R"({"schemaVersion":1,"traceEvents":[)";
    for (std::size_t i = 0; i < events_.size(); ++i)
      out += (i > 0 ? ",\n" : "") + events_[i];
    return out + "]}";
  }
  template <class Random> void shuffle(Random& random) {
    std::shuffle(events_.begin(), events_.end(), random);
  }
  [[nodiscard]] LoadedTrace load(bool python = false) const {
    const TempFolder folder;
    LoadOptions options;
    options.keep_python = python;
    auto loaded = load_trace(folder.write("t.json", text()), options);
    EXPECT_TRUE(loaded) << loaded.error().message();
    return std::move(*loaded);
  }

private:
  TraceBuilder& event(const char* category, const std::string& name, double ts, double dur,
                      const std::string& args, int pid, int tid) {
    events_.push_back(std::string(R"({"ph":"X","cat":")") + category + R"(","name":)" + "\"" +
                      json_escaped(name) + "\"" + ",\"pid\":" + std::to_string(pid) + ",\"tid\":" +
                      std::to_string(tid) + ",\"ts\":" + std::to_string(ts + shift_us_) +
                      ",\"dur\":" + std::to_string(dur) + ",\"args\":" + args + "}");
    return *this;
  }

  double shift_us_;
  std::vector<std::string> events_;
  int correlation_ = 0;
};

} // namespace rankscope::test
