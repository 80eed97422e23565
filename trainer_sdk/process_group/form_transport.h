#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FORM_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FORM_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The transport that `factory` makes of `place`, as a formation, which ends
// here: its own, unless `place` brings one. Where one rank fails at it, those
// that are not done yet fail at once, with its name and cause.
absl::StatusOr<std::unique_ptr<Transport>> FormTransport(
    const TransportFactory& factory, GroupPlace place, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FORM_TRANSPORT_H_
