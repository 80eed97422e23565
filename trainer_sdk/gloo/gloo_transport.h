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
  // The rank numbers to show in error messages, indexed by rank in this group.
  // For a part of a larger group, these are the ranks in the larger group.
  // Empty: error messages show the ranks in this group.
  std::vector<int> ranks_in_errors;
};

// Makes a transport for collectives between CPU hosts over Gloo's connections.
// Its name is "gloo". It uses the algorithms of the transport "tcp", but Gloo's
// own thread moves the data. Small messages take longer than with "tcp",
// because each message wakes Gloo's thread. But the transport disturbs
// computations on the same core less than "tcp" does. Collective: every rank of
// `place`'s group calls it.
//
// Loads libmuster_gloo.so, and with it libgloo. No program links libgloo.
//   NotFound          one of the libraries is missing; the message says how to
//                     get it
//   DeadlineExceeded  some ranks did not call this function; the message
//                     names them
//   Unavailable       the store or a connection failed
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_TRANSPORT_H_
