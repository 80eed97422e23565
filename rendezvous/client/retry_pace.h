#ifndef MUSTER_RENDEZVOUS_CLIENT_RETRY_PACE_H_
#define MUSTER_RENDEZVOUS_CLIENT_RETRY_PACE_H_

#include "base/time.h"

namespace muster {

// How long to wait before each next attempt to reach the coordinator. Pure.
//
// At the start the nodes of a job race with the coordinator that one of them
// hosts: 5 ms, doubling to 100 ms, for the first ten seconds. Later the
// coordinator is down, and thousands may be trying: 50 ms, doubling to 1 s. A
// stream that broke after a good while is made again at once.
class RetryPace {
 public:
  explicit RetryPace(Instant start) : start_(start) {}

  // After an attempt that brought no stream.
  Duration AfterFailure(Instant now);
  // After a stream that was up for `lasted`. A short one counts as a failure:
  // a coordinator that breaks every stream must not be hammered.
  Duration AfterStream(Instant now, Duration lasted);

 private:
  Duration Doubled(Duration first, Duration most);

  const Instant start_;
  bool reached_ = false;
  Duration last_ = Duration::zero();
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_RETRY_PACE_H_
