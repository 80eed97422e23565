#ifndef MUSTER_RENDEZVOUS_SERVER_ADMIN_SERVICE_H_
#define MUSTER_RENDEZVOUS_SERVER_ADMIN_SERVICE_H_

#include <memory>

#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/coordinator.h"

namespace grpc {
class Service;
}

namespace muster::rendezvous {

// The Admin service of proto/admin.proto, a translation of messages. Both
// arguments must outlive the service.
std::unique_ptr<grpc::Service> MakeAdminService(Coordinator* coordinator,
                                                const CallerCheck* check);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ADMIN_SERVICE_H_
