#ifndef MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_
#define MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_

namespace muster {

// What this process asks of the gRPC library as a whole; does so once, however
// often it is called. Call it before anything else of gRPC.
//
// - Debian's Abseil looks for lock cycles at each lock, at a cost that grows
//   with the number of streams (2.5 times as long to start 10,000): off.
// - gRPC writes its own lines to stderr, in the midst of the workers' output,
//   for what our statuses say anyway: silent unless GRPC_VERBOSITY is set.
// - The library stays up until the process ends. With the last channel gone it
//   would stop its threads, and 1.51 has been seen to wait for ever for one
//   that was already gone (stop_threads in its timer_manager.cc).
void SetUpGrpc();

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_GRPC_GRPC_SETUP_H_
