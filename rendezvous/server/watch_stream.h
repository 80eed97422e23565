#ifndef MUSTER_RENDEZVOUS_SERVER_WATCH_STREAM_H_
#define MUSTER_RENDEZVOUS_SERVER_WATCH_STREAM_H_

#include <string>

#include "rendezvous/server/coordinator.h"

namespace grpc {
template <class Response>
class ServerWriteReactor;
}

namespace muster {

namespace v1 {
class JobUpdate;
}

// The answer to Admin.WatchJob: an update at once, then one for what was
// decided since, at most ten a second, until the job has finished. Deletes
// itself. `coordinator` outlives it.
grpc::ServerWriteReactor<v1::JobUpdate>* StartWatchStream(
    Coordinator* coordinator, const std::string& run_id);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_WATCH_STREAM_H_
