#ifndef MUSTER_RENDEZVOUS_SERVER_ADMIN_SERVICE_H_
#define MUSTER_RENDEZVOUS_SERVER_ADMIN_SERVICE_H_

#include <memory>
#include <string>

#include "rendezvous/server/caller_check.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/listener.h"

namespace grpc {
template <class Response>
class ServerWriteReactor;
class Service;
}  // namespace grpc

namespace muster::v1 {
class JobUpdate;
}  // namespace muster::v1

namespace muster::rendezvous {

// Serves Admin.WatchJob until the job has finished. Sends an update at once,
// and later ones with the decisions since the previous update, at most ten per
// second. The returned reactor deletes itself. `coordinator` must outlive the
// reactor.
grpc::ServerWriteReactor<v1::JobUpdate>* StartWatchStream(
    Coordinator* coordinator, const std::string& run_id,
    const DecisionCursor& after);

// Returns the Admin service of proto/admin.proto, which converts messages and
// calls `coordinator`. The answers of ListJobs and GetJob are cached
// (AnswerCache), so that repeating one of these questions costs at most a
// twentieth of a core, whatever the number of nodes and callers. All arguments
// must outlive the service.
std::unique_ptr<grpc::Service> MakeAdminService(Coordinator* coordinator,
                                                const CallerCheck* check,
                                                ConnectionEvents* connections);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ADMIN_SERVICE_H_
