#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FORM_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FORM_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Makes a transport with `factory`. Blocks until it is made, `deadline` passes,
// or another rank fails. Starts a Formation unless `place` brings one, and ends
// it before returning. If one rank fails, all others that are not finished fail
// at once with that rank's number and cause.
absl::StatusOr<std::unique_ptr<Transport>> FormTransport(
    const TransportFactory& factory, GroupPlace place, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FORM_TRANSPORT_H_
