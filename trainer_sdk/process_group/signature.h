#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SIGNATURE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SIGNATURE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// The properties of an operation that must be equal on all ranks for a
// collective to match. Further properties only describe the operation in
// messages. A signature is small and has no pointers, because it is stored in
// ring buffers, sent over the network and written to the store.
struct OperationSignature {
  uint64_t sequence = 0;
  OperationKind kind = OperationKind::kBarrier;
  DType dtype = DType::kFloat32;
  ReduceOp reduce_op = ReduceOp::kSum;
  // Whether a batch has messages of several types. If so, `dtype` is int8 and
  // `count` is in bytes.
  bool mixed = false;
  // The root of a collective, the peer of a send or receive, or the number of
  // messages of a batch.
  int32_t root = 0;
  // The number of elements. For an operation with one count per rank, the sum
  // of these counts; for a batch, the sum of the counts of its messages; for
  // any other operation, Operation::count.
  int64_t count = 0;
  // Whether a collective's `root` and `reduce_op` are unknown, as in dumps of
  // PyTorch's flight recorder.
  bool is_partial = false;
  // A hash of the operation's `counts`; 0 if the operation has none. Must be
  // equal on all ranks, except for an all_to_all, whose counts may differ.
  uint64_t counts_hash = 0;

  friend bool operator==(const OperationSignature&,
                         const OperationSignature&) = default;
};

// The signature of `operation`. Never allocates. Pure.
OperationSignature SignatureOf(const Operation& operation, uint64_t sequence);

// The distinct peers of the messages of a batch. Empty for any other operation,
// and for a batch with more than eight peers.
struct BatchPeers {
  std::array<int32_t, 8> ranks{};
  int count = 0;
};
BatchPeers BatchPeersOf(const Operation& operation);

bool IsReduction(OperationKind kind);
bool HasRoot(OperationKind kind);
// Whether the kind is a send, a receive or a batch.
bool IsPointToPoint(OperationKind kind);

// Whether `a` and `b`, the calls of two ranks, are the same collective. Ignores
// fields that the kind does not use, such as the root of an all_reduce. Also
// ignores the counts of an all_to_all with a count per peer, because these
// counts may differ between ranks.
bool SameCollective(const OperationSignature& a, const OperationSignature& b);

// Describes an operation in messages. Examples:
//
//   all_reduce #12 of 1024 float32 (4096 bytes), sum
//   broadcast #3 of 7 int8 (7 bytes) from rank 0
//   barrier #4
//   send after #4 of 2 float32 (8 bytes) to rank 1
//   batch after #4 of 2 messages, 5 float64 (40 bytes)
//   batch after #4 of 2 messages (28 bytes)
//   all_gather #3 of 6 int64 (48 bytes in parts, counts 3f0a)
//
// The messages of the second batch have several types, so no type is shown. The
// last example has a count per rank: 6 is the sum of the counts, and 3f0a is a
// part of their hash.
std::string Describe(const OperationSignature& signature);

// Encoded converts a signature to one line of printable characters;
// DecodeSignature converts this line back. Decoding any other text gives
// InvalidArgument.
std::string Encoded(const OperationSignature& signature);
absl::StatusOr<OperationSignature> DecodeSignature(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SIGNATURE_H_
