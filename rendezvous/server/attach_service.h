#ifndef MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
#define MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_

#include <memory>

#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/coordinator.h"

namespace grpc {
class Service;
}

namespace muster::rendezvous {

// The Coordinator service of proto/coordinator.proto: translates messages, with
// at most one write in flight per stream. Serves up to `max_streams` at a time
// and ends further ones with RESOURCE_EXHAUSTED. `coordinator` and `check` must
// outlive the service.
std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 int max_streams);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
