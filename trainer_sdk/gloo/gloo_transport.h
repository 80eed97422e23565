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
  // The ranks named in errors, by rank: those in the larger group that this
  // group is a part of. Empty: this group's own ranks.
  std::vector<int> told_as;
};

// Makes a transport for collectives between CPU hosts over Gloo's connections
// ("gloo"). It uses the algorithms of "tcp", but Gloo's own thread moves the
// data. Small messages are slower, because each wakes that thread; a
// computation on the same core is disturbed less. Collective: every rank of
// `place`'s group calls it.
//
// Loads libmuster_gloo.so and with it libgloo, which no program links.
//   NotFound          one of both is missing; says how to get it
//   DeadlineExceeded  some ranks did not come; names them
//   Unavailable       the store or a connection failed
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_TRANSPORT_H_
