#ifndef MUSTER_RENDEZVOUS_DAEMON_DAEMON_OPTIONS_H_
#define MUSTER_RENDEZVOUS_DAEMON_DAEMON_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/etcd/etcd_access.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::rendezvous {

// The parsed command line of rendezvousd.
struct DaemonOptions {
  enum class Request { kServe, kShow };

  // The action that the command line requests. kShow: print `text` and exit
  // with 0; all other fields are unused.
  Request request = Request::kServe;
  std::string text;

  Endpoint listen{"0.0.0.0", kDefaultPort};
  std::string token_file;
  TlsFiles tls;
  // Maximum numbers of unfinished jobs and of nodes that one principal
  // (authenticated user) may have; nullopt: unlimited.
  std::optional<int> max_jobs_per_principal = 1000;
  std::optional<int> max_nodes_per_principal;
  Duration keep_finished = std::chrono::minutes(10);
  std::string event_log;
  Quarantine quarantine = Quarantine::kOn;
  std::string on_quarantine;  // command to run on a quarantine; empty: none
  std::string port_file;
  std::string state_dir;  // folder of the journal; empty: none
  // The etcd cluster that stores the jobs' state, without user and password;
  // nullopt: none. Never set together with `state_dir`.
  std::optional<EtcdAccess> etcd;
  std::string etcd_user_file;
  // The address at which HTTP probes are answered; nullopt: none.
  std::optional<Endpoint> probe_listen;
  // The address at which metrics and probes are served over HTTP; nullopt: no
  // metrics.
  std::optional<Endpoint> metrics_listen;
  // The address at which the dashboard is served; nullopt: no dashboard.
  std::optional<Endpoint> dashboard_listen;
  // The file for node_exporter's textfile collector; empty: none.
  std::string metrics_textfile;
};

// Parses the command line. InvalidArgument: one line that names the option and
// the error.
absl::StatusOr<DaemonOptions> ParseDaemonOptions(int argc,
                                                 const char* const* argv);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_DAEMON_DAEMON_OPTIONS_H_
