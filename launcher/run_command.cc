#include "launcher/run_command.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/logs/log_paths.h"
#include "agent/probes/agent_probes.h"
#include "launcher/agent_session.h"
#include "launcher/bootstrap.h"
#include "launcher/embedded_coordinator.h"
#include "launcher/launch_plan.h"
#include "launcher/local_token.h"
#include "launcher/options/agent_plan.h"
#include "launcher/options/machine.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/verdict_text.h"
#include "launcher/ssh/agent_process.h"
#include "launcher/ssh/ssh_front.h"
#include "launcher/voice.h"
#include "rendezvous/client/following_link.h"
#include "rendezvous/client/grpc_link.h"
#include "rendezvous/client/in_process_link.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

constexpr Duration kStarterTimeout = std::chrono::hours(24);

// The name of the run's log folder. Requires that this process hosts the
// coordinator, which chooses the run's tag.
std::string HostedRunName(const agent::LogPlan& logs, const std::string& tag) {
  return logs.is_tagged ? agent::TaggedRunName(logs.run_name, tag)
                        : logs.run_name;
}

EmbeddedCoordinator::Options HostingOptions(const LaunchPlan& plan,
                                            const RunOptions& options,
                                            const MachineFacts& facts,
                                            const std::string& token) {
  EmbeddedCoordinator::Options hosting;
  hosting.listen = plan.coordinator.listen;
  hosting.job = {.run_id = plan.agent.run_id,
                 .spec = plan.agent.spec,
                 .verdict_awaited_for = options.policy.coordinator_timeout};
  // A restarted coordinator whose journal has a verdict keeps it for this time,
  // for nodes that still wait for it. Slurm does not restart tasks, so no node
  // waits, and the time is zero: if Slurm requeues the job, the next `launch`
  // runs the job again at once.
  if (options.cluster == Cluster::kSlurm) {
    hosting.job.verdict_awaited_for = Duration::zero();
  }
  hosting.state_dir = options.state_dir;
  hosting.quarantine = options.quarantine;
  hosting.on_quarantine = options.on_quarantine;
  hosting.token = token;
  if (plan.agent.spec.max_nodes == 1) {
    // The agent of a one-node job calls the coordinator within this process.
    // Only operators connect over a socket, so the coordinator's server is set
    // up only when an operator connects.
    hosting.set_up = rendezvous::GrpcServer::SetUp::kWithFirstConnection;
    // If the user gave no token, use a fresh one, so that no other user can
    // control the job.
    if (token.empty()) hosting.token = rendezvous::FreshToken();
  }
  // The user does not know a token that `launch` made. So the token is stored
  // in a file where operators on this machine find it.
  const bool is_made = options.remote.token_maker == TokenMaker::kStarter;
  if (is_made || token != hosting.token) {
    hosting.token_parents = LocalTokenParents();
    if (is_made) {
      // A token that `launch` made should not be written to a disk. Therefore
      // kMemoryFolder, a folder in memory, is tried first.
      hosting.token_parents.insert(hosting.token_parents.begin(),
                                   kMemoryFolder);
    }
  }
  hosting.tls = options.tls;
  hosting.run_tag = NewRunTag(facts);
  if (!options.log_dir.empty()) {
    const agent::LogPlan& logs = plan.agent.logs;
    hosting.log_directory = logs.directory;
    hosting.event_log = [logs](const std::string& tag) {
      return agent::EventLogPath(logs.directory, HostedRunName(logs, tag));
    };
  }
  return hosting;
}

std::string OpenJobNotice(const rendezvous::Endpoint& coordinator) {
  return absl::StrCat(
      "this job is open: whoever reaches ", coordinator.ToString(),
      " can see it, join it and end it; to close it, give all its nodes one "
      "secret by MUSTER_TOKEN or --token-file (`launch token` prints one)");
}

// Points the link "latest" at the log folder of the run that this process
// hosts. Called before the first round, so that the event log can be found even
// if the job never reaches its first round.
void PointLatestAtHosted(const agent::LogPlan& logs, const std::string& tag) {
  PointLatestInTime(logs.directory, HostedRunName(logs, tag));
}

// Called instead of running an agent if the journal in --state-dir holds the
// job's verdict: the job had ended before `launch` was killed and started
// again. Prints the verdict and starts no workers. Then blocks until the other
// nodes have received the verdict, a signal arrives, or `close_timeout` has
// passed. Returns the exit code of `launch`.
int TellRecordedVerdict(const rendezvous::Verdict& verdict,
                        const RunOptions& options, EmbeddedCoordinator& here,
                        const Voice& voice) {
  voice.Notice("this job had ended when its coordinator was killed");
  if (verdict.outcome != rendezvous::Outcome::kSucceeded ||
      voice.talk() == Talk::kAll || voice.verdict_fd() != STDERR_FILENO) {
    voice.Verdict(
        VerdictText(verdict, options.program[0], TargetOf(voice.verdict_fd())));
  }
  here.Linger(options.close_timeout, voice);
  return verdict.exit_code;
}

// Returns the options of the link to a coordinator that another process hosts.
// If the user gave no token, that process may have made a token and stored it
// in a file on this machine. The token in this file is then used.
rendezvous::GrpcLink::Options LinkTo(const CoordinatorChoice& choice,
                                     const rendezvous::TlsFiles& tls,
                                     const std::string& token) {
  if (token.empty() && choice.place == CoordinatorPlace::kHereIfFree) {
    std::optional<LocalCoordinator> local =
        FindLocalCoordinator(choice.endpoints.front(), LocalTokenParents());
    // `local` is the coordinator found on this machine. With TLS, connect to it
    // by the host name that the user gave, because the coordinator's
    // certificate is valid for this name.
    if (local) {
      return {.endpoints = {tls.given() ? choice.endpoints.front()
                                        : local->endpoint},
              .tls = tls,
              .token = local->token};
    }
  }
  return {.endpoints = choice.endpoints, .tls = tls, .token = token};
}

// The coordinator that runs in this process, if any.
struct OwnCoordinator {
  enum class Role { kHost, kStandby };
  // the coordinator in this process; null: this process has none
  std::unique_ptr<EmbeddedCoordinator> here;
  Role role = Role::kStandby;

  bool hosts() const { return here != nullptr && role == Role::kHost; }
};

// Starts the coordinator of this process, if this process hosts the coordinator
// or runs a standby.
absl::StatusOr<OwnCoordinator> StartCoordinator(
    const CoordinatorChoice& choice, EmbeddedCoordinator::Options hosting,
    const rendezvous::NodeIdentity& node, const Voice& voice) {
  using Kind = rendezvous::Standby::Kind;
  if (choice.is_taken_over) {
    hosting.takeover = {.kind = Kind::kFounder,
                        // With TLS, announces the host name that the user gave,
                        // because the certificate is valid for this name.
                        .own_host = hosting.tls.given()
                                        ? choice.endpoints.front().host
                                        : choice.own_address,
                        .endpoints = choice.endpoints};
    hosting.takeover->endpoints.insert(hosting.takeover->endpoints.end(),
                                       choice.others.begin(),
                                       choice.others.end());
  }
  absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> hosted =
      HostCoordinator(choice, hosting, voice);
  if (!hosted.ok()) return hosted.status();
  if (*hosted != nullptr || !choice.is_taken_over) {
    return OwnCoordinator{*std::move(hosted), OwnCoordinator::Role::kHost};
  }
  hosting.takeover->kind = Kind::kSuccessor;
  // a standby does not use --state-dir, which is for the coordinator's host
  hosting.state_dir.clear();
  return OwnCoordinator{StandBy(choice, node, std::move(hosting), voice),
                        OwnCoordinator::Role::kStandby};
}

// Creates the agent's link to the coordinator, which is in this process or at
// the configured endpoints. Stores the address of this process's coordinator or
// standby, if any, in `agent`.
std::unique_ptr<rendezvous::CoordinatorLink> MakeLink(
    const CoordinatorChoice& choice, const OwnCoordinator& own,
    const rendezvous::TlsFiles& tls, const std::string& token,
    agent::AgentOptions& agent) {
  rendezvous::GrpcLink::Options there = LinkTo(choice, tls, token);
  if (choice.is_taken_over) {
    there.keep_alive = rendezvous::KeepAliveOfHosted(agent.spec.max_nodes);
  }
  for (const rendezvous::Endpoint& other : choice.others) {
    agent.other_endpoints.push_back(other.ToString());
  }
  if (own.hosts()) {
    rendezvous::Endpoint endpoint = choice.endpoints.front();
    endpoint.port = own.here->address().port;
    agent.coordinator_endpoint = endpoint.ToString();
    agent.environment.coordinator_endpoint = agent.coordinator_endpoint;
    if (agent.node.address.empty()) agent.node.address = choice.own_address;
    if (!choice.is_taken_over) {
      return std::make_unique<rendezvous::InProcessLink>(
          own.here->coordinator());
    }
    there.endpoints = {own.here->own_endpoint()};
  }
  auto link = std::make_unique<rendezvous::GrpcLink>(std::move(there));
  if (own.here == nullptr) return link;
  agent.standby_endpoint = own.here->own_endpoint().ToString();
  return std::make_unique<rendezvous::FollowingLink>(std::move(link),
                                                     own.here->coordinator());
}

// If another process coordinates the job, returns a sentence for the dashboard
// that names that other process. Empty: `here` coordinates the job.
std::string ElsewhereText(const rendezvous::Coordinator& here) {
  const auto elsewhere = here.WhereElse();
  if (!elsewhere.has_value()) return "";
  return std::string(elsewhere->why.message());
}

}  // namespace

int RunCommand(const std::string& name, const RunOptions& options,
               const std::map<std::string, std::string>& environment,
               const Refusal& refuse) {
  if (options.remote.start == RemoteStart::kHostFile) {
    return RunSshFront(name, options, environment);
  }
  const int verdict_fd = options.remote.verdict_fd;
  const Voice voice(
      name.c_str(),
      options.verbosity == Verbosity::kQuiet ? Talk::kErrorsOnly : Talk::kAll,
      verdict_fd < 0 ? STDERR_FILENO : verdict_fd);
  absl::StatusOr<PreparedNode> node = PrepareNode(options, environment, voice);
  if (!node.ok()) return refuse(node.status());
  const absl::StatusOr<Meeting> meeting = DecideMeeting(options, node->facts);
  if (!meeting.ok()) return refuse(meeting.status());
  if (!meeting->alone) ReadAddresses(node->facts);
  int exit_code = 0;
  absl::StatusOr<LaunchPlan> plan =
      PlanMeeting(options, *meeting, node->facts, voice, &exit_code);
  if (absl::IsCancelled(plan.status())) {
    voice.Error(std::string(plan.status().message()));
    return exit_code;
  }
  if (!plan.ok()) return refuse(plan.status());
  const absl::Status logs = CheckLogFolder(options, plan->agent.logs);
  if (!logs.ok()) return refuse(logs);
  PrepareSignals(plan->agent);
  const EmbeddedCoordinator::Options hosting =
      HostingOptions(*plan, options, node->facts, node->token);
  absl::StatusOr<OwnCoordinator> own =
      StartCoordinator(plan->coordinator, hosting, plan->agent.node, voice);
  if (!own.ok()) return refuse(own.status());
  EmbeddedCoordinator* const here = own->here.get();
  if (own->hosts()) {
    if (hosting.token.empty() && !hosting.tls.given()) {
      voice.Notice(OpenJobNotice(here->address()));
    }
    rendezvous::Endpoint endpoint = plan->coordinator.endpoints.front();
    endpoint.port = here->address().port;
    ReportCoordinator(options.remote, endpoint);
    if (!options.log_dir.empty()) {
      PointLatestAtHosted(plan->agent.logs, here->run_tag());
    }
    if (here->recorded_verdict() && !plan->coordinator.is_taken_over) {
      return TellRecordedVerdict(*here->recorded_verdict(), options, *here,
                                 voice);
    }
  }

  agent::AgentOptions agent = std::move(plan->agent);
  // If another `launch` started this agent, that `launch` reads the agent's
  // output. That `launch` may stop reading while its console is full. This
  // agent therefore waits for a long time before it drops output.
  if (verdict_fd >= 0) agent.logs.console.timeout = kStarterTimeout;
  std::unique_ptr<rendezvous::CoordinatorLink> link =
      MakeLink(plan->coordinator, *own, options.tls, node->token, agent);
  CoordinatorPages shown;
  if (here != nullptr && !own->hosts()) {
    // When the first round begins on this node, report the address of this
    // node's standby to the `launch` that started this agent. Before that, the
    // standby cannot take over.
    shown.on_round = [here, &options, is_reported = false]() mutable {
      if (std::exchange(is_reported, true)) return;
      ReportCoordinator(options.remote, here->own_endpoint());
    };
  }
  if (own->hosts()) shown.live = [here] { return here->Check(); };
  if (here != nullptr) {
    shown.jobs = [here] {
      return rendezvous::JobsWithNodes(*here->coordinator());
    };
    shown.losses = [here] { return here->losses(); };
    using Session = rendezvous::DashboardInquirer::Session;
    shown.inquirer = {
        .inquire =
            [here](const std::string& run_id, const Session& session) {
              return here->coordinator()->Inquire(run_id, /*node=*/"", session);
            },
        .end =
            [here](const std::string& run_id, const Session& session) {
              here->coordinator()->EndInquiry(run_id, session);
            }};
    shown.elsewhere = [here] { return ElsewhereText(*here->coordinator()); };
  }
  const std::string& token = here == nullptr ? node->token : hosting.token;
  if (!token.empty()) shown.tokens = {token};
  if (hosting.tls.given()) {
    shown.certificates = rendezvous::CallerCertificates::kRequired;
  }
  bool is_over = false;
  shown.linger = [&](int code) {
    is_over = true;
    link.reset();
    node->guardian.reset();
    // Whether this agent was started over ssh and has lost its guardian. The
    // `launch` that started this agent then starts a new agent on this host, or
    // ends the job. In both cases no node needs the coordinator in this
    // process.
    const bool is_replaced =
        code == agent::kWorkersLostExitCode && options.remote.endpoint_fd >= 0;
    if (here != nullptr && !is_replaced) {
      here->Linger(options.close_timeout, voice);
    }
  };
  const agent::AgentResult result = RunAgentSession(
      voice, std::move(agent), options.program[0],
      options.log_dir.empty() ? LogFolder::kTemporary : LogFolder::kGiven,
      node->guardian.get(), link.get(), shown);
  // RunAgentSession normally calls `linger`, which waits until other nodes no
  // longer need the coordinator in this process. If RunAgentSession failed
  // early, without this call, call `linger` here.
  if (!is_over) shown.linger(result.exit_code);
  return result.exit_code;
}

}  // namespace muster::launcher
