#ifndef MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
#define MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_

#include <memory>

#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/connection_events.h"
#include "rendezvous/server/coordinator.h"

namespace grpc {
class Service;
}

namespace muster::rendezvous {

// The Coordinator service of proto/coordinator.proto: translates messages, with
// at most one write in flight per stream. Serves up to `max_nodes` nodes at a
// time, and ends further streams with RESOURCE_EXHAUSTED. A stream counts as a
// node once a job has taken a report of it; one that does not get there within
// 10 s is ended with DEADLINE_EXCEEDED. All arguments must outlive the service.
std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 ConnectionEvents* connections,
                                                 int max_nodes);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
