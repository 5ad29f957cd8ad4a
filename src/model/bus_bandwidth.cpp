#include "model/bus_bandwidth.h"

#include "base/ascii.h"

#include <algorithm>
#include <string>

namespace rankscope {

CollectiveKind collective_kind(std::string_view collective_name) {
  std::string n = lowercase(collective_name);
  n.erase(std::remove(n.begin(), n.end(), '_'), n.end());
  const auto has = [&n](const char* part) { return n.find(part) != std::string::npos; };
  if (has("alltoallv"))
    return CollectiveKind::kAllToAllV;
  if (has("alltoall"))
    return CollectiveKind::kAllToAll;
  if (has("reducescatter"))
    return CollectiveKind::kReduceScatter;
  if (has("allreduce"))
    return CollectiveKind::kAllReduce;
  if (has("allgather"))
    return CollectiveKind::kAllGather;
  if (has("broadcast"))
    return CollectiveKind::kBroadcast;
  if (has("barrier"))
    return CollectiveKind::kBarrier;
  if (has("send"))
    return CollectiveKind::kSend;
  if (has("recv"))
    return CollectiveKind::kRecv;
  if (has("reduce"))
    return CollectiveKind::kReduce;
  return CollectiveKind::kOther;
}

std::string_view collective_kind_name(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::kAllReduce:
    return "allreduce";
  case CollectiveKind::kReduceScatter:
    return "reducescatter";
  case CollectiveKind::kAllGather:
    return "allgather";
  case CollectiveKind::kAllToAll:
    return "alltoall";
  case CollectiveKind::kAllToAllV:
    return "all_to_allv";
  case CollectiveKind::kBroadcast:
    return "broadcast";
  case CollectiveKind::kReduce:
    return "reduce";
  case CollectiveKind::kSend:
    return "send";
  case CollectiveKind::kRecv:
    return "recv";
  case CollectiveKind::kBarrier:
    return "barrier";
  case CollectiveKind::kOther:
    break;
  }
  return "other";
}

double bus_bandwidth_factor(CollectiveKind kind, std::int64_t n) {
  if (n < 1)
    return 0;
  const auto size = static_cast<double>(n);
  switch (kind) {
  case CollectiveKind::kAllReduce:
    return 2 * (size - 1) / size;
  case CollectiveKind::kReduceScatter:
  case CollectiveKind::kAllGather:
  case CollectiveKind::kAllToAll:
  case CollectiveKind::kAllToAllV:
    return (size - 1) / size;
  default:
    return 1;
  }
}

int dtype_bytes(std::string_view dtype) {
  const std::string n = lowercase(dtype);
  if (n.find("float8") == 0 || n == "byte" || n == "char" || n == "bool" || n == "int8" ||
      n == "uint8")
    return 1;
  if (n == "half" || n == "bfloat16" || n == "short" || n == "float16")
    return 2;
  if (n == "float" || n == "int" || n == "float32" || n == "int32")
    return 4;
  if (n == "double" || n == "long" || n == "int64" || n == "float64" || n == "complexfloat")
    return 8;
  if (n == "complexdouble")
    return 16;
  return 0;
}

} // namespace rankscope
