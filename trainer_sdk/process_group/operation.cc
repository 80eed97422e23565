#include "trainer_sdk/process_group/operation.h"

#include <algorithm>
#include <numeric>

namespace muster {
namespace {

int64_t Sum(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

}  // namespace

const char* Name(OperationKind kind) {
  switch (kind) {
    case OperationKind::kAllReduce:
      return "all_reduce";
    case OperationKind::kReduceScatter:
      return "reduce_scatter";
    case OperationKind::kAllGather:
      return "all_gather";
    case OperationKind::kBroadcast:
      return "broadcast";
    case OperationKind::kReduce:
      return "reduce";
    case OperationKind::kAllToAll:
      return "all_to_all";
    case OperationKind::kGather:
      return "gather";
    case OperationKind::kScatter:
      return "scatter";
    case OperationKind::kBarrier:
      return "barrier";
    case OperationKind::kSend:
      return "send";
    case OperationKind::kReceive:
      return "receive";
    case OperationKind::kBatch:
      return "batch";
    case OperationKind::kSplit:
      return "split";
  }
  return "?";
}

int64_t Elements(const Operation& operation, int size) {
  switch (operation.kind) {
    case OperationKind::kReduceScatter:
    case OperationKind::kAllGather:
    case OperationKind::kGather:
    case OperationKind::kScatter:
    case OperationKind::kAllToAll:
      if (operation.counts.empty()) return operation.count * size;
      return std::max(Sum(operation.counts), Sum(operation.receive_counts));
    case OperationKind::kBatch: {
      int64_t total = 0;
      for (const PointToPoint& message : operation.messages) {
        total += message.count;
      }
      return total;
    }
    case OperationKind::kBarrier:
    case OperationKind::kSplit:
      return 0;
    default:
      return operation.count;
  }
}

int64_t Bytes(const Operation& operation, int size) {
  if (operation.kind != OperationKind::kBatch) {
    return Elements(operation, size) * SizeOf(operation.dtype);
  }
  int64_t bytes = 0;
  for (const PointToPoint& message : operation.messages) {
    bytes += message.count * SizeOf(message.dtype);
  }
  return bytes;
}

}  // namespace muster
