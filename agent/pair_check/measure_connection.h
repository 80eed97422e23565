#ifndef MUSTER_AGENT_PAIR_CHECK_MEASURE_CONNECTION_H_
#define MUSTER_AGENT_PAIR_CHECK_MEASURE_CONNECTION_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "agent/pair_check/gpu_pair.h"
#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::agent {

// The results of a measurement of the connection to another node.
struct ConnectionValues {
  double round_trip_s = 0;  // median of several round trips, in seconds
  double bytes_per_s = 0;   // rate at which this end received data
  GpuPairValues gpus;
};

struct ConnectionLimits {
  // Time limit for connecting the two ends.
  Duration meet = std::chrono::seconds(4);
  // Time limit of the measurement of the TCP connections.
  Duration total = std::chrono::seconds(8);
  // Time limit of the measurement of the GPUs, which begins after that of the
  // TCP connections.
  Duration gpus = kGpuPairLimit;
  // Data that arrives within `warm_up` after the first byte does not count for
  // the rate. The rate is measured over the time `window` that follows.
  Duration warm_up = std::chrono::milliseconds(50);
  Duration window = std::chrono::milliseconds(200);
};

// Measures the TCP connections to and from the partner of `check`: the round
// trip and the rate. The partner calls this function with the other role at
// about the same time. First the end with the role kConnect connects to the
// other end and sends data; then the two ends exchange these roles. The ends
// prove to each other that they know `check.key`. With Encryption::kWorkers the
// connection is encrypted like the workers' connections, and the rate is that
// of encrypted data. Connections of other programs are closed, and do not delay
// the partner.
//
// After that, if `check.gpus` is not 0, measures the GPUs of both nodes by
// means of `gpu_program` (MeasureGpuPair).
//
// Without GPUs, blocks for about half a second, and at most for `limits.total`.
// With GPUs, blocks for a few seconds more, and at most for `limits.gpus` +
// kGpuPairEnd more. Uses one core. `port`: the port to listen on; other sockets
// that are bound to it must have SO_REUSEADDR. `cancel_fd`: becomes readable if
// the result is not needed any more.
//   Cancelled           `cancel_fd` became readable
//   DeadlineExceeded    the partner did not connect in time, or is too slow
//   Unavailable         the connection cannot be made, or broke
//   FailedPrecondition  this end cannot listen, or the check has no valid key
absl::StatusOr<ConnectionValues> MeasureConnection(
    const rendezvous::PairCheck& check, rendezvous::Encryption encryption,
    int port, const GpuPairProgram& gpu_program, int cancel_fd,
    const ConnectionLimits& limits);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PAIR_CHECK_MEASURE_CONNECTION_H_
