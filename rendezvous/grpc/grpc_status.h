#ifndef MUSTER_RENDEZVOUS_GRPC_GRPC_STATUS_H_
#define MUSTER_RENDEZVOUS_GRPC_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace muster::rendezvous {

// Both types use the same numeric codes.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_GRPC_GRPC_STATUS_H_
