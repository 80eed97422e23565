#ifndef MUSTER_RENDEZVOUS_DASHBOARD_DASHBOARD_H_
#define MUSTER_RENDEZVOUS_DASHBOARD_DASHBOARD_H_

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/time.h"
#include "rendezvous/dashboard/dashboard_access.h"
#include "rendezvous/dashboard/job_history.h"
#include "rendezvous/probes/probe_server.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/server/inquiry_session.h"

namespace muster::rendezvous {

// The jobs that a process coordinates at one moment.
struct CoordinatedJobs {
  std::vector<JobStatus> jobs;  // each with its nodes (JobStatus::nodes)
  // A sentence for the user if this process coordinates no jobs: why it does
  // not, and which process does. Empty: this process coordinates jobs.
  std::string elsewhere;
};

// The functions by which the dashboard asks the coordinator in this process for
// the output of workers: Coordinator::Inquire for all nodes, and
// Coordinator::EndInquiry. They must not block. Null functions: there is no
// coordinator in this process.
struct DashboardInquirer {
  using Session = std::shared_ptr<InquirySession>;
  std::function<absl::Status(const std::string& run_id, const Session&)>
      inquire;
  std::function<void(const std::string& run_id, const Session&)> end;
};

// The pages of the dashboard: a page for people, and the states of jobs as
// JSON, once or as a stream of server-sent events. Read-only.
//
//   /               the page, with /dashboard.css and /dashboard.js
//   /api/jobs       all jobs without their nodes
//   /api/job?id=ID  a job as `launch status --json` prints it, and its history
//   /api/events     a stream of what /api/jobs returns
//   /api/events?id=ID  a stream of the job's states
//   /api/output?id=ID&rank=N  a stream of the output of rank N of job ID. It
//                             begins with the rank's last lines (OutputTail),
//                             and then sends new lines as they arrive.
//
// The page and its files are the same for every reader; the states need a token
// (DashboardAccess). The state is read at most once a second, and less often if
// reading and formatting it takes more than a twentieth of a second. All
// clients get the same text.
//
// Used by the thread of one ProbeServer only.
class Dashboard {
 public:
  // Maximum number of open streams of jobs' states, for all clients together. A
  // page that gets no stream requests the state every few seconds instead.
  static constexpr int kMaxStreams = 16;
  // Maximum duration of a stream. After this time the page opens a new stream
  // with its token, so that an expired token is noticed.
  static constexpr Duration kStreamTime = std::chrono::minutes(10);
  // Maximum number of open streams of output, for all clients and jobs
  // together. It is less than JobInquiries::kMaxFollowers, a job's limit for
  // the dashboard and all operators together. So the dashboard never keeps an
  // operator from following the job's output (`launch logs -f`).
  static constexpr int kMaxOutputStreams = 8;

  struct Clock {
    std::function<Instant()> now;
    std::function<std::time_t()> unix_time;
  };

  // `read`: returns the status of the jobs at the time of the call; must not
  // block.
  Dashboard(std::function<CoordinatedJobs()> read, DashboardInquirer inquirer,
            DashboardAccess access, Clock clock);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // Returns the answer to a request; nullopt: the dashboard has no such page.
  std::optional<ProbeAnswer> Answer(const PageRequest& request);

  // Reads the jobs if the next reading is due. Must be called about once a
  // second.
  void Tick();

 private:
  using Text = std::shared_ptr<const std::string>;
  class Stream;
  class OutputStream;

  void Read();
  ProbeAnswer AnswerForCaller(const std::string& target,
                              const Principal& principal);
  ProbeAnswer OpenStream(const std::string& job, const Principal& principal);
  ProbeAnswer OpenOutput(const JobStatus& job, const std::string& rank);
  const JobStatus* FindJob(const std::string& run_id) const;
  // Returns a text made from the jobs' newest state, for example one job as
  // JSON. `key` says which text. Calls `make` only for the first request of a
  // key after each reading of the jobs; later requests share the text.
  Text Shared(const std::string& key, const std::function<std::string()>& make);
  Text JobText(const JobStatus& job);
  Text JobEvent(const JobStatus& job, uint64_t seen_history);
  Text JobsText(const Principal& principal);
  Text JobsEvent(const Principal& principal);

  const std::function<CoordinatedJobs()> read_;
  const DashboardInquirer inquirer_;
  const DashboardAccess access_;
  const Clock clock_;
  CoordinatedJobs jobs_;
  JobHistories histories_;
  uint64_t generation_ = 0;  // how often the jobs were read into jobs_
  Instant next_read_{};
  // time spent on formatting since jobs_ was read
  Duration spent_ = Duration::zero();
  std::map<std::string, Text> shared_;
  int streams_ = 0;
  int output_streams_ = 0;
};

// Adds the dashboard to the pages of a server. `dashboard`: null if there is
// none.
void AddDashboard(const std::shared_ptr<Dashboard>& dashboard, Probes& pages);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_DASHBOARD_DASHBOARD_H_
