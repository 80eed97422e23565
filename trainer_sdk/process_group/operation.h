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
  kBatch,  // several sends and receives at once: batch_isend_irecv
  // ProcessGroup::Split: a transport performs it as a barrier. Callers of Run
  // and Start get InvalidArgument.
  kSplit,
};
// The kinds that Run and Start take: all before kSplit.
inline constexpr int kOperationKinds = 12;
// The kinds that a signature may have.
inline constexpr int kSignatureKinds = kOperationKinds + 1;

// PyTorch's names: "all_reduce".
const char* Name(OperationKind kind);

// One message of a batch.
struct PointToPoint {
  OperationKind kind = OperationKind::kSend;  // or kReceive
  int peer = 0;
  int tag = 0;
  void* data = nullptr;  // read by a send, written by a receive
  int64_t count = 0;
  DType dtype = DType::kFloat32;
};

// One operation as one rank asks for it, whatever the transport. n is the
// group's size, all counts are elements.
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
// Where `counts` is used and empty, every rank's part is `count` elements.
// all_to_all: counts[r] is what this rank sends to r, receive_counts[r] what
// it gets from r; both are given or neither.
//
// input == output (in place) is allowed for all_reduce, broadcast and reduce;
// for reduce_scatter, all_gather, gather and scatter in place means, as for
// NCCL, that the shorter one is this rank's own part of the longer one.
// Otherwise, and for all_to_all always, they must not overlap. A count of 0 is
// allowed everywhere; a null pointer where nothing is read or written. No rank
// sends to itself.
struct Operation {
  OperationKind kind = OperationKind::kBarrier;
  DType dtype = DType::kFloat32;
  ReduceOp reduce_op = ReduceOp::kSum;
  int root = 0;  // of broadcast, reduce, gather, scatter; the peer of send,
                 // receive
  int tag = 0;   // of send, receive
  int64_t count = 0;
  std::vector<int64_t> counts;
  std::vector<int64_t> receive_counts;
  const void* input = nullptr;
  void* output = nullptr;
  // What the caller's buffers point to, where the type of a pointer told it:
  // compared with `dtype` before anything is done.
  std::optional<DType> pointee = std::nullopt;
  std::vector<PointToPoint> messages;
  // CUDA transports only: the cudaStream_t that `input` is ready on and that
  // whatever reads `output` is put on.
  void* stream = nullptr;
};

// How many elements the longest buffer of `operation` holds in a group of
// `size`; for a batch, the sum of its messages. What bandwidth is told by, and
// what the flight recorder shows.
int64_t Elements(const Operation& operation, int size);

// The same in bytes.
int64_t Bytes(const Operation& operation, int size);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_OPERATION_H_
