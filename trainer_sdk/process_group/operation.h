#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATION_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

enum class OperationKind : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
  kBarrier,
  kSend,
  kReceive,
  // several sends and receives as one operation (PyTorch's batch_isend_irecv)
  kBatch,
  // The operation of a ProcessGroup::Split, which a transport performs as a
  // barrier. ProcessGroup's Run and Start reject it with InvalidArgument.
  kSplit,
};
// The number of kinds that Run and Start accept: all enumerators before kSplit.
inline constexpr int kOperationKinds = 12;
// The number of kinds that an OperationSignature may have: the kinds that Run
// accepts, plus kSplit.
inline constexpr int kSignatureKinds = kOperationKinds + 1;

// PyTorch's name of the operation, such as "all_reduce".
const char* Name(OperationKind kind);

// One message of a batch.
struct PointToPoint {
  OperationKind kind = OperationKind::kSend;  // kSend or kReceive
  int peer = 0;
  int tag = 0;
  void* data = nullptr;  // source of a send, destination of a receive
  int64_t count = 0;
  DType dtype = DType::kFloat32;
};

// One rank's request for an operation, the same for all transports. All counts
// are numbers of elements.
//
//   kind            reads               writes
//   all_reduce      input[count]        output[count]
//   reduce_scatter  input[sum(counts)]  output[counts[rank]]
//   all_gather      input[counts[rank]] output[sum(counts)], in rank order
//   broadcast       input[count] (root) output[count] (everyone)
//   reduce          input[count]        output[count] (root)
//   all_to_all      input[sum(counts)]  output[sum(receive_counts)]
//   gather          input[counts[rank]] output[sum(counts)] (root)
//   scatter         input[sum(counts)] (root)  output[counts[rank]]
//   barrier         -                   -
//   send            input[count]        -
//   receive         -                   output[count]
//   batch           `messages`
//   split           -                   -
//
// If `counts` is empty where the table uses it, every rank's part is `count`
// elements. all_to_all: this rank sends counts[r] elements to rank r and
// receives receive_counts[r] elements from it; give both lists or neither.
//
// input == output (in place) is allowed for all_reduce, broadcast and reduce.
// For reduce_scatter, all_gather, gather and scatter, in place means, as in
// NCCL, that the shorter buffer is this rank's part of the longer one. Buffers
// that are not in place must not overlap; the buffers of an all_to_all are
// never in place. A count of 0 is always allowed. A buffer that is not read or
// written may be null. A rank must not send to itself.
struct Operation {
  OperationKind kind = OperationKind::kBarrier;
  DType dtype = DType::kFloat32;
  ReduceOp reduce_op = ReduceOp::kSum;
  // the root's rank for broadcast, reduce, gather and scatter; the peer's rank
  // for send and receive
  int root = 0;
  int tag = 0;  // tag of the message; for send and receive only
  int64_t count = 0;
  std::vector<int64_t> counts;
  std::vector<int64_t> receive_counts;
  const void* input = nullptr;
  void* output = nullptr;
  // The C++ type of the caller's buffers, as a DType; nullopt if the caller
  // passed untyped pointers. Compared with `dtype` before the operation starts.
  std::optional<DType> pointee = std::nullopt;
  std::vector<PointToPoint> messages;
  // A cudaStream_t on which the operation is enqueued; used by CUDA transports
  // only. Kernels that write `input` must be enqueued on this stream before the
  // operation, and kernels that read `output` after it.
  void* stream = nullptr;
};

// The number of elements in the longest buffer of `operation` in a group of
// `size` ranks; for a batch, the sum over its messages. Used to compute
// bandwidth and shown by the flight recorder.
int64_t Elements(const Operation& operation, int size);

// The size in bytes of the longest buffer of `operation`; see Elements.
int64_t Bytes(const Operation& operation, int size);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATION_H_
