#ifndef MUSTER_RENDEZVOUS_CLIENT_RETRY_PACE_H_
#define MUSTER_RENDEZVOUS_CLIENT_RETRY_PACE_H_

#include "base/time.h"

namespace muster::rendezvous {

// The delays between attempts to reach the coordinator. Pure.
//
// During the first ten seconds: 5 ms, doubling to 100 ms, since a job's nodes
// start at about the same time as the coordinator that one of them hosts.
// Later: 50 ms, doubling to 1 s, since the coordinator is down and thousands of
// nodes may be retrying. A stream that broke after a long time is opened again
// at once.
class RetryPace {
 public:
  explicit RetryPace(Instant start) : start_(start) {}

  // The delay after an attempt that brought no stream.
  Duration AfterFailure(Instant now);
  // The delay after a stream that was up for `lasted`. A short one counts as a
  // failure, so that a coordinator that breaks every stream is not flooded with
  // attempts.
  Duration AfterStream(Instant now, Duration lasted);

 private:
  Duration Doubled(Duration first, Duration most);

  const Instant start_;
  bool reached_ = false;
  Duration last_ = Duration::zero();
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_RETRY_PACE_H_
