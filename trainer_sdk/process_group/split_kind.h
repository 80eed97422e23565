#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_KIND_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_KIND_H_

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Split in a signature: every rank of a group must come to it in its turn, as
// to a collective, and it has a number as one. No transport is ever asked for
// it, so it is none of OperationKind's own.
inline constexpr auto kSplitKind = static_cast<OperationKind>(kOperationKinds);

// The kinds that signatures may have.
inline constexpr int kSignatureKinds = kOperationKinds + 1;

// Name(kind), or "split".
inline const char* SignatureName(OperationKind kind) {
  return kind == kSplitKind ? "split" : Name(kind);
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_KIND_H_
