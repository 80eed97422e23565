#ifndef MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_
#define MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace muster::rendezvous {

// The header that carries the job token with each call.
inline constexpr char kAuthorization[] = "authorization";
inline constexpr char kBearer[] = "Bearer ";

// The header that the server sends before any directive if it accepts a call of
// the RPC Attach. If a stream ends without this header, it was never accepted.
inline constexpr char kWelcome[] = "muster-welcome";

// The trailer with which a standby answers an operator's call. Its value is
// HOST:PORT of the job's coordinator; empty: unknown at this time.
inline constexpr char kCoordinatedAt[] = "muster-coordinated-at";

// Metadata keys of a call of Coordinator.Answer, with which a node answers an
// operator's question. kInquiry: Inquiry::id in decimal. kRunIdBytes: the job's
// run id.
inline constexpr char kInquiry[] = "muster-inquiry";
inline constexpr char kRunIdBytes[] = "muster-run-id-bin";

// Convert a status between Abseil and gRPC, which use the same numeric codes.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

// Configures the gRPC library for the whole process. Idempotent. Call it before
// any other use of gRPC.
//
// - Turns off the search for lock cycles in Debian's Abseil. With many streams,
//   the search is slow at each lock: it makes the start of 10,000 streams take
//   2.5 times as long.
// - Silences gRPC's own lines on stderr unless GRPC_VERBOSITY is set. The lines
//   would appear between the workers' output and repeat Muster's messages.
// - Keeps the library initialised until the process ends. Otherwise gRPC stops
//   its threads when the last channel is closed, and gRPC 1.51 was seen to wait
//   for ever for a thread that had already ended (stop_threads in its
//   timer_manager.cc).
void SetUpGrpc();

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_
