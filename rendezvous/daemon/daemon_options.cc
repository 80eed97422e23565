#include "rendezvous/daemon/daemon_options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "rendezvous/dashboard/dashboard_access.h"
#include "rendezvous/probes/metrics_file.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/version.h"

namespace muster::rendezvous {
namespace {

constexpr char kAbout[] =
    "Muster's coordinator as a daemon: gathers the nodes of jobs into ranks, "
    "and keeps the jobs alive while nodes come and go.";

constexpr char kExamples[] = R"(Examples:
  rendezvousd
      Serve every job of a cluster on port 29400.
  rendezvousd --listen 10.0.0.1:29400 --token-file /etc/muster/token
      On one address only, for those who know the token.
  launch --rdzv-endpoint=10.0.0.1:29400 --rdzv-id=job1 --nnodes=4 train.py
      A node of a job of it.
  rendezvousd --state=etcd://e1:2379,e2:2379,e3:2379 --etcd-ca=/etc/etcd/ca.crt
      One of several daemons: one leads, and if it dies another one goes on
      with its jobs.

The job token can also come from the variable MUSTER_TOKEN. SIGTERM and SIGINT
end the daemon; the agents of running jobs wait for the next one. SIGHUP
opens the event log anew, for logrotate.)";

constexpr int kMaxPerPrincipal = 1'000'000;
constexpr double kLongestKeepSeconds = 365 * 86400.0;

// Checks --state (`state`), the TLS files for etcd (`tls`) and
// --etcd-user-file, and stores the access to etcd in `options`.
absl::Status SetState(const std::string& state, const TlsFiles& tls,
                      DaemonOptions& options) {
  if (state.empty()) {
    if (!tls.given() && options.etcd_user_file.empty()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "--etcd-ca, --etcd-cert, --etcd-key and --etcd-user-file need "
        "--state=etcd://…");
  }
  if (!options.state_dir.empty()) {
    return absl::InvalidArgumentError(
        "--state and --state-dir: the state is kept in one place; leave one "
        "out");
  }
  absl::StatusOr<EtcdAccess> access = ParseEtcdUrl(state);
  if (!access.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--state: ", access.status().message()));
  }
  if (tls.certificate.empty() != tls.key.empty() ||
      (tls.authority.empty() && !tls.key.empty())) {
    return absl::InvalidArgumentError(
        "--etcd-cert and --etcd-key need each other, and --etcd-ca");
  }
  access->tls = tls;
  options.etcd = *std::move(access);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DaemonOptions> ParseDaemonOptions(int argc,
                                                 const char* const* argv) {
  DaemonOptions options;
  std::string listen = options.listen.ToString();
  std::string probe_listen;
  std::string metrics_listen;
  std::string dashboard_listen;
  std::string state;
  double keep_seconds = ToSeconds(options.keep_finished);

  CLI::App app(kAbout, "rendezvousd");
  app.footer(kExamples);
  app.set_version_flag("--version",
                       absl::StrCat("rendezvousd ", kVersion, " (protocol ",
                                    kProtocolVersion, ")"));
  app.add_option("--listen", listen,
                 "Address and port to listen on; port 0: any that is free; "
                 "0.0.0.0: every address, IPv6 too")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--token-file", options.token_file,
                 "File with the job token that every agent must show; without "
                 "it and MUSTER_TOKEN, every agent is accepted")
      ->type_name("FILE");
  app.add_option("--tls-cert", options.tls.certificate,
                 "Certificate in PEM form, for mutual TLS 1.3 with agents and "
                 "operators; needs --tls-key and --tls-ca; read again within 5 "
                 "s of a change")
      ->type_name("FILE")
      ->envname("MUSTER_TLS_CERT");
  app.add_option("--tls-key", options.tls.key,
                 "Private key of --tls-cert, without a passphrase")
      ->type_name("FILE")
      ->envname("MUSTER_TLS_KEY");
  app.add_option("--tls-ca", options.tls.authority,
                 "Certificates of the authorities that sign the agents' and "
                 "operators' certificates")
      ->type_name("FILE")
      ->envname("MUSTER_TLS_CA");
  app.add_option("--max-jobs-per-principal", options.max_jobs_per_principal,
                 "Unfinished jobs that the holder of one derived token, or of "
                 "one certificate name, may have (launch token)")
      ->type_name("N")
      ->check(CLI::Range(1, kMaxPerPrincipal))
      ->default_str("1000");
  app.add_option("--max-nodes-per-principal", options.max_nodes_per_principal,
                 "Nodes that the same may have; not given: as many as there is "
                 "room for")
      ->type_name("N")
      ->check(CLI::Range(1, kMaxPerPrincipal));
  app.add_option("--keep-finished", keep_seconds,
                 "How long a finished job's verdict is kept for late comers")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--state-dir", options.state_dir,
                 "Folder in which the jobs' state is kept: started again with "
                 "it, the daemon goes on with the jobs, and their workers run "
                 "on meanwhile; made if missing; for one daemon only")
      ->type_name("FOLDER");
  app.add_option("--state", state,
                 "etcd cluster in which several daemons keep the jobs' state: "
                 "one of them leads, the others stand by with a closed port; "
                 "PREFIX of its keys: muster")
      ->type_name("etcd://HOST:PORT,...[/PREFIX]");
  EtcdAccess access;
  app.add_option("--etcd-ca", access.tls.authority,
                 "Certificates of the authorities that sign etcd's; without "
                 "it, connections to etcd are in clear text")
      ->type_name("FILE");
  app.add_option("--etcd-cert", access.tls.certificate,
                 "Certificate for etcd, if etcd asks for one")
      ->type_name("FILE");
  app.add_option("--etcd-key", access.tls.key, "Private key of --etcd-cert")
      ->type_name("FILE");
  app.add_option("--etcd-user-file", options.etcd_user_file,
                 "File with the line NAME:PASSWORD, if etcd asks for a user")
      ->type_name("FILE");
  std::string quarantine = "on";
  app.add_option("--quarantine", quarantine,
                 "off: machines keep their places in new rounds whatever their "
                 "faults, which launch status and launch nodes still show; "
                 "bans stay valid")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--on-quarantine", options.on_quarantine,
                 "Shell command that runs for each machine that is quarantined "
                 "because of its faults, with MUSTER_NODE, MUSTER_ADDRESS, "
                 "MUSTER_REASON, MUSTER_SCORE and MUSTER_RUN_ID in its "
                 "environment; killed after 60 s")
      ->type_name("COMMAND");
  app.add_option("--event-log", options.event_log,
                 "File to append each decision to, with its reason, as one "
                 "JSON object a line")
      ->type_name("FILE");
  app.add_option("--probe-listen", probe_listen,
                 "Address and port at which /livez, /readyz and /startupz are "
                 "answered over HTTP, such as 0.0.0.0:8080 in a pod")
      ->type_name("HOST:PORT");
  app.add_option("--metrics-listen", metrics_listen,
                 "Address and port at which /metrics is answered over HTTP, in "
                 "Prometheus' text format, and the probes as well. It shows "
                 "the names of jobs to every client that can connect")
      ->type_name("HOST:PORT");
  app.add_option("--metrics-textfile", options.metrics_textfile,
                 "File to which the text of /metrics is written every 15 s, "
                 "for the textfile collector of Prometheus' node_exporter")
      ->type_name("FILE");
  app.add_option("--dashboard-listen", dashboard_listen,
                 "Address and port of a page about the jobs, over HTTP, for a "
                 "browser; without a host on 127.0.0.1. With a job token, "
                 "readers need a token with the role view, and the address "
                 "must be a loopback address")
      ->type_name("[HOST:]PORT");
  app.add_option("--port-file", options.port_file,
                 "File to write the port to once it is open")
      ->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.request = DaemonOptions::Request::kShow;
    options.text = app.help();
    return options;
  } catch (const CLI::CallForVersion& version) {
    options.request = DaemonOptions::Request::kShow;
    options.text = absl::StrCat(version.what(), "\n");
    return options;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(error.what(), " (see rendezvousd --help)"));
  }
  const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(listen);
  if (!endpoint.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen: ", endpoint.status().message()));
  }
  options.listen = *endpoint;
  options.quarantine = quarantine == "off" ? Quarantine::kOff : Quarantine::kOn;
  for (const auto& [name, text, listens] :
       {std::tuple("--probe-listen", &probe_listen, &options.probe_listen),
        std::tuple("--metrics-listen", &metrics_listen,
                   &options.metrics_listen)}) {
    if (text->empty()) continue;
    absl::StatusOr<Endpoint> parsed = ParseEndpoint(*text);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": ", parsed.status().message()));
    }
    *listens = *std::move(parsed);
  }
  if (!options.metrics_textfile.empty()) {
    const absl::Status status = CheckMetricsFile(options.metrics_textfile);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--metrics-textfile: ", status.message()));
    }
  }
  if (!dashboard_listen.empty()) {
    absl::StatusOr<Endpoint> parsed = ParseDashboardEndpoint(dashboard_listen);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dashboard-listen: ", parsed.status().message()));
    }
    options.dashboard_listen = *std::move(parsed);
  }
  if (!(keep_seconds >= 0 && keep_seconds <= kLongestKeepSeconds)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--keep-finished is ", keep_seconds, "; from 0 s to one year"));
  }
  const absl::Status kept = SetState(state, access.tls, options);
  if (!kept.ok()) return kept;
  options.keep_finished = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(keep_seconds));
  return options;
}

}  // namespace muster::rendezvous
