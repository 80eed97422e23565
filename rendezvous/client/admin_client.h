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
// names. With several endpoints, or at a standby, a call that reaches no
// coordinator is repeated for 5 s, because another coordinator may be taking
// over. A call whose connection broke may therefore be carried out twice.
//
// Blocking; thread-safe. Every call may fail with: Unavailable (not reached, or
// lost), DeadlineExceeded (no answer within `timeout`), Unauthenticated (job
// token), FailedPrecondition (not a Muster coordinator). Each message is a
// sentence for the operator.
class AdminClient {
 public:
  struct Options {
    std::vector<Endpoint> endpoints;  // at least one endpoint
    TlsFiles tls;                     // empty: unencrypted connections
    std::string token;                // job token; empty: none
    Duration timeout = std::chrono::seconds(10);
    // How long WatchJob, and Inquire if it follows the output, look for the
    // job's coordinator after they have lost one.
    Duration patience = std::chrono::seconds(60);
  };

  explicit AdminClient(Options options);
  ~AdminClient();

  AdminClient(const AdminClient&) = delete;
  AdminClient& operator=(const AdminClient&) = delete;

  // Returns the status of every job, without `nodes`.
  absl::StatusOr<std::vector<JobStatus>> ListJobs();
  // Returns the status of one job. NotFound: no such job; the message lists the
  // existing jobs.
  absl::StatusOr<JobStatus> GetJob(const std::string& run_id);
  // Ends a job. `reason`: who asks for it, and why. NotFound: no such job.
  // FailedPrecondition: the job is over.
  absl::Status CancelJob(const std::string& run_id, const std::string& reason);
  // Removes a node from a job. `node`: a node id or a host name. NotFound: no
  // such job or node. FailedPrecondition: too few nodes would remain.
  absl::Status DrainNode(const std::string& run_id, const std::string& node);

  // Lists the machines whose faults the coordinator remembers.
  absl::StatusOr<std::vector<HostStatus>> ListNodes();
  // Declares the faults of a machine void. NotFound: none are remembered.
  absl::Status FreeNode(const std::string& host);
  // Bans a machine. `reason`: who asks for it, and why.
  absl::Status BanNode(const std::string& host, const std::string& reason);

  struct Caller {
    // This process's address as the coordinator sees it; empty: unknown.
    std::string address;
    std::string version;  // version of the coordinator
    // How far the coordinator's wall clock is ahead of this process's; the
    // error is at most half the round-trip time.
    Duration clock_ahead = Duration::zero();
    Duration round_trip = Duration::zero();
  };
  // Returns this caller's address, the coordinator's version and the clock
  // difference.
  absl::StatusOr<Caller> WhoAmI();

  // Asks the nodes of a job for output or stacks (`question.kind`). Calls
  // `on_update` from this thread for each part of their answers. `node`: a node
  // id or host name; empty: all nodes. Returns OK once each node has answered,
  // or an update has said why it did not, or `on_update` has returned kEnough.
  // NotFound: no such job. InvalidArgument: no such node or rank.
  // FailedPrecondition: also, the job has no workers.
  //
  // If `question` follows the output and the coordinator is lost, calls
  // `on_reconnect` once another coordinator, or the same one, has taken the
  // question, and continues without the lines that `on_update` has had.
  // Unavailable: no coordinator was found within `patience`.
  //
  // `stop`: once a stop is requested, which any thread may do, the call returns
  // soon, with any status. While no coordinator answers, it first waits for the
  // attempt to connect.
  enum class Watching { kGoOn, kEnough };
  struct Reconnected {
    std::string endpoint;               // the coordinator's HOST:PORT
    Duration after = Duration::zero();  // since the loss of the other one
  };
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
    // Set in the first update after the loss of a coordinator.
    std::optional<Reconnected> reconnected;
    JobStatus status;  // the job's state after `decisions`, without `nodes`
  };
  // Blocks, and calls `on_update` from this thread: once at the start, then for
  // each later change. Returns OK once the job has finished or `on_update` has
  // returned kEnough. After the loss of a coordinator, which shows at the
  // latest after 15 s of silence, looks for the next one: at the endpoints, and
  // at those that the lost one has named. The updates continue without the
  // decisions that `on_update` has had. Unavailable: no coordinator was found
  // within `patience`. NotFound: no such job.
  absl::Status WatchJob(
      const std::string& run_id,
      const std::function<Watching(const Update&)>& on_update);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_ADMIN_CLIENT_H_
