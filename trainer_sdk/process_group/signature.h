#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SIGNATURE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SIGNATURE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// What must be the same on every rank for a collective to be one, and what is
// worth telling of any operation. Small and flat: it goes into rings, over
// wires and through the store.
struct OperationSignature {
  uint64_t sequence = 0;
  OperationKind kind = OperationKind::kBarrier;
  DType dtype = DType::kFloat32;
  ReduceOp reduce_op = ReduceOp::kSum;
  // A batch of messages of several types: `dtype` is int8, and `count` bytes.
  bool mixed = false;
  // The peer of a send or receive; how many messages a batch has.
  int32_t root = 0;
  // `count`, or where every rank's part is given, and of a batch's messages,
  // the sum of them.
  int64_t count = 0;
  // Of `counts`, where they must agree; 0 where there are none.
  uint64_t counts_hash = 0;

  friend bool operator==(const OperationSignature&,
                         const OperationSignature&) = default;
};

// What `operation` asks of its peers. Never allocates. Pure.
OperationSignature SignatureOf(const Operation& operation, uint64_t sequence);

// Whom a batch's messages go to and come from, each once. Empty for any other
// operation, and for a batch with more than eight.
struct BatchPeers {
  std::array<int32_t, 8> ranks{};
  int count = 0;
};
BatchPeers BatchPeersOf(const Operation& operation);

bool IsReduction(OperationKind kind);
bool HasRoot(OperationKind kind);
bool IsPointToPoint(OperationKind kind);  // batch included

// Whether two ranks that ask this of one group ask for the same collective.
// What one kind does not use (the root of an all_reduce) is not compared, nor
// are the counts of an all_to_all with parts, which rightly differ.
bool SameCollective(const OperationSignature& a, const OperationSignature& b);

// "all_reduce #12 of 1024 float32 (4096 bytes), sum";
// "broadcast #3 of 7 int8 (7 bytes) from rank 0"; "barrier #4";
// "send after #4 of 2 float32 (8 bytes) to rank 1";
// "batch after #4 of 2 messages, 5 float64 (40 bytes)", and of several types
// "batch after #4 of 2 messages (28 bytes)". With one count for each rank
// "all_gather #3 of 6 int64 (48 bytes in parts, counts 3f0a)": four digits of a
// hash, which differ where the counts do, whatever their sum.
std::string Describe(const OperationSignature& signature);

// A line of printable characters, and back. InvalidArgument for anything that
// Encoded did not make.
std::string Encoded(const OperationSignature& signature);
absl::StatusOr<OperationSignature> DecodeSignature(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SIGNATURE_H_
