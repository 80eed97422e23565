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

// What the front's core asks its driver to do.
struct SendDown {
  DownMessage message;
};
struct Say {
  enum class Kind { kNotice, kError } kind = Kind::kNotice;
  std::string line;
};
// Close every connection's way down: what still runs there leaves and ends.
struct HangUp {};
// End what is left of the connections, and this process. `verdict` is printed
// first; without one `own_verdict`, which the front gives where the coordinator
// cannot.
struct Finish {
  int exit_code = 0;
  std::string verdict;
  std::optional<rendezvous::Verdict> own_verdict;
};
using FrontEffect = std::variant<SendDown, Say, HangUp, Finish>;

// A job that was started over ssh, as the `launch` that started it sees it:
// when which agent is started, whom a signal reaches, what a failed or lost
// host means, what is printed and what the exit code is. Pure: every member
// function is one step that returns its effects, and says of the time only what
// it was told.
//
// Nothing is started before enough hosts are there: all of a job of fixed size,
// MIN of one that may grow, or all that answer (Beginning). Then the first host
// that is there hosts the coordinator, and its port goes to the others. The
// first MAX hosts in the file's order that have not failed take part: the ones
// after them are spares, whose agents start only when all of those MAX run.
// Each agent says what concerns its host, and one what holds for the job
// (Telling).
//
// The loss of a host or agent that the job cannot do without is the
// coordinator's to judge: its verdict names the loss. Where it gives none in
// time, or is lost itself, the front gives one.
class RemoteJob {
 public:
  explicit RemoteJob(RemotePlan plan);

  std::vector<FrontEffect> Step(Instant now, const UpMessage& message);
  std::vector<FrontEffect> SignalCaught(Instant now, int signal);
  std::vector<FrontEffect> TimePassed(Instant now);
  // Nothing more will come of any host.
  std::vector<FrontEffect> AllClosed(Instant now);

  // For `time` nothing that came was read, since the console took nothing:
  // deadlines are later by that.
  void PutOff(Duration time);

  // When TimePassed is due; nullopt: nothing is.
  std::optional<Instant> NextDeadline() const;

 private:
  enum class Phase { kAsked, kUp, kRunning, kEnded, kFailed, kLost };
  struct HostState {
    Phase phase = Phase::kAsked;
    HostUp up;
    std::string why;    // kFailed, kLost
    int exit_code = 0;  // kEnded, kFailed
  };

  void On(Instant now, const HostUp& message);
  void On(Instant now, const HostFailed& message);
  void On(Instant now, const CoordinatorUp& message);
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
  void Start(uint32_t host, std::vector<std::string> flags);
  void GiveUpStarting(Instant now);
  // Ends all agents, for a reason that this process found (not the
  // coordinator).
  void Stop(Instant now, int exit_code, const std::string& why);
  // Ends all agents because a host is lost. The verdict is made by this
  // process, since the coordinator gives none.
  void StopForLoss(Instant now, const std::string& why);
  // A host of the job is lost; `what` says how.
  void Lose(Instant now, uint32_t host, const std::string& what);
  // Sets the deadline by which the coordinator must give its verdict on a loss.
  void AwaitVerdict(Instant now, const std::string& why);
  // Disconnects the hosts without an agent if no agent runs: the job is over.
  void LetIdleHostsGo(Instant now);
  void Expect(Instant now, Duration within);
  void Error(const std::string& line);
  void End();
  int ExitCode() const;

  const RemotePlan plan_;
  std::vector<HostState> hosts_;
  std::vector<FrontEffect> effects_;  // of the step under way
  bool started_ = false;
  std::optional<int> begins_with_;  // hosts: kWithAllThatAnswer
  bool finished_ = false;
  std::optional<uint32_t> coordinator_;           // the host that hosts it
  std::optional<rendezvous::Endpoint> endpoint_;  // known once it listens
  std::optional<uint32_t> speaker_;
  std::optional<int> own_exit_code_;  // this process's own reason to end
  std::optional<rendezvous::Verdict> own_verdict_;
  std::string awaited_;  // the loss that the coordinator is to judge
  Instant began_;        // when the first agent was started
  // The time at which spare hosts may start: a fixed delay after all hosts that
  // the job prefers have started.
  std::optional<Instant> spares_at_;
  bool spares_may_start_ = false;
  std::string verdict_;
  std::optional<int> verdict_code_;
  int signals_ = 0;  // that stop the job
  int first_signal_ = 0;
  bool hung_up_ = false;
  std::optional<Instant> deadline_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_REMOTE_JOB_H_
