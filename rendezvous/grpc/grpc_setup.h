#ifndef MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_
#define MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace muster::rendezvous {

// The header that carries the job token with each call.
inline constexpr char kAuthorization[] = "authorization";
inline constexpr char kBearer[] = "Bearer ";

// The header that the server sends when it accepts an Attach, before any
// directive. A stream that ends without this header was never accepted.
inline constexpr char kWelcome[] = "muster-welcome";

// The trailer of an answer to an operator from a process that only stands by:
// HOST:PORT of the job's coordinator; empty: not known at this time.
inline constexpr char kCoordinatedAt[] = "muster-coordinated-at";

// Both types use the same numeric codes.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

// Configures the gRPC library for the whole process. Idempotent. Call it before
// any other use of gRPC.
//
// - Turns off the search for lock cycles in Debian's Abseil. Its cost at each
//   lock grows with the number of streams: starting 10,000 takes 2.5 times as
//   long.
// - Silences gRPC's own lines on stderr unless GRPC_VERBOSITY is set. They
//   would appear amid the workers' output and repeat what our statuses say.
// - Keeps the library initialised until the process ends. Otherwise gRPC stops
//   its threads with the last channel, and gRPC 1.51 was seen to wait for ever
//   for a thread that had already ended (stop_threads in its timer_manager.cc).
void SetUpGrpc();

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_
