// All keys of Kineto's events and their arguments, and the names of categories. Functions are
// inline because this code runs for every member of every event.
#pragma once

#include "core/trace.h"
#include "readers/kineto/json_scan.h"

#include <array>
#include <string>
#include <string_view>

namespace rankscope {

/// A value as written in the file; for a string, the text between the quotes.
struct Raw {
  std::string_view text;
  bool present = false;
  bool string = false;
  bool escaped = false;
};

struct RawArgs {
  Raw external_id, correlation, stream, device, bytes, grid, block, graph, graph_node;
  Raw sequence, dims, types, strides, concrete, kernel_file;
  Raw coll_name, dtype, pg_name, pg_desc, pg_ranks, in_split, out_split;
  Raw in_nelems, out_nelems, group_size, seq, rank, src_rank, dst_rank;
  Raw python_id, python_parent, python_module;
  Raw name, labels, kernel;
  bool collective = false;
};

struct RawEvent {
  Raw ph, cat, name, pid, tid, ts, dur, id;
  const char* args = nullptr; ///< position of the opening brace; needed to read counters
};

/// Returns the text with escapes decoded. If there are escapes, the result is stored in `room`.
inline std::string_view plain(const Raw& raw, std::string& room) {
  if (!raw.escaped)
    return raw.text;
  room = json::unescape(raw.text);
  return room;
}

inline Raw* wanted_key(RawEvent& e, std::string_view key) {
  switch (key.size()) {
  case 2:
    if (key == "ph")
      return &e.ph;
    if (key == "ts")
      return &e.ts;
    if (key == "id")
      return &e.id;
    return nullptr;
  case 3:
    if (key == "cat")
      return &e.cat;
    if (key == "pid")
      return &e.pid;
    if (key == "tid")
      return &e.tid;
    if (key == "dur")
      return &e.dur;
    return nullptr;
  case 4:
    return key == "name" ? &e.name : nullptr;
  default:
    return nullptr;
  }
}

/// Finds an argument by its key, for keys of up to 9 bytes.
[[gnu::always_inline]] inline Raw* wanted_short_arg(RawArgs& a, std::string_view key) {
  switch (key.size()) {
  case 3:
    if (key == "Seq")
      return &a.seq;
    break;
  case 4:
    if (key == "grid")
      return &a.grid;
    if (key == "name")
      return &a.name;
    if (key == "Rank")
      return &a.rank;
    break;
  case 5:
    if (key == "block")
      return &a.block;
    if (key == "bytes" || key == "Bytes")
      return &a.bytes;
    if (key == "dtype")
      return &a.dtype;
    break;
  case 6:
    if (key == "stream")
      return &a.stream;
    if (key == "device")
      return &a.device;
    if (key == "labels")
      return &a.labels;
    if (key == "kernel")
      return &a.kernel;
    break;
  case 8:
    if (key == "graph id")
      return &a.graph;
    if (key == "Src Rank")
      return &a.src_rank;
    if (key == "Dst Rank")
      return &a.dst_rank;
    break;
  case 9:
    if (key == "Python id")
      return &a.python_id;
    break;
  default:
    break;
  }
  return nullptr;
}

/// Finds an argument by its key, for keys of 16 bytes and more.
[[gnu::always_inline]] inline Raw* wanted_longest_arg(RawArgs& a, std::string_view key) {
  switch (key.size()) {
  case 16:
    if (key == "Python parent id")
      return &a.python_parent;
    if (key == "Python module id")
      return &a.python_module;
    break;
  case 18:
    if (key == "Process Group Name") {
      a.collective = true;
      return &a.pg_name;
    }
    break;
  case 19:
    if (key == "Process Group Ranks")
      return &a.pg_ranks;
    break;
  case 25:
    if (key == "Process Group Description")
      return &a.pg_desc;
    break;
  default:
    break;
  }
  return nullptr;
}

/// Finds an argument by its key, for keys of 10 bytes and more.
[[gnu::always_inline]] inline Raw* wanted_long_arg(RawArgs& a, std::string_view key) {
  switch (key.size()) {
  case 10:
    if (key == "Input Dims" || key == "Input dims")
      return &a.dims;
    if (key == "Input type")
      return &a.types;
    if (key == "Group size") {
      a.collective = true;
      return &a.group_size;
    }
    break;
  case 11:
    if (key == "External id" || key == "external id")
      return &a.external_id;
    if (key == "correlation")
      return &a.correlation;
    if (key == "kernel_file")
      return &a.kernel_file;
    break;
  case 13:
    if (key == "graph node id")
      return &a.graph_node;
    if (key == "Input Strides")
      return &a.strides;
    if (key == "In msg nelems")
      return &a.in_nelems;
    if (key == "In split size")
      return &a.in_split;
    break;
  case 14:
    if (key == "Out msg nelems")
      return &a.out_nelems;
    if (key == "Out split size")
      return &a.out_split;
    break;
  case 15:
    if (key == "Sequence number")
      return &a.sequence;
    if (key == "Concrete Inputs")
      return &a.concrete;
    if (key == "Collective name") {
      a.collective = true;
      return &a.coll_name;
    }
    break;
  default:
    return wanted_longest_arg(a, key);
  }
  return nullptr;
}

[[gnu::always_inline]] inline Raw* wanted_arg(RawArgs& a, std::string_view key) {
  return key.size() < 10 ? wanted_short_arg(a, key) : wanted_long_arg(a, key);
}

inline Category category_of(std::string_view cat) {
  struct Entry {
    std::string_view text;
    Category category;
  };
  static constexpr std::array<Entry, 20> kNames = {{
      {"cpu_op", Category::kCpuOp},
      {"cuda_runtime", Category::kRuntime},
      {"kernel", Category::kKernel},
      {"python_function", Category::kPythonFunction},
      {"user_annotation", Category::kUserAnnotation},
      {"gpu_user_annotation", Category::kGpuUserAnnotation},
      {"gpu_memcpy", Category::kGpuMemcpy},
      {"gpu_memset", Category::kGpuMemset},
      {"cuda_driver", Category::kDriver},
      {"overhead", Category::kOverhead},
      {"cuda_sync", Category::kCudaSync},
      {"cuda_event", Category::kCudaEvent},
      {"cpu_instant_event", Category::kCpuInstant},
      {"hip_runtime", Category::kRuntime},
      {"Kernel", Category::kKernel}, // names of 2021 and earlier
      {"Memcpy", Category::kGpuMemcpy},
      {"Memset", Category::kGpuMemset},
      {"Runtime", Category::kRuntime},
      {"Operator", Category::kCpuOp},
      {"cuda_profiler_range", Category::kOther},
  }};
  for (const Entry& entry : kNames)
    if (entry.text == cat)
      return entry.category;
  return Category::kOther;
}

} // namespace rankscope
