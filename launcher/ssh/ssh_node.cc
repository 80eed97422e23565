#include "launcher/ssh/ssh_node.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/signal_catcher.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/poll.h"
#include "launcher/ssh/agent_process.h"
#include "launcher/ssh/fan_out.h"
#include "launcher/ssh/host_place.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/ssh_command.h"

namespace muster::launcher {
namespace {

// Time without a message after which a connection counts as lost. The limit is
// long, because a user may suspend the `launch` at the other end for a while
// (Ctrl-Z).
constexpr Duration kLongestSilence = std::chrono::minutes(5);
// Maximum time from the start of this process until the first message arrives.
// Also the maximum time for writing the last output.
constexpr Duration kShortWait = std::chrono::seconds(30);
// Time within which an agent must exit, in addition to the time that it needs
// to stop its workers.
constexpr Duration kSlack = std::chrono::seconds(10);
// Time within which an agent must exit after a second signal to stop.
constexpr Duration kShortTimeout = std::chrono::seconds(3);
// The signals on which an agent stops its job.
constexpr std::array kStopSignals = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
// Maximum number of bytes that wait to be written to the connection. While more
// bytes wait, the agent's output is not read.
constexpr size_t kMaxUp = 4 << 20;

// Returns the server's address from SSH_CONNECTION, which has the format
// "CLIENT CLIENT_PORT ADDRESS PORT".
std::string ReachedAddress() {
  const char* text = getenv("SSH_CONNECTION");
  if (text == nullptr) return "";
  const std::string line = text;
  const size_t start = line.find(' ', line.find(' ') + 1);
  if (start == std::string::npos) return "";
  return line.substr(start + 1, line.find(' ', start + 1) - start - 1);
}

class SshNode {
 public:
  SshNode()
      : signals_({kStopSignals.begin(), kStopSignals.end()}),
        heard_(MonotonicNow()),
        deadline_(heard_ + kShortWait) {
    fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    up_ = GreetingLine();
  }

  int Run() {
    while (!Done()) {
      Wait();
      ReadDown();
      if (!signals_.TakeAll().empty()) Leave();
      ServePlace();
      const Instant now = MonotonicNow();
      if (now - heard_ > kLongestSilence) Leave();
      const Intake intake = ThisIntake();
      if (agent_ != nullptr) ServeAgent(intake);
      if (fan_out_ != nullptr) Tell(fan_out_->Serve(now, intake));
      WriteUp();
      if (deadline_ && now >= *deadline_) break;
    }
    return 0;
  }

 private:
  // Whether this process can exit: its agent has ended, its connections to
  // further hosts are closed, and no output is left to write.
  bool Done() const {
    const bool agent_done =
        agent_ == nullptr ? leaving_ || failed_ : agent_->ended();
    const bool rest_done = fan_out_ == nullptr || fan_out_->closed();
    return agent_done && rest_done && (up_.empty() || up_closed_) &&
           (job_ || leaving_);
  }

  Intake ThisIntake() const {
    return up_.size() > kMaxUp && !up_closed_ ? Intake::kPaused : Intake::kOpen;
  }

  void Wait() {
    std::vector<pollfd> polls;
    if (!down_closed_) {
      polls.push_back({.fd = STDIN_FILENO, .events = POLLIN, .revents = 0});
    }
    polls.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
    if (place_ != nullptr && place_->fd() >= 0) {
      polls.push_back({.fd = place_->fd(), .events = POLLIN, .revents = 0});
    }
    if (!up_.empty() && !up_closed_) {
      polls.push_back({.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0});
    }
    const Intake intake = ThisIntake();
    Instant next = deadline_.value_or(kNoDeadline);
    if (agent_ != nullptr) agent_->AppendPolls(intake, polls);
    if (fan_out_ != nullptr) {
      fan_out_->AppendPolls(intake, polls);
      next = std::min(next, fan_out_->NextDeadline().value_or(kNoDeadline));
    }
    if (!leaving_) next = std::min(next, heard_ + kLongestSilence);
    PollUntil(polls, next);
  }

  void ReadDown() {
    std::array<char, 64 << 10> buffer;
    while (!down_closed_) {
      const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) {
        down_closed_ = true;
        Leave();
        return;
      }
      heard_ = MonotonicNow();
      down_.Append({buffer.data(), static_cast<size_t>(got)});
      while (const std::optional<std::string_view> frame = down_.Next()) {
        std::optional<DownMessage> message = DecodeDown(*frame);
        if (message) std::visit([this](auto& m) { On(m); }, *message);
      }
      if (!down_.error().empty()) Leave();
    }
  }

  void On(BeNode& message) {
    if (job_ || message.hosts.empty()) return;
    job_ = std::move(message);
    deadline_.reset();
    own_ = job_->hosts[0];
    job_->hosts.erase(job_->hosts.begin());
    const std::string& folder = job_->working_directory;
    if (chdir(folder.c_str()) != 0) {
      Fail(absl::StrCat("the working directory ", folder,
                        " cannot be entered there: ", std::strerror(errno)),
           1);
      return;
    }
    Tell({HostUp{own_.index, ReachedAddress(), OutwardAddress()}});
    place_ = std::make_unique<HostPlace>(job_->run, own_.index);
    ServePlace();
    if (job_->hosts.empty()) return;
    fan_out_ = std::make_unique<FanOut>(*job_, MonotonicNow());
    job_->hosts.clear();
  }

  void ServePlace() {
    if (place_ == nullptr) return;
    switch (place_->Serve()) {
      case HostPlace::Event::kNone:
        break;
      case HostPlace::Event::kTaken:
        has_place_ = true;
        if (start_) StartOwn(*std::exchange(start_, std::nullopt));
        break;
      case HostPlace::Event::kClaimed:
        // A newer process of the same run claims this host. The starting
        // `launch` starts such a process only after it has given up the
        // connection to this process. So nothing more is written to this
        // connection.
        up_closed_ = true;
        up_.clear();
        Leave();
        break;
    }
  }

  void StartOwn(const StartAgent& message) {
    if (agent_ != nullptr || leaving_) return;
    absl::StatusOr<AgentProcess> started =
        AgentProcess::Start(*job_, own_, message);
    if (!started.ok()) {
      Fail(absl::StrCat("its agent cannot be started: ",
                        started.status().message()),
           1);
      return;
    }
    agent_ = std::make_unique<AgentProcess>(*std::move(started));
  }

  void On(const StartAgent& message) {
    if (!job_) return;
    if (message.host != own_.index) {
      if (fan_out_ != nullptr) fan_out_->Send(message);
      return;
    }
    if (has_place_) {
      StartOwn(message);
    } else {
      start_ = message;
      Tell({AgentWaits{own_.index}});
    }
  }

  // Passes the agent's messages on to the `launch` that started this process.
  // AgentKilled is the last message of an agent that was killed: agent_ is then
  // deleted, so that StartAgent can start a new agent.
  //
  // After Leave, no agent is started again, so AgentKilled is not passed on.
  void ServeAgent(Intake intake) {
    std::vector<UpMessage> came = agent_->Serve(intake);
    const bool is_killed =
        !came.empty() && std::holds_alternative<AgentKilled>(came.back());
    if (is_killed && leaving_) came.pop_back();
    Tell(came);
    if (is_killed) agent_.reset();
  }

  void On(const SignalAgents& message) {
    const bool is_own = !message.host || *message.host == own_.index;
    if (is_own && agent_ != nullptr) agent_->Signal(message.signal);
    const bool stops = std::ranges::count(kStopSignals, message.signal) > 0;
    if (is_own && start_ && stops) {
      start_.reset();
      Tell({AgentEnded{own_.index, 128 + message.signal, ""}});
    }
    if (message.signal == SIGINT || message.signal == SIGTERM) ++stops_;
    if (fan_out_ != nullptr) fan_out_->Send(message);
  }

  void On(const StillThere&) {}

  void Fail(const std::string& why, int exit_code) {
    failed_ = true;
    Tell({HostFailed{own_.index, why, exit_code}});
  }

  // Makes this host's agent leave its job, because the connection to the
  // `launch` that started this process has ended. The coordinator then decides
  // whether the job continues without this node.
  void Leave() {
    if (leaving_) return;
    leaving_ = true;
    if (fan_out_ != nullptr) fan_out_->HangUp();
    Duration within = kShortWait;
    if (agent_ != nullptr) {
      agent_->Signal(agent::kConnectionLostSignal);
      within = stops_ > 1
                   ? kShortTimeout
                   : std::chrono::milliseconds(job_->stop_timeout_ms) + kSlack;
    }
    deadline_ = MonotonicNow() + within;
  }

  void Tell(const std::vector<UpMessage>& messages) {
    if (up_closed_) return;
    for (const UpMessage& message : messages) up_ += Encode(message);
  }

  void WriteUp() {
    size_t done = 0;
    while (done < up_.size() && !up_closed_) {
      const ssize_t written =
          write(STDOUT_FILENO, up_.data() + done, up_.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EAGAIN) break;
      if (written < 0) {
        up_closed_ = true;
        Leave();
        break;
      }
      done += static_cast<size_t>(written);
    }
    up_.erase(0, done);
    if (up_closed_) up_.clear();
  }

  agent::SignalCatcher signals_;
  FrameReader down_{Greeting::kNone};
  bool down_closed_ = false;
  // bytes to write to stdout, which ssh sends to the starting `launch`
  std::string up_;
  bool up_closed_ = false;
  Instant heard_;
  // time at which this process exits at the latest; nullopt: no time is set
  std::optional<Instant> deadline_;
  // the first message from the starting `launch`, without its list of hosts
  std::optional<BeNode> job_;
  RemoteHost own_;
  // Ensures that at most one process of this run has an agent on this host.
  // This process may start an agent once it has taken `place_`. Null until the
  // first message has arrived.
  std::unique_ptr<HostPlace> place_;
  // whether this process has taken `place_`, so that it may start an agent
  bool has_place_ = false;
  // A StartAgent message that must wait, because an earlier process of this run
  // of `launch` may still have an agent on this host (HostPlace). The message
  // is carried out once the earlier process has exited.
  std::optional<StartAgent> start_;
  // whether the attempt to start this host's agent has failed
  bool failed_ = false;
  bool leaving_ = false;
  // how many signals that stop the job (SIGINT, SIGTERM) have been received
  int stops_ = 0;
  std::unique_ptr<AgentProcess> agent_;
  std::unique_ptr<FanOut> fan_out_;
};

}  // namespace

bool IsSshNode(int argc, char** argv) {
  return argc == 2 && std::strcmp(argv[1], kSshNodeArgument) == 0;
}

int RunSshNode() {
  signal(SIGPIPE, SIG_IGN);
  return SshNode().Run();
}

}  // namespace muster::launcher
