#ifndef MUSTER_LAUNCHER_SSH_REMOTE_JOB_H_
#define MUSTER_LAUNCHER_SSH_REMOTE_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/remote_plan.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {

// A step of RemoteJob returns effects: SendDown, Connect, Say, HangUp and
// Finish. SshFront carries them out. SendDown: send `message` to the `launch`
// processes on the hosts.
struct SendDown {
  DownMessage message;
};
// Connect by ssh to host number `host`, whose connection was lost.
struct Connect {
  uint32_t host = 0;
};
struct Say {
  enum class Kind { kNotice, kError } kind = Kind::kNotice;
  std::string line;
};
// Close the sending direction of every connection. Agents that still run on the
// hosts then leave the job and exit.
struct HangUp {};
// Close all connections and end this process with `exit_code`. Before that,
// print `verdict`. If `verdict` is empty, print `own_verdict`, which RemoteJob
// makes when the coordinator cannot give a verdict.
struct Finish {
  int exit_code = 0;
  std::string verdict;
  std::optional<rendezvous::Verdict> own_verdict;
};
using FrontEffect = std::variant<SendDown, Connect, Say, HangUp, Finish>;

// State machine of the `launch` that starts a job over ssh. RemoteJob decides
// when each agent is started, which agents get a signal, what follows from a
// failed or lost host, what is printed, and the exit code. Pure: each public
// function is one step that returns effects, and the time is an argument.
//
// No agent starts before enough hosts are up. A job of fixed size needs all its
// hosts; an elastic job needs MIN hosts. With Beginning::kWithAllThatAnswer,
// the agents start when every host is up or has failed. Unless the user runs a
// coordinator, the first host that is up hosts it, and the other agents get its
// port. The first MAX hosts of the host file that have not failed take part.
// The hosts after them are spares, whose agents start when those MAX agents are
// running. Each agent prints the messages about its own host; one agent also
// prints those about the job (JobMessages).
//
// If an agent was killed, RemoteJob starts it again at once. If the connection
// to a host was lost, RemoteJob connects again. It gives up on a host where
// this happens again and again within ten minutes.
//
// When the job loses a host or an agent that it needs, the coordinator decides
// what happens, and its verdict names the loss. If the coordinator's host is
// lost, another agent takes over (RemotePlan::is_taken_over). If the
// coordinator gives no verdict in time, or is lost and has no successor,
// RemoteJob makes the verdict.
class RemoteJob {
 public:
  explicit RemoteJob(RemotePlan plan);

  std::vector<FrontEffect> Step(Instant now, const UpMessage& message);
  std::vector<FrontEffect> SignalCaught(Instant now, int signal);
  std::vector<FrontEffect> TimePassed(Instant now);
  // Called when all connections are closed. No further message can arrive.
  std::vector<FrontEffect> AllClosed(Instant now);

  // Postpones the deadline for the agents' exit or the verdict by `time`,
  // during which no messages were read because the console was full.
  void PutOff(Duration time);

  // The time at which TimePassed must be called; nullopt: no call is needed.
  std::optional<Instant> NextDeadline() const;

 private:
  // The phase of a host. kAsked: the host has not answered yet. kUp: `launch`
  // runs on the host, but no agent was started. kRunning: its agent was
  // started. kEnded: its agent has exited. kFailed: the host could not be
  // reached, or its agent could not be started. kSought: the connection was
  // lost, and RemoteJob tries to connect again. kLost: the connection was lost,
  // and RemoteJob does not try again.
  enum class Phase { kAsked, kUp, kRunning, kEnded, kFailed, kSought, kLost };
  struct HostState {
    Phase phase = Phase::kAsked;
    HostUp up;
    // why the host failed, or why the host or its agent was lost
    std::string why;
    // exit code of the host's agent; set in the phases kEnded and kFailed
    int exit_code = 0;
    // Whether the start of the agent is delayed (AgentWaits). The connection to
    // the host was lost before, and the host's earlier agent is still stopping
    // its workers.
    bool waits = false;
    // The endpoint at which other agents reach the coordinator or standby in
    // this host's agent; nullopt: the agent has not reported the endpoint.
    std::optional<rendezvous::Endpoint> endpoint;
    // How many times the agent was killed or the connection was lost since
    // `counted_since`.
    int deaths = 0;
    Instant counted_since;
    // In kSought: `lost_at` is the time at which the connection was lost, and
    // `attempts` the number of attempts to connect since then.
    Instant lost_at;
    int attempts = 0;
    // the time of the next attempt to connect; nullopt: none is planned
    std::optional<Instant> connect_at;
  };

  void On(Instant now, const HostUp& message);
  void On(Instant now, const HostFailed& message);
  void On(Instant now, const CoordinatorUp& message);
  void On(Instant now, const AgentWaits& message);
  void On(Instant now, const AgentKilled& message);
  void On(Instant now, const AgentEnded& message);
  void On(Instant now, const HostLost& message);
  void On(Instant now, const OutputCame& message);

  bool Knows(uint32_t host) const { return host < hosts_.size(); }
  const std::string& Name(uint32_t host) const;
  int Count(Phase phase) const;
  int Usable() const;
  void ConsiderStart(Instant now);
  void StartAll(Instant now);
  bool MayStart(uint32_t host, Instant now);
  // Whether a new agent may be started on `host` after the agent was killed or
  // the connection to the host was lost.
  bool MayStartAgain(uint32_t host) const;
  void CountDeath(Instant now, HostState& host);
  // Whether the job is ending. If it is, no agent is started any more.
  bool IsEnding() const {
    return own_exit_code_ || verdict_code_ || signals_ > 0 || hung_up_;
  }
  // Whether the job cannot continue until a host is back: too few hosts are
  // left, or the host with the only coordinator is absent.
  bool LacksHosts() const;
  // Whether a job that has no running agent waits for lost hosts to come back.
  // True if enough hosts may come back, and one of these holds:
  // - No coordinator has listened yet, so the job has not begun.
  // - The coordinator is a daemon of the user, which still knows the job.
  bool AwaitsHosts() const;
  // Called when no agent is left. Makes the verdict that the job has failed if
  // no agent has given a verdict, and the job has lost a host, or an agent
  // without which it cannot continue.
  void JudgeIfUnknown(Instant now);
  void ConnectAgain(uint32_t host);
  // Called when an attempt to connect again to the lost host `host` has failed;
  // `why` says how. Plans the next attempt, or gives the host up.
  void NotConnected(Instant now, uint32_t host, const std::string& why);
  // Returns the flags with which the agent of `host` finds the coordinator.
  std::vector<std::string> MeetingFlagsOf(uint32_t host) const;
  void Start(uint32_t host, std::vector<std::string> flags);
  void GiveUpStarting(Instant now);
  // Stops all agents by SIGTERM, for a reason that the coordinator does not
  // know. Prints the reason `why` unless it is empty. The exit code of this
  // process will be `exit_code`.
  void Stop(Instant now, int exit_code, const std::string& why);
  // Stops all agents because a host was lost and the coordinator gives no
  // verdict. This process makes the verdict.
  void StopForLoss(Instant now, const std::string& why);
  // Whether the loss of `host` ends the job, because the host has the
  // coordinator and no other host can take over.
  bool EndsWith(uint32_t host) const {
    return host == coordinator_ && (!plan_.is_taken_over || endpoints_.empty());
  }
  // Whether the job cannot continue without `host`, whose agent has ended: too
  // few hosts are left, or `host` had the coordinator and no other host can
  // take over (EndsWith).
  bool IsNeeded(uint32_t host) const {
    return Usable() < plan_.least || EndsWith(host);
  }
  // Handles the end of an agent that got no verdict and may have been part of
  // the job; `how` says how the agent ended.
  void LoseAgent(Instant now, uint32_t host, int exit_code,
                 const std::string& how);
  // Handles the loss of `host`, which takes part in the job, or of its agent;
  // `what` says how the host or the agent was lost.
  void Lose(Instant now, uint32_t host, const std::string& what);
  // Sets a deadline after the loss of `host`, which the job needs. By the
  // deadline enough hosts must be back (LacksHosts), or the coordinator must
  // have given a verdict. Otherwise this process makes the verdict.
  void Await(Instant now, uint32_t host);
  // Returns the reason for a verdict on the loss of `host`: how the host was
  // lost, and why the job cannot continue without it.
  std::string WhyItEnds(uint32_t host) const;
  // Called when the agent of `host` has ended or was lost. Sets
  // is_coordinated_elsewhere_ if this agent hosted the first coordinator and a
  // round has begun: another agent then takes over.
  void NoteCoordinator(uint32_t host);
  // Called after each step. Ends the job if no agent is running and no lost
  // host is awaited (AwaitsHosts): closes the sending direction of all
  // connections, so that the `launch` processes on hosts without an agent exit.
  void LetIdleHostsGo(Instant now);
  void Expect(Instant now, Duration within);
  void Error(const std::string& line);
  void End();
  int ExitCode() const;

  const RemotePlan plan_;
  std::vector<HostState> hosts_;
  // what the current step asks its caller to do
  std::vector<FrontEffect> effects_;
  bool started_ = false;
  // With Beginning::kWithAllThatAnswer: the number of hosts that were up when
  // the agents were started. Otherwise nullopt.
  std::optional<int> begins_with_;
  bool finished_ = false;
  // number of the host that was chosen to host the coordinator at the job's
  // start
  std::optional<uint32_t> coordinator_;
  // A description, for messages, of how the first coordinator's host was lost;
  // empty: this host was not lost.
  std::string coordinators_loss_;
  // whether the first coordinator is gone and an agent on another host may
  // coordinate the job instead
  bool is_coordinated_elsewhere_ = false;
  // Endpoints of the coordinator that the user runs, or else of the first
  // coordinator; empty until the first coordinator listens.
  std::vector<rendezvous::Endpoint> endpoints_;
  std::optional<uint32_t> speaker_;
  // The exit code of this process if it ends the job for a reason of its own;
  // nullopt: it has no such reason.
  std::optional<int> own_exit_code_;
  std::optional<rendezvous::Verdict> own_verdict_;
  // Description of the loss of a host or agent on which the coordinator is to
  // give a verdict. Empty: no verdict is awaited.
  std::string awaited_;
  Instant began_;  // time at which the first agent was started
  // The time at which the agents of spares may start: kSparesWait after the
  // last of the other agents was started. nullopt: an agent that is no spare
  // was not started yet, or the time has passed.
  std::optional<Instant> spares_at_;
  bool spares_may_start_ = false;
  std::string verdict_;
  std::optional<int> verdict_code_;
  // how many signals that stop the job this process has received
  int signals_ = 0;
  int first_signal_ = 0;
  bool hung_up_ = false;
  std::optional<Instant> deadline_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_REMOTE_JOB_H_
