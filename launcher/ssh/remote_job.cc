#include "launcher/ssh/remote_job.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "launcher/ssh/meeting_flags.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::launcher {
namespace {

// Time that an agent gets to exit, in addition to the time that it needs to
// stop its workers.
constexpr Duration kSlack = std::chrono::seconds(15);
// Time within which the agents must exit after a second signal or after their
// connection was closed.
constexpr Duration kAtOnce = std::chrono::seconds(5);

// Time within which the coordinator must give its verdict after a host was
// lost, in addition to the coordinator's own timeouts.
constexpr Duration kVerdictSlack = std::chrono::seconds(5);
// Delay between the start of the last agent that takes part and the start of
// the first spare. A spare that joined earlier could take the place of that
// agent.
constexpr Duration kSparesWait = std::chrono::seconds(3);

// After an agent was killed or the connection to its host was lost, the agent
// is started again, but at most kMaxDeaths times within kDeathsWithin. This
// limit ends a job whose agent is killed again and again, for instance because
// memory is short.
constexpr Duration kDeathsWithin = std::chrono::minutes(10);
constexpr int kMaxDeaths = 10;

// Time during which this process tries to connect to a lost host again; long
// enough for a reboot. The first attempt comes at once. Then the wait between
// two attempts doubles from kFirstWait to kLongestWait.
constexpr Duration kSoughtFor = std::chrono::minutes(10);
constexpr Duration kFirstWait = std::chrono::seconds(1);
constexpr Duration kLongestWait = std::chrono::seconds(16);
// If the job cannot continue without a lost host, this process waits for
// kSoughtForVerdict plus kVerdictSlack until the host is connected again. Used
// only if the plan has no rejoin timeout (RemotePlan::rejoin_timeout).
constexpr Duration kSoughtForVerdict = std::chrono::seconds(10);

std::string HowEnded(int exit_code) {
  return absl::StrCat("its agent ended with status ", exit_code);
}

std::string HowKilled(int exit_code) {
  if (exit_code == agent::kWorkersLostExitCode) {
    return "the process that starts its workers was killed";
  }
  return absl::StrCat("its agent was killed by ",
                      rendezvous::SignalName(exit_code - 128));
}

bool StopsTheJob(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
         signal == SIGQUIT;
}

}  // namespace

RemoteJob::RemoteJob(RemotePlan plan)
    : plan_(std::move(plan)), hosts_(plan_.node.hosts.size()) {
  endpoints_ = plan_.endpoints;
}

std::vector<FrontEffect> RemoteJob::Step(Instant now,
                                         const UpMessage& message) {
  std::visit(
      [&](const auto& m) {
        if (Knows(m.host) && !finished_) On(now, m);
      },
      message);
  LetIdleHostsGo(now);
  return std::exchange(effects_, {});
}

std::vector<FrontEffect> RemoteJob::SignalCaught(Instant now, int signal) {
  if (finished_) return {};
  if (!StopsTheJob(signal)) {
    // A signal that does not stop the job is sent to one running agent only.
    // This agent forwards the signal to all workers of the job.
    for (uint32_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i].phase != Phase::kRunning || hosts_[i].waits) continue;
      effects_.push_back(SendDown{SignalAgents{i, signal}});
      break;
    }
    return std::exchange(effects_, {});
  }
  ++signals_;
  // A signal that the agents do not handle would kill them and leave their
  // workers no grace period. SIGTERM is sent in place of such a signal.
  const auto& caught = plan_.stop_signals;
  const bool is_caught =
      std::find(caught.begin(), caught.end(), signal) != caught.end();
  const int sent = is_caught ? signal : SIGTERM;
  const std::string name = rendezvous::SignalName(signal);
  if (!started_) {
    own_exit_code_ = 128 + signal;
    Error(absl::StrCat(name, ": nothing was started"));
    End();
  } else if (signals_ == 1) {
    first_signal_ = sent;
    effects_.push_back(
        Say{Say::Kind::kNotice, absl::StrCat(name,
                                             ": the job is stopped; once more "
                                             "to stop it at once")});
    effects_.push_back(SendDown{SignalAgents{std::nullopt, sent}});
    if (!verdict_code_) verdict_code_ = 128 + signal;
    awaited_.clear();
    deadline_.reset();
    Expect(now, std::chrono::milliseconds(plan_.node.stop_timeout_ms) + kSlack);
  } else if (signals_ == 2) {
    // On the second signal to this process, send the agents another signal
    // number than on the first. A second signal with the same number would be
    // lost while the first one is still pending in an agent.
    effects_.push_back(SendDown{SignalAgents{
        std::nullopt, first_signal_ == SIGTERM ? SIGINT : SIGTERM}});
    Expect(now, kAtOnce);
  } else {
    Error(absl::StrCat(name, ": not waiting for the other hosts"));
    End();
  }
  LetIdleHostsGo(now);
  return std::exchange(effects_, {});
}

std::vector<FrontEffect> RemoteJob::TimePassed(Instant now) {
  if (finished_) return {};
  if (spares_at_ && now >= *spares_at_) {
    spares_at_.reset();
    spares_may_start_ = true;
    StartAll(now);
  }
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    const std::optional<Instant>& due = hosts_[i].connect_at;
    if (due && now >= *due) ConnectAgain(i);
  }
  if (!deadline_ || now < *deadline_) return std::exchange(effects_, {});
  deadline_.reset();
  if (!awaited_.empty()) {
    StopForLoss(now, std::exchange(awaited_, {}));
  } else if (!hung_up_) {
    for (uint32_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i].phase != Phase::kRunning) continue;
      Error(absl::StrCat(Name(i), ": its agent did not end in time"));
    }
    hung_up_ = true;
    effects_.push_back(HangUp{});
    Expect(now, kAtOnce);
  } else {
    End();
  }
  LetIdleHostsGo(now);
  return std::exchange(effects_, {});
}

std::vector<FrontEffect> RemoteJob::AllClosed(Instant now) {
  if (finished_ || AwaitsHosts()) return {};
  JudgeIfUnknown(now);
  End();
  return std::exchange(effects_, {});
}

void RemoteJob::On(Instant now, const HostUp& message) {
  HostState& host = hosts_[message.host];
  if (host.phase != Phase::kAsked && host.phase != Phase::kSought) return;
  const bool is_back = host.phase == Phase::kSought;
  host.phase = Phase::kUp;
  host.up = message;
  if (is_back && !IsEnding()) {
    Error(absl::StrCat(Name(message.host), ": is connected again"));
    if (!awaited_.empty()) {
      awaited_.clear();
      deadline_.reset();
      for (uint32_t i = 0; i < hosts_.size() && LacksHosts(); ++i) {
        if (hosts_[i].phase != Phase::kSought) continue;
        Await(now, i);  // The job cannot continue without lost host i.
        break;
      }
    }
  }
  if (!started_) {
    ConsiderStart(now);
  } else {
    StartAll(now);
  }
}

void RemoteJob::On(Instant now, const HostFailed& message) {
  HostState& host = hosts_[message.host];
  if (host.phase == Phase::kEnded || host.phase == Phase::kFailed) return;
  if (host.phase == Phase::kSought) {
    NotConnected(now, message.host, message.why);
    return;
  }
  const bool was_running = host.phase == Phase::kRunning;
  const bool was_let_go = started_ && hung_up_ && !was_running;
  host.phase = Phase::kFailed;
  host.why = message.why;
  host.exit_code = message.exit_code;
  if (!started_) {
    ConsiderStart(now);
    return;
  }
  if (was_let_go) return;
  if (host.deaths > 0) {
    LoseAgent(now, message.host, message.exit_code, message.why);
    return;
  }
  Error(absl::StrCat(Name(message.host), ": ", message.why));
  if (was_running && Usable() < plan_.least) {
    Stop(now, message.exit_code, "");
  }
  // Start the agent of a spare host, if there is one, in place of the agent of
  // the failed host.
  StartAll(now);
}

void RemoteJob::On(Instant now, const CoordinatorUp& message) {
  const rendezvous::Endpoint endpoint = {message.address,
                                         static_cast<int>(message.port)};
  hosts_[message.host].endpoint = endpoint;
  if (coordinator_ != message.host || !endpoints_.empty()) return;
  endpoints_ = {endpoint};
  effects_.push_back(
      Say{Say::Kind::kNotice,
          absl::StrCat("agents start on ", Count(Phase::kUp) + 1, " of ",
                       hosts_.size(), " hosts; the coordinator is at ",
                       rendezvous::EndpointsText(endpoints_))});
  StartAll(now);
}

void RemoteJob::On(Instant, const AgentWaits& message) {
  hosts_[message.host].waits = true;
  Error(absl::StrCat(Name(message.host),
                     ": the agent of the lost connection still stops its "
                     "workers; the new one starts after that"));
}

void RemoteJob::On(Instant now, const AgentKilled& message) {
  HostState& host = hosts_[message.host];
  if (host.phase != Phase::kRunning) return;
  const std::string how = HowKilled(message.exit_code);
  CountDeath(now, host);
  if (MayStartAgain(message.host)) {
    Error(absl::StrCat(Name(message.host), ": ", how, "; it is started again"));
    Start(message.host, MeetingFlagsOf(message.host));
    return;
  }
  host.phase = Phase::kEnded;
  host.exit_code = message.exit_code;
  LoseAgent(now, message.host, message.exit_code, how);
}

void RemoteJob::CountDeath(Instant now, HostState& host) {
  if (now >= host.counted_since + kDeathsWithin) {
    host.counted_since = now;
    host.deaths = 0;
  }
  ++host.deaths;
}

bool RemoteJob::MayStartAgain(uint32_t host) const {
  // In a job of `launch doctor`, no agent is started again: a host whose agent
  // was killed is reported on the doctor's page instead.
  const bool is_doctor = plan_.beginning == Beginning::kWithAllThatAnswer;
  return !IsEnding() && !is_doctor && !plan_.alone &&
         hosts_[host].deaths <= kMaxDeaths;
}

void RemoteJob::On(Instant now, const AgentEnded& message) {
  HostState& host = hosts_[message.host];
  if (host.phase == Phase::kEnded) return;
  host.phase = Phase::kEnded;
  host.exit_code = message.exit_code;
  NoteCoordinator(message.host);
  if (!message.verdict.empty() && verdict_.empty()) {
    verdict_ = message.verdict;
    verdict_code_ = message.exit_code;
    if (!awaited_.empty()) deadline_.reset();
    awaited_.clear();
    // An agent has reported the verdict. The other agents get the verdict from
    // the coordinator and exit, so they need no signal, only a deadline.
    Expect(now, std::chrono::milliseconds(plan_.node.stop_timeout_ms) + kSlack);
    return;
  }
  if (!message.verdict.empty() || message.exit_code == 0) return;
  // Exit code 1 without a verdict means that the agent was part of the job: the
  // job has lost a node. With any other exit code the agent never joined the
  // job, because it rejected its flags or could not start the program.
  const std::string how = HowEnded(message.exit_code);
  if (message.exit_code != 1 && IsNeeded(message.host) && !verdict_code_) {
    Stop(now, message.exit_code, absl::StrCat(Name(message.host), ": ", how));
  } else {
    LoseAgent(now, message.host, message.exit_code, how);
  }
}

void RemoteJob::LoseAgent(Instant now, uint32_t host, int exit_code,
                          const std::string& how) {
  if (verdict_code_ || own_exit_code_) return;
  if (IsNeeded(host) && endpoints_.empty()) {
    Stop(now, exit_code, absl::StrCat(Name(host), ": ", how));
    return;
  }
  Lose(now, host, how);
}

void RemoteJob::On(Instant now, const HostLost& message) {
  HostState& host = hosts_[message.host];
  if (host.phase == Phase::kEnded || host.phase == Phase::kFailed ||
      host.phase == Phase::kLost) {
    return;
  }
  if (host.phase == Phase::kSought) {
    NotConnected(now, message.host, message.why);
    return;
  }
  if (!started_) {
    On(now, HostFailed{message.host, message.why, 1});
    return;
  }
  const bool was_let_go = hung_up_ && host.phase != Phase::kRunning;
  host.phase = Phase::kLost;
  host.why = message.why;
  if (was_let_go) return;
  CountDeath(now, host);
  if (MayStartAgain(message.host)) {
    host.phase = Phase::kSought;
    host.lost_at = now;
    host.attempts = 0;
    host.connect_at = now;
  }
  Lose(now, message.host, message.why);
  if (host.connect_at) ConnectAgain(message.host);
}

void RemoteJob::ConnectAgain(uint32_t host) {
  HostState& lost = hosts_[host];
  lost.connect_at.reset();
  if (IsEnding()) return;
  ++lost.attempts;
  effects_.push_back(Connect{host});
}

void RemoteJob::NotConnected(Instant now, uint32_t host,
                             const std::string& why) {
  HostState& lost = hosts_[host];
  if (IsEnding()) return;
  if (now >= lost.lost_at + kSoughtFor) {
    lost.phase = Phase::kLost;
    Error(absl::StrCat(Name(host), ": was not connected to for 10 minutes (",
                       why, "); launch does not try again"));
    if (EndsWith(host) && !awaited_.empty()) {
      StopForLoss(now, std::exchange(awaited_, {}));
    }
    return;
  }
  if (lost.attempts == 1) {
    Error(absl::StrCat(Name(host), ": ", why, "; launch tries again"));
  }
  Duration wait = kFirstWait;
  for (int i = 1; i < lost.attempts && wait < kLongestWait; ++i) wait *= 2;
  lost.connect_at = now + wait;
}

void RemoteJob::NoteCoordinator(uint32_t host) {
  // Whether a round has begun. If so, an agent on another host has reported the
  // endpoint of its standby (CoordinatorUp), and this standby can take over.
  // Before the first round, only the first host can begin the job.
  const bool has_begun = std::ranges::any_of(hosts_, [&](const HostState& h) {
    return &h != &hosts_[host] && h.phase == Phase::kRunning && h.endpoint;
  });
  if (host == coordinator_ && !EndsWith(host) && has_begun) {
    is_coordinated_elsewhere_ = true;
  }
}

bool RemoteJob::AwaitsHosts() const {
  const int sought = Count(Phase::kSought);
  const bool may_continue = endpoints_.empty() || !plan_.endpoints.empty();
  return !IsEnding() && may_continue && sought > 0 &&
         Usable() + sought >= plan_.least;
}

void RemoteJob::JudgeIfUnknown(Instant now) {
  if (own_exit_code_ || verdict_code_) return;
  if (!awaited_.empty()) {
    StopForLoss(now, std::exchange(awaited_, {}));
    return;
  }
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    const HostState& host = hosts_[i];
    if (host.phase != Phase::kSought && host.phase != Phase::kLost) continue;
    StopForLoss(now, absl::StrCat(Name(i), ": ", host.why,
                                  "; no agent is left that knows the verdict"));
    return;
  }
}

bool RemoteJob::LacksHosts() const {
  if (Usable() < plan_.least) return true;
  if (!coordinator_ || !EndsWith(*coordinator_)) return false;
  const Phase phase = hosts_[*coordinator_].phase;
  return phase != Phase::kUp && phase != Phase::kRunning;
}

std::string RemoteJob::WhyItEnds(uint32_t host) const {
  const std::string line = absl::StrCat(Name(host), ": ", hosts_[host].why);
  if (EndsWith(host)) return absl::StrCat(line, "; it hosted the coordinator");
  return absl::StrCat(line, "; the job needs ", plan_.least, " hosts",
                      coordinators_loss_.empty()
                          ? ""
                          : "; the first coordinator's host was lost before: ",
                      coordinators_loss_);
}

void RemoteJob::Lose(Instant now, uint32_t host, const std::string& what) {
  const std::string line = absl::StrCat(Name(host), ": ", what);
  const bool is_sought = hosts_[host].phase == Phase::kSought;
  hosts_[host].why = what;
  NoteCoordinator(host);
  if (own_exit_code_ || verdict_code_ || !awaited_.empty()) {
    Error(verdict_code_ && signals_ == 0
              ? absl::StrCat(line, "; the end of its output may be missing")
              : line);
    // This process may still wait for the coordinator's verdict on the loss of
    // an earlier host (`awaited_`). If the coordinator was on `host`, which is
    // lost now, that verdict will not come.
    if (EndsWith(host) && !awaited_.empty()) {
      if (is_sought) {
        Await(now, host);
      } else {
        StopForLoss(now, std::exchange(awaited_, {}));
      }
    }
  } else if (EndsWith(host) || Usable() < plan_.least) {
    Error(absl::StrCat(WhyItEnds(host), is_sought ? "; launch connects again"
                                                  : "; the job ends"));
    Await(now, host);
  } else {
    if (host == coordinator_) coordinators_loss_ = line;
    Error(absl::StrCat(line, "; the job goes on without it",
                       is_sought ? "; launch connects again" : ""));
    StartAll(now);  // a spare may replace the lost host
  }
}

void RemoteJob::On(Instant now, const OutputCame& message) {
  hosts_[message.host].waits = false;
  // After the job's verdict, all agents must exit by deadline_. Output that
  // arrives extends this deadline, unless a signal has stopped the job, or the
  // connections are being closed already (hung_up_).
  const bool ends = verdict_code_ && signals_ == 0 && !hung_up_;
  if (ends && deadline_) deadline_ = std::max(*deadline_, now + kSlack);
}

void RemoteJob::PutOff(Duration time) {
  if (deadline_) deadline_ = *deadline_ + time;
}

void RemoteJob::Await(Instant now, uint32_t host) {
  const bool is_judged = !EndsWith(host) && plan_.rejoin_timeout;
  if (!is_judged && hosts_[host].phase != Phase::kSought) {
    StopForLoss(now, WhyItEnds(host));
    return;
  }
  if (awaited_.empty()) awaited_ = WhyItEnds(host);
  // Set a deadline by which the lost host must be connected again, or the
  // coordinator must give its verdict. If the coordinator still runs
  // (`is_judged`), the deadline is later, because agents stop their workers
  // before the verdict.
  Expect(now,
         plan_.rejoin_timeout.value_or(kSoughtForVerdict) + kVerdictSlack +
             (is_judged ? std::chrono::milliseconds(plan_.node.stop_timeout_ms)
                        : std::chrono::milliseconds(0)));
}

const std::string& RemoteJob::Name(uint32_t host) const {
  return plan_.node.hosts[host].name;
}

int RemoteJob::Count(Phase phase) const {
  return static_cast<int>(
      std::count_if(hosts_.begin(), hosts_.end(),
                    [&](const HostState& h) { return h.phase == phase; }));
}

int RemoteJob::Usable() const {
  return Count(Phase::kAsked) + Count(Phase::kUp) + Count(Phase::kRunning);
}

void RemoteJob::ConsiderStart(Instant now) {
  if (own_exit_code_) return;
  if (Usable() < plan_.least) {
    // Too few hosts are left to start the job. But give up only when every host
    // is up or has failed, so that the errors of all hosts are reported. Each
    // host has a deadline for its answer.
    if (Count(Phase::kAsked) == 0) GiveUpStarting(now);
    return;
  }
  if (Count(Phase::kUp) < plan_.least) return;
  const bool waits_for_all = plan_.beginning == Beginning::kWithAllThatAnswer;
  if (waits_for_all && Count(Phase::kAsked) > 0) return;
  // Find the first host of the list that has not failed. If this host has not
  // answered yet, do not start the job now, but wait for its answer.
  uint32_t first = 0;
  while (hosts_[first].phase == Phase::kFailed) ++first;
  if (hosts_[first].phase != Phase::kUp) return;
  started_ = true;
  if (waits_for_all) begins_with_ = Count(Phase::kUp);
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].phase != Phase::kFailed || waits_for_all) continue;
    Error(absl::StrCat(Name(i), ": ", hosts_[i].why,
                       "; the job starts without it"));
  }
  speaker_ = first;
  began_ = now;
  if (!endpoints_.empty() || plan_.alone) {
    StartAll(now);
    return;
  }
  coordinator_ = first;
  Start(first, MeetingFlagsOf(first));
}

// Whether the agent of `host` may start now. The agent of a spare may start
// only after the agents of the first MAX hosts that have not failed have had
// time to join the job. Otherwise the spare could take the place of one of
// these hosts.
bool RemoteJob::MayStart(uint32_t host, Instant now) {
  if (plan_.beginning == Beginning::kWithAllThatAnswer) return true;
  if (spares_may_start_) return true;
  int before = 0;
  bool all_run = true;
  for (uint32_t i = 0; i < host; ++i) {
    const Phase phase = hosts_[i].phase;
    if (phase != Phase::kAsked && phase != Phase::kUp &&
        phase != Phase::kRunning) {
      continue;
    }
    ++before;
    if (before <= plan_.most && phase != Phase::kRunning) all_run = false;
  }
  if (before < plan_.most) return true;
  if (all_run && !spares_at_) spares_at_ = now + kSparesWait;
  return false;
}

void RemoteJob::StartAll(Instant now) {
  // In a job of several hosts, each agent needs the coordinator's address.
  // Until the address is known, start only the coordinator's own agent.
  if (endpoints_.empty() && !plan_.alone) {
    // Start the agent that hosts the coordinator, if its host is up. The host
    // may be up for the first time, or again after it was lost.
    if (hosts_[*coordinator_].phase == Phase::kUp) {
      Start(*coordinator_, MeetingFlagsOf(*coordinator_));
    }
    return;
  }
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].phase != Phase::kUp || !MayStart(i, now)) continue;
    Start(i, MeetingFlagsOf(i));
  }
}

std::vector<std::string> RemoteJob::MeetingFlagsOf(uint32_t host) const {
  if (plan_.alone) return {};
  if (host == coordinator_ && !is_coordinated_elsewhere_) {
    const rendezvous::Endpoint first = {
        AddressForOthers(plan_, hosts_[host].up), plan_.port};
    return HostingFlags(plan_, endpoints_.empty() ? first : endpoints_.front());
  }
  if (!plan_.is_taken_over || !is_coordinated_elsewhere_) {
    return MeetingFlags(plan_, endpoints_);
  }
  // The host of the first coordinator is lost. The standbys in the running
  // agents know where the coordinator is now. So the new agent gets the
  // endpoints of these standbys.
  std::vector<rendezvous::Endpoint> endpoints;
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    const HostState& other = hosts_[i];
    if (i == host || other.phase != Phase::kRunning || !other.endpoint)
      continue;
    if (endpoints.size() == rendezvous::kMaxEndpoints) break;
    endpoints.push_back(*other.endpoint);
  }
  return MeetingFlags(plan_, endpoints.empty() ? endpoints_ : endpoints);
}

void RemoteJob::Start(uint32_t host, std::vector<std::string> flags) {
  if (IsEnding()) return;
  if (begins_with_) {
    flags.push_back(absl::StrCat("--nnodes=1:", *begins_with_));
  }
  hosts_[host].phase = Phase::kRunning;
  hosts_[host].endpoint.reset();
  hosts_[host].waits = false;
  const agent::JobMessages job_messages =
      hosts_.size() == 1 ? agent::JobMessages::kAll
      : speaker_ == host ? agent::JobMessages::kAssignedAndGeneral
                         : agent::JobMessages::kAssigned;
  effects_.push_back(
      SendDown{StartAgent{host, std::move(flags), job_messages}});
}

void RemoteJob::GiveUpStarting(Instant now) {
  const int failed = Count(Phase::kFailed);
  int code = 1;
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].phase != Phase::kFailed) continue;
    Error(absl::StrCat(Name(i), ": ", hosts_[i].why));
    if (failed == 1) code = hosts_[i].exit_code;
  }
  own_exit_code_ = code;
  Error(absl::StrCat(failed, " of ", hosts_.size(),
                     hosts_.size() == 1 ? " host" : " hosts",
                     " cannot take part; nothing was started"));
  hung_up_ = true;
  effects_.push_back(HangUp{});
  Expect(now, kAtOnce);
}

void RemoteJob::Stop(Instant now, int exit_code, const std::string& why) {
  if (own_exit_code_) return;
  own_exit_code_ = exit_code;
  awaited_.clear();
  if (!why.empty()) Error(why);
  effects_.push_back(SendDown{SignalAgents{std::nullopt, SIGTERM}});
  Expect(now, std::chrono::milliseconds(plan_.node.stop_timeout_ms) + kSlack);
}

void RemoteJob::StopForLoss(Instant now, const std::string& why) {
  if (own_exit_code_) return;
  own_verdict_ = rendezvous::Verdict{.outcome = rendezvous::Outcome::kFailed,
                                     .exit_code = 1,
                                     .reason = why,
                                     .rounds = -1,
                                     .lasted = now - began_};
  Stop(now, 1, "");
}

std::optional<Instant> RemoteJob::NextDeadline() const {
  std::optional<Instant> next = deadline_;
  const auto add = [&](const std::optional<Instant>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  add(spares_at_);
  for (const HostState& host : hosts_) add(host.connect_at);
  return next;
}

void RemoteJob::LetIdleHostsGo(Instant now) {
  if (!started_ || finished_ || hung_up_ || Count(Phase::kRunning) > 0) return;
  if (AwaitsHosts()) return;
  JudgeIfUnknown(now);
  if (Count(Phase::kSought) > 0) {
    // ssh may still be trying to connect to a lost host. End the job without
    // waiting for ssh.
    End();
    return;
  }
  hung_up_ = true;
  effects_.push_back(HangUp{});
  Expect(now, kAtOnce);
}

void RemoteJob::Expect(Instant now, Duration within) {
  deadline_ = deadline_ ? std::min(*deadline_, now + within) : now + within;
}

void RemoteJob::Error(const std::string& line) {
  effects_.push_back(Say{Say::Kind::kError, line});
}

void RemoteJob::End() {
  finished_ = true;
  deadline_.reset();
  // If this process stopped the job for a reason of its own, leave out the
  // agents' verdict (pass an empty text): the agents know only the signal that
  // stopped them.
  effects_.push_back(Finish{
      ExitCode(), own_exit_code_ ? std::string() : verdict_, own_verdict_});
}

int RemoteJob::ExitCode() const {
  if (own_exit_code_) return *own_exit_code_;
  if (verdict_code_) return *verdict_code_;
  if (speaker_ && hosts_[*speaker_].phase == Phase::kEnded) {
    return hosts_[*speaker_].exit_code;
  }
  for (const HostState& host : hosts_) {
    if (host.phase == Phase::kEnded && host.exit_code != 0) {
      return host.exit_code;
    }
  }
  return Count(Phase::kEnded) > 0 ? 0 : 1;
}

}  // namespace muster::launcher
