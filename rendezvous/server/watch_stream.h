#ifndef MUSTER_RENDEZVOUS_SERVER_WATCH_STREAM_H_
#define MUSTER_RENDEZVOUS_SERVER_WATCH_STREAM_H_

#include <string>

#include "rendezvous/server/coordinator.h"

namespace grpc {
template <class Response>
class ServerWriteReactor;
}

namespace muster::v1 {
class JobUpdate;
}  // namespace muster::v1

namespace muster::rendezvous {

// Serves Admin.WatchJob: writes an update at once, then further ones with the
// decisions since the last, at most ten per second, until the job has finished.
// The returned reactor deletes itself. `coordinator` must outlive it.
grpc::ServerWriteReactor<v1::JobUpdate>* StartWatchStream(
    Coordinator* coordinator, const std::string& run_id);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_WATCH_STREAM_H_
