#include "launcher/ssh/ssh_front.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/logs/console.h"
#include "agent/signal_catcher.h"
#include "base/bounded_file.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "base/subprocess.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/verdict_text.h"
#include "launcher/ssh/agent_process.h"
#include "launcher/ssh/fan_out.h"
#include "launcher/ssh/host_console.h"
#include "launcher/ssh/remote_environment.h"
#include "launcher/ssh/remote_job.h"
#include "launcher/ssh/remote_plan.h"
#include "launcher/voice.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/token/token.h"
#include "rendezvous/version.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxEnvironmentBytes = 1 << 20;
// Number of characters in the random name of a run of `launch`: 64 bits as
// hexadecimal digits.
constexpr size_t kRunLength = 16;

absl::StatusOr<std::vector<Host>> ReadHosts(const RemoteOptions& remote) {
  const std::string flag = absl::StrCat("--hostfile=", remote.host_file, ": ");
  const absl::StatusOr<std::string> text =
      ReadBoundedFile(remote.host_file, kMaxHostFileBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, text.status().message()));
  }
  absl::StatusOr<std::vector<Host>> hosts = ParseHostFile(*text);
  if (!hosts.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, hosts.status().message()));
  }
  return FilterHosts(*std::move(hosts), remote.include, remote.exclude);
}

// Reads the environment files: .deepspeed_env, or the file that DS_ENV_FILE
// names. DS_ENV_FILE is often set globally, so a missing file of that name is
// skipped with a notice, as in DeepSpeed.
absl::StatusOr<std::vector<Environment>> ReadEnvironmentFiles(
    const Environment& here, const std::string& working_directory,
    const Voice& voice) {
  const auto named = NonEmptyEnvironmentValue(here, "DS_ENV_FILE");
  const std::string name = named.value_or(".deepspeed_env");
  std::vector<std::string> paths;
  if (name[0] == '/') {
    paths = {name};
  } else {
    const std::string home = EnvironmentValue(here, "HOME").value_or("");
    if (!home.empty()) paths.push_back(absl::StrCat(home, "/", name));
    if (home != working_directory) {
      paths.push_back(absl::StrCat(working_directory, "/", name));
    }
  }
  std::vector<Environment> files;
  for (const std::string& path : paths) {
    // Refuses a file that another user may have written, because its variables
    // decide which code the workers load (LD_PRELOAD). A file is not refused if
    // the user has given its absolute path.
    const absl::StatusOr<std::string> text =
        path == name ? ReadBoundedFile(path, kMaxEnvironmentBytes)
                     : ReadTrustedFile(path, kMaxEnvironmentBytes);
    if (absl::IsNotFound(text.status())) continue;
    if (absl::IsPermissionDenied(text.status())) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": ", text.status().message(),
          ", so that others may choose the workers' environment; remove it, "
          "make it yours alone (chown, chmod go-w), or name it: DS_ENV_FILE=",
          path));
    }
    absl::StatusOr<Environment> read =
        text.ok() ? ParseEnvironmentFile(*text) : text.status();
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", read.status().message()));
    }
    files.push_back(*std::move(read));
  }
  if (named && files.empty()) {
    voice.Notice(absl::StrCat(
        "DS_ENV_FILE=", name, ": there is no such file",
        name[0] == '/' ? "" : " in the home folder or the working directory",
        "; no variables are taken from it"));
  }
  return files;
}

// Returns PWD if it names the working directory; otherwise the real path. PWD
// contains the symbolic links that the user followed. Other hosts usually have
// the same links.
absl::StatusOr<std::string> WorkingDirectory(const Environment& here) {
  struct stat said;
  struct stat real;
  const auto pwd = NonEmptyEnvironmentValue(here, "PWD");
  if (pwd && pwd->front() == '/' && stat(pwd->c_str(), &said) == 0 &&
      stat(".", &real) == 0 && said.st_dev == real.st_dev &&
      said.st_ino == real.st_ino) {
    return *pwd;
  }
  std::array<char, PATH_MAX> path;
  if (getcwd(path.data(), path.size()) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the working directory has no path: ", std::strerror(errno)));
  }
  return std::string(path.data());
}

}  // namespace

absl::StatusOr<RemotePlan> ReadFront(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice) {
  absl::StatusOr<std::vector<Host>> hosts = ReadHosts(options.remote);
  if (!hosts.ok()) return hosts.status();
  absl::StatusOr<std::string> folder = WorkingDirectory(environment);
  if (!folder.ok()) return folder.status();
  const absl::StatusOr<std::vector<Environment>> files =
      ReadEnvironmentFiles(environment, *folder, voice);
  if (!files.ok()) return files.status();
  absl::StatusOr<Environment> travelling =
      ChooseEnvironment(environment, *files, options.remote.exports);
  if (!travelling.ok()) return travelling.status();
  absl::StatusOr<std::string> token = rendezvous::ReadCallerToken(
      options.token_file,
      [&](const std::string& sentence) { voice.Error(sentence); });
  if (!token.ok()) {
    return absl::InvalidArgumentError(token.status().message());
  }
  const std::string program = OwnProgram();
  return PlanRemote(options, *std::move(hosts),
                    {.launch = program.empty() ? "launch" : program,
                     .version = rendezvous::kVersion,
                     .working_directory = *std::move(folder),
                     .environment = *std::move(travelling),
                     .token = *std::move(token),
                     .fresh_token = rendezvous::FreshToken(),
                     .run = rendezvous::FreshToken().substr(0, kRunLength)});
}

namespace {

std::vector<int> CaughtSignals(const RunOptions& options) {
  std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (const std::vector<int>* more :
       {&options.signals_to_handle, &options.policy.signals_to_forward,
        &options.preemption.signals}) {
    signals.insert(signals.end(), more->begin(), more->end());
  }
  return signals;
}

// The driver of RemoteJob: one loop that waits for connections, signals and
// deadlines.
class SshFront {
 public:
  // `options` must outlive this object.
  SshFront(const RemotePlan& plan, const RunOptions& options,
           const std::string& name)
      : prefix_(name + ": "),
        options_(options),
        signals_(CaughtSignals(options)),
        job_(plan),
        program_(plan.node.program.empty() ? "" : plan.node.program[0]),
        hosts_(plan.node.hosts),
        console_(options.logs.console, prefix_),
        fan_out_(plan.node, MonotonicNow()) {}

  RemoteEnd Run() {
    while (!exit_code_) {
      Wait();
      for (const int signal : signals_.TakeAll()) {
        if (Ends(signal)) console_.ExpectEnd();
        Do(job_.SignalCaught(MonotonicNow(), signal));
      }
      LookAtConsole();
      const std::vector<UpMessage> came =
          fan_out_.Serve(MonotonicNow(), ThisIntake());
      for (const UpMessage& message : came) Take(message);
      if (!paused_since_) Do(job_.TimePassed(MonotonicNow()));
      if (fan_out_.closed()) Do(job_.AllClosed(MonotonicNow()));
    }
    const bool written = console_.Finish([this, count = 0]() mutable {
      const std::vector<int> signals = signals_.TakeAll();
      count += static_cast<int>(
          std::count_if(signals.begin(), signals.end(),
                        [this](int signal) { return Ends(signal); }));
      return count;
    });
    if (!written && *exit_code_ == 0) exit_code_ = agent::kOutputLostExitCode;
    return {*exit_code_, std::move(failed_)};
  }

 private:
  bool Ends(int signal) const {
    return agent::EndsJob(signal, options_.signals_to_handle,
                          options_.policy.signals_to_forward,
                          options_.preemption.signals);
  }

  Intake ThisIntake() const {
    return paused_since_ ? Intake::kPaused : Intake::kOpen;
  }

  // Pauses reading while the console is full, and resumes it afterwards. The
  // time of the pause is added to the job's deadlines, because unread messages
  // may report the job's end.
  void LookAtConsole() {
    const Instant now = MonotonicNow();
    const bool room = console_.HasRoom(now);
    if (!room && !paused_since_) paused_since_ = now;
    if (!room || !paused_since_) return;
    job_.PutOff(now - *paused_since_);
    paused_since_.reset();
  }

  void Wait() {
    std::vector<pollfd> polls = {
        {.fd = signals_.fd(), .events = POLLIN, .revents = 0}};
    if (paused_since_) {
      polls.push_back(
          {.fd = console_.room_fd(), .events = POLLIN, .revents = 0});
    }
    fan_out_.AppendPolls(ThisIntake(), polls);
    const std::optional<Instant> due =
        paused_since_ ? console_.NextDeadline() : job_.NextDeadline();
    PollUntil(polls, std::min(fan_out_.NextDeadline().value_or(kNoDeadline),
                              due.value_or(kNoDeadline)));
  }

  void Take(const UpMessage& message) {
    if (const auto* output = std::get_if<OutputCame>(&message)) {
      if (output->stream == OutputStream::kStderr) KeepLastWords(*output);
      console_.Show(*output, hosts_[output->host].name);
      Do(job_.Step(MonotonicNow(), message));
      return;
    }
    std::visit([this](const auto& m) { Keep(m); }, message);
    Do(job_.Step(MonotonicNow(), message));
  }

  void Keep(const HostFailed& m) { Blame(m.host, m.why); }
  void Keep(const HostLost& m) { Blame(m.host, m.why); }
  void Keep(const AgentKilled& m) { Keep(AgentEnded{m.host, m.exit_code, ""}); }
  void Keep(const AgentEnded& m) {
    if (m.exit_code == 0) return;
    const auto words = last_words_.find(m.host);
    Blame(m.host,
          absl::StrCat("its agent ended with status ", m.exit_code,
                       words == last_words_.end() ? "" : ": ",
                       words == last_words_.end() ? "" : words->second));
  }
  template <typename Message>
  void Keep(const Message&) {}

  void KeepLastWords(const OutputCame& output) {
    std::string_view words = output.lines;
    words = words.substr(0, words.find_last_not_of('\n') + 1);
    // Keeps only the last line of `words`. Without a newline, rfind returns
    // npos, and npos + 1 is 0.
    words = words.substr(words.rfind('\n') + 1);
    if (words.substr(0, prefix_.size()) == prefix_) {
      words.remove_prefix(prefix_.size());
    }
    if (!words.empty()) last_words_[output.host] = std::string(words);
  }

  // Stores the reason why a host failed; the first reason is kept.
  void Blame(uint32_t host, const std::string& why) {
    if (host < hosts_.size()) failed_.emplace(hosts_[host].name, why);
  }

  void Do(const std::vector<FrontEffect>& effects) {
    for (const FrontEffect& effect : effects) {
      std::visit([this](const auto& e) { Do(e); }, effect);
    }
  }

  void Do(const SendDown& effect) { fan_out_.Send(effect.message); }

  void Do(const Say& effect) {
    if (effect.kind == Say::Kind::kNotice &&
        options_.verbosity == Verbosity::kQuiet) {
      return;
    }
    console_.Tell(absl::StrCat(prefix_, effect.line, "\n"));
  }

  void Do(const Connect& effect) {
    fan_out_.Connect({hosts_[effect.host]}, MonotonicNow());
  }

  void Do(const HangUp&) { fan_out_.HangUp(); }

  void Do(const Finish& effect) {
    const bool is_quiet = options_.verbosity == Verbosity::kQuiet;
    if (!effect.verdict.empty()) {
      if (!is_quiet || effect.exit_code != 0) console_.Tell(effect.verdict);
    } else if (effect.own_verdict) {
      console_.Tell(
          VerdictText(*effect.own_verdict, program_, TargetOf(STDERR_FILENO)));
    }
    exit_code_ = effect.exit_code;
  }

  // Prefix of the messages that this process and the agents print.
  const std::string prefix_;
  const RunOptions& options_;
  // Blocks signals, so it is constructed before threads and processes start.
  agent::SignalCatcher signals_;
  RemoteJob job_;
  const std::string program_;
  const std::vector<RemoteHost> hosts_;
  HostConsole console_;
  // time since which the console has been full; nullopt: it is not full
  std::optional<Instant> paused_since_;
  FanOut fan_out_;
  std::optional<int> exit_code_;
  std::map<std::string, std::string> failed_;
  // Key: the number of a host. Value: the last line of the host's stderr that
  // is not empty.
  std::map<uint32_t, std::string> last_words_;
};

}  // namespace

RemoteEnd RunRemotePlan(RemotePlan plan, const RunOptions& options,
                        const std::string& name) {
  signal(SIGPIPE, SIG_IGN);
  plan.node.environment[kCalledVariable] = name;
  return SshFront(plan, options, name).Run();
}

int RunSshFront(const std::string& name, const RunOptions& options,
                const std::map<std::string, std::string>& environment) {
  const Voice voice(name.c_str(), options.verbosity == Verbosity::kQuiet
                                      ? Talk::kErrorsOnly
                                      : Talk::kAll);
  const absl::StatusOr<RemotePlan> plan =
      ReadFront(options, environment, voice);
  if (!plan.ok()) return voice.Refuse(plan.status());
  for (const std::string& remark : options.remarks) voice.Notice(remark);
  return RunRemotePlan(*plan, options, name).exit_code;
}

}  // namespace muster::launcher
