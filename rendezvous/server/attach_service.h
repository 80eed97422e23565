#ifndef MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
#define MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_

#include <memory>
#include <optional>

#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/listener.h"

namespace grpc {
class Service;
}

namespace muster::rendezvous {

// Whether a node's certificate must contain the node's host name or its address
// (CheckClaim). kCompared: it must. kAny: the names are not checked.
enum class HostNames { kCompared, kAny };

// Maximum number of attached nodes, in total (`all`) and per principal. Further
// streams are ended with RESOURCE_EXHAUSTED.
struct NodeLimits {
  int all = 0;
  // Maximum number of attached nodes of one principal; nullopt: no limit per
  // principal.
  std::optional<int> per_principal;
};

// Returns the Coordinator service of proto/coordinator.proto, which converts
// messages and calls `coordinator`. At most one write is in flight per stream.
// A stream counts as a node once a job has accepted one of its reports. If this
// takes longer than 10 s, the stream is ended with DEADLINE_EXCEEDED. All
// arguments must outlive the service.
std::unique_ptr<grpc::Service> MakeAttachService(Coordinator* coordinator,
                                                 const CallerCheck* check,
                                                 HostNames host_names,
                                                 ConnectionEvents* connections,
                                                 const NodeLimits& limits);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ATTACH_SERVICE_H_
