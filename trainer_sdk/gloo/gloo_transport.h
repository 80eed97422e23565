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
  // The ranks that errors tell of, by rank: those in the group that this one
  // is a part of. Empty: its own.
  std::vector<int> told_as;
};

// Collectives between CPU hosts over Gloo's connections ("gloo"): the same
// algorithms as "tcp", moved by Gloo's own thread. Slower for small messages,
// each of which that thread is woken for; kinder to a core that computes
// meanwhile. Collective: every rank of `place`'s group calls it.
//
// Links the shared libgloo. Nothing that Gloo throws comes out of it.
//   DeadlineExceeded  who did not come
//   Unavailable       the store or a connection failed
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_TRANSPORT_H_
