#ifndef MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
#define MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_

#include <memory>

#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/coordinator.h"

namespace grpc {
class Service;
}

namespace muster {

// The Coordinator service of proto/coordinator.proto: translates, and keeps one
// write in flight per stream. Serves `most_streams` at a time, and ends those
// beyond with RESOURCE_EXHAUSTED. `coordinator` and `check` outlive it.
std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 int most_streams);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
