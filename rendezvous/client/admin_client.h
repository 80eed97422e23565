#ifndef MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_
#define MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::rendezvous {

// The calls that `launch status`, `watch`, `top`, `cancel`, `drain`, `nodes`,
// `logs` and `stacks` make to a coordinator. Each call goes to the first
// endpoint that answers, as Dialer finds it. If that endpoint is a standby
// inside a `launch`, the call is repeated at the coordinator that the standby
// names. If there are several endpoints, or a standby answers, another
// coordinator may be taking over. A call that reaches no coordinator, or whose
// connection breaks, is then repeated for 5 s. A call that fails on the
// connection of the call before is repeated on a new one. So a coordinator may
// carry out a call twice.
//
// Blocking; thread-safe. Every call may fail with: Unavailable (no coordinator
// was reached, or the connection was lost), DeadlineExceeded (no answer within
// `timeout`), Unauthenticated (the job token is missing or wrong),
// FailedPrecondition (the peer is no Muster coordinator). Each message is a
// sentence for the operator.
class AdminClient {
 public:
  struct Options {
    // Where coordinators may listen; at least one endpoint.
    std::vector<Endpoint> endpoints;
    TlsFiles tls;       // empty: unencrypted connections
    std::string token;  // job token; empty: none
    Duration timeout = std::chrono::seconds(10);
    // How long WatchJob, and an Inquire that follows the workers' output, look
    // for the next coordinator after they have lost one.
    Duration reconnect_timeout = std::chrono::seconds(60);
  };

  explicit AdminClient(Options options);
  ~AdminClient();

  AdminClient(const AdminClient&) = delete;
  AdminClient& operator=(const AdminClient&) = delete;

  // Returns the status of every job. JobStatus::nodes is empty in each.
  absl::StatusOr<std::vector<JobStatus>> ListJobs();
  // Returns the status of one job. NotFound: no such job; the message lists the
  // existing jobs.
  absl::StatusOr<JobStatus> GetJob(const std::string& run_id);
  // Ends a job. `reason`: a text that names the caller and the reason.
  // NotFound: no such job. FailedPrecondition: the job is over.
  absl::Status CancelJob(const std::string& run_id, const std::string& reason);
  // Removes a node from a job. `node`: a node id or a host name. NotFound: no
  // such job or node. FailedPrecondition: too few nodes would remain.
  absl::Status DrainNode(const std::string& run_id, const std::string& node);

  // Lists the machines whose faults the coordinator remembers.
  absl::StatusOr<std::vector<HostStatus>> ListNodes();
  // Makes the coordinator disregard the earlier faults of a machine, and lifts
  // its ban. NotFound: the coordinator remembers no such machine.
  absl::Status FreeNode(const std::string& host);
  // Bans a machine. `reason`: a text that names the caller and the reason.
  absl::Status BanNode(const std::string& host, const std::string& reason);

  struct Caller {
    // This process's address as the coordinator sees it; empty: unknown.
    std::string address;
    std::string version;  // version of the coordinator
    // How far the coordinator's wall clock is ahead of this process's wall
    // clock. Negative: it is behind. The error is at most half the round-trip
    // time.
    Duration clock_ahead = Duration::zero();
    Duration round_trip = Duration::zero();
  };
  // Returns this caller's address, the coordinator's version and the clock
  // difference.
  absl::StatusOr<Caller> WhoAmI();

  // Result of the callback `on_update` of Inquire and WatchJob. kGoOn: further
  // updates are wanted. kEnough: the call must end.
  enum class Watching { kGoOn, kEnough };
  struct Reconnected {
    std::string endpoint;  // the coordinator's HOST:PORT
    // Time from the loss of the earlier coordinator to the connection to the
    // coordinator at `endpoint`.
    Duration after = Duration::zero();
  };
  // Asks the nodes of a job for output or stacks (`question.kind`). Blocks, and
  // calls `on_update` on the calling thread for each part of the answers.
  // `node`: a node id or host name; empty: all nodes. Returns OK once
  // `on_update` has returned kEnough. Also returns OK once each node has
  // answered, or an update has said why it did not. NotFound: no such job.
  // InvalidArgument: no such node or rank. FailedPrecondition: the job has no
  // workers, or the peer is no Muster coordinator.
  //
  // If `question` follows the output, Inquire does not end when the coordinator
  // is lost. It asks the next coordinator, or the same one again, and then
  // calls `on_reconnect`. Lines that `on_update` has already received are not
  // repeated. Unavailable: no coordinator was found within `reconnect_timeout`.
  //
  // `stop`: any thread may request a stop. Inquire then returns soon, with any
  // status. If it is connecting to a coordinator, it returns only after this
  // attempt has succeeded or failed.
  absl::Status Inquire(
      const std::string& run_id, const std::string& node,
      const Inquiry& question,
      const std::function<Watching(const InquiryUpdate&)>& on_update,
      const std::function<void(const Reconnected&)>& on_reconnect = nullptr,
      const std::stop_token& stop = {});

  struct Update {
    // The decisions since the previous update, in the order in which the
    // coordinator made them.
    std::vector<Decision> decisions;
    // Number of decisions that the coordinator dropped before the ones in
    // `decisions`, because this client read too slowly or was not connected.
    int decisions_dropped = 0;
    // Set only in the first update after a coordinator was lost: describes the
    // connection to the next coordinator.
    std::optional<Reconnected> reconnected;
    // The job's state after `decisions`. JobStatus::nodes is empty.
    JobStatus status;
  };
  // Blocks, and calls `on_update` on the calling thread: once at the start,
  // then for each later change. Returns OK once the job has finished or
  // `on_update` has returned kEnough. A coordinator counts as lost after 15 s
  // of silence at the latest. The call then looks for the next coordinator, at
  // the configured endpoints and at the standbys that the lost coordinator has
  // named. Later updates do not repeat decisions that `on_update` has already
  // received. Unavailable: no coordinator was found within `reconnect_timeout`.
  // NotFound: no such job.
  absl::Status WatchJob(
      const std::string& run_id,
      const std::function<Watching(const Update&)>& on_update);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_
