#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_TRANSPORT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/network/local_address.h"
#include "trainer_sdk/network/network_transport.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

struct GlooOptions {
  LocalAddressOptions address = LocalAddressFromEnvironment();
  // The numbers used for the ranks in errors, indexed by rank: their ranks in
  // the larger group that this group is a part of. Empty: the ranks of this
  // group.
  std::vector<int> ranks_in_errors;
};

// Makes a transport for collectives between CPU hosts over Gloo's connections
// ("gloo"). It uses the algorithms of "tcp", but Gloo's own thread moves the
// data. Small messages are slower than with "tcp", because each message wakes
// that thread; a computation on the same core is disturbed less. Collective:
// every rank of `place`'s group calls it.
//
// Loads libmuster_gloo.so and with it libgloo. No program links libgloo.
//   NotFound          one of the libraries is missing; says how to get it
//   DeadlineExceeded  some ranks did not come; names them
//   Unavailable       the store or a connection failed
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_TRANSPORT_H_
