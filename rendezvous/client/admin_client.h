#ifndef MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_
#define MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/job_status.h"

namespace muster {

// What an operator asks a coordinator: `launch status|watch|cancel|drain`.
//
// Blocking; thread-safe. Every call may fail with: Unavailable (not reached,
// lost), DeadlineExceeded (no answer within `timeout`), Unauthenticated (job
// token), FailedPrecondition (not a Muster coordinator), each in a sentence.
class AdminClient {
 public:
  struct Options {
    Endpoint coordinator;
    std::shared_ptr<grpc::ChannelCredentials> credentials = InsecureClient();
    std::string token;  // empty: none
    Duration timeout = std::chrono::seconds(10);
  };

  explicit AdminClient(Options options);
  ~AdminClient();

  AdminClient(const AdminClient&) = delete;
  AdminClient& operator=(const AdminClient&) = delete;

  // Without their nodes.
  absl::StatusOr<std::vector<JobStatus>> ListJobs();
  // NotFound: no such job; the message names those that there are.
  absl::StatusOr<JobStatus> GetJob(const std::string& run_id);
  // `reason`: who asks and why. NotFound; FailedPrecondition: it is over.
  absl::Status CancelJob(const std::string& run_id, const std::string& reason);
  // `node`: an id or a host's name. NotFound: no such job or node.
  // FailedPrecondition: too few nodes would remain.
  absl::Status DrainNode(const std::string& run_id, const std::string& node);

  struct Caller {
    std::string address;  // from which the coordinator sees us; empty: unknown
    std::string version;  // the coordinator's
    // Its wall clock before ours, give or take half the round trip.
    Duration clock_ahead = Duration::zero();
    Duration round_trip = Duration::zero();
  };
  // Unimplemented: the coordinator is older than the question.
  absl::StatusOr<Caller> WhoAmI();

  struct Update {
    std::vector<Decision> decisions;  // in the order in which they were made
    int decisions_dropped = 0;        // before these: we were too slow
    JobStatus status;                 // after them; without its nodes
  };
  enum class Watching { kGoOn, kEnough };
  // Calls `on_update` from this thread: at once, and for what happens from then
  // on. Ok once the job has finished or the caller has had enough. A
  // coordinator that falls silent is noticed within 15 s. NotFound: no such
  // job.
  absl::Status WatchJob(
      const std::string& run_id,
      const std::function<Watching(const Update&)>& on_update);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_
