#include "launcher/ssh/agent_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/agent_policy.h"
#include "base/environment_value.h"
#include "base/subprocess.h"
#include "launcher/options/machine.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Removes an environment variable and returns its value; -1: not set, or not a
// number from `least` to `most`.
int TakeNumber(const char* variable, int least, int most) {
  const char* text = getenv(variable);
  if (text == nullptr) return -1;
  const absl::StatusOr<int64_t> number = ReadNumber(text, least, most);
  unsetenv(variable);
  return number.ok() ? static_cast<int>(*number) : -1;
}

int TakeOne(const char* variable) {
  const int fd = TakeNumber(variable, 3, 1 << 20);
  if (fd < 0) return -1;
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

}  // namespace

void TakeStarterPipes(RemoteOptions& options) {
  options.endpoint_fd = TakeOne(kEndpointVariable);
  options.verdict_fd = TakeOne(kVerdictVariable);
  const int job_messages = TakeNumber(
      kJobMessagesVariable, 0, static_cast<int>(agent::JobMessages::kAssigned));
  if (job_messages >= 0) {
    options.job_messages = static_cast<agent::JobMessages>(job_messages);
  }
  if (TakeNumber(kTokenMadeVariable, 1, 1) == 1) {
    options.token_maker = TokenMaker::kStarter;
  }
}

std::string TakeCalledName(const std::string& name) {
  constexpr size_t kLongest = 64;
  const char* const text = getenv(kCalledVariable);
  if (text == nullptr) return name;
  const std::string called = text;
  unsetenv(kCalledVariable);
  return called.empty() || called.size() > kLongest ? name : called;
}

void ReportCoordinator(const RemoteOptions& options,
                       const rendezvous::Endpoint& endpoint) {
  if (options.endpoint_fd < 0) return;
  const std::string line = endpoint.ToString() + "\n";
  // Ignore a failed write: it means that the `launch` that reads the pipe has
  // exited. The kernel then kills this agent (parent-death signal).
  [[maybe_unused]] const ssize_t written =
      write(options.endpoint_fd, line.data(), line.size());
}

namespace {

// Whether the agent was killed by a signal that does not stop a job (such as
// SIGKILL), or has exited because its guardian was killed. The job may then
// continue, and the agent may be started again.
bool WasKilled(int exit_code, std::optional<int> signal) {
  if (!signal) return exit_code == agent::kWorkersLostExitCode;
  return *signal != SIGINT && *signal != SIGTERM && *signal != SIGHUP &&
         *signal != SIGQUIT;
}

constexpr size_t kMaxCoordinatorLine = 512;
constexpr size_t kMaxLine = 128 << 10;
constexpr size_t kMaxVerdict = 1 << 20;
constexpr size_t kMaxPerTurn = 1 << 20;
constexpr int kFirstExtra = 3;

// Reads the bytes that are available now, at most `most` bytes plus 64 KiB.
// Closes `fd` at the end of the stream.
std::string ReadSome(OwnedFd& fd, size_t most) {
  std::string text;
  std::array<char, 64 << 10> buffer;
  while (fd.open() && text.size() < most) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      fd.Close();
      break;
    }
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

absl::StatusOr<AgentProcess> AgentProcess::Start(const BeNode& job,
                                                 const RemoteHost& host,
                                                 const StartAgent& start) {
  PipedProcessPlan plan;
  const std::string program = OwnProgram();
  plan.argv = {program.empty() ? "/proc/self/exe" : program};
  for (const std::vector<std::string>* part :
       {&job.flags, &host.flags, &start.flags}) {
    plan.argv.insert(plan.argv.end(), part->begin(), part->end());
  }
  plan.argv.emplace_back("--");
  plan.argv.insert(plan.argv.end(), job.program.begin(), job.program.end());
  std::map<std::string, std::string> environment = ReadEnvironment();
  for (const auto* more : {&job.environment, &host.environment}) {
    for (const auto& [name, value] : *more) environment[name] = value;
  }
  environment["PWD"] = job.working_directory;
  environment[kEndpointVariable] = absl::StrCat(kFirstExtra);
  environment[kVerdictVariable] = absl::StrCat(kFirstExtra + 1);
  environment[kJobMessagesVariable] =
      absl::StrCat(static_cast<int>(start.job_messages));
  for (const auto& [name, value] : environment) {
    plan.environment.push_back(absl::StrCat(name, "=", value));
  }
  plan.working_directory = job.working_directory;
  plan.standard_input = PipedProcessPlan::Stdin::kNothing;
  plan.extra_pipes = 2;
  plan.death_signal = SIGKILL;
  absl::StatusOr<PipedProcess> started = PipedProcess::Start(plan);
  if (!started.ok()) return started.status();
  return AgentProcess(host.index, *std::move(started));
}

void AgentProcess::AppendPolls(Intake intake,
                               std::vector<pollfd>& polls) const {
  if (ended_) return;
  const auto add = [&](int fd) {
    if (fd >= 0) polls.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  };
  for (const OwnedFd& fd : process_.extra) add(fd.get());
  if (intake == Intake::kPaused) return;
  add(process_.standard_output.get());
  add(process_.standard_error.get());
  add(process_.end_fd());
}

std::vector<UpMessage> AgentProcess::Serve(Intake intake) {
  std::vector<UpMessage> came;
  if (ended_) return came;
  ReadCoordinator(came);
  ReadVerdict();
  if (intake == Intake::kPaused) return came;
  // Read the exit code before the pipes: if the agent has exited at this point,
  // the pipes already contain all of its output, so no output is missed.
  const std::optional<int> code = process_.ExitCode();
  Read(process_.standard_output, output_, came);
  Read(process_.standard_error, error_, came);
  if (!code) return came;
  ReadVerdict();
  for (Stream* stream : {&output_, &error_}) {
    if (stream->waiting.empty()) continue;
    came.push_back(OutputCame{host_, stream->name, stream->waiting + "\n"});
  }
  ended_ = true;
  if (verdict_.empty() && WasKilled(*code, process_.EndSignal())) {
    came.push_back(AgentKilled{host_, *code});
  } else {
    came.push_back(AgentEnded{host_, *code, std::move(verdict_)});
  }
  return came;
}

void AgentProcess::Read(OwnedFd& fd, Stream& stream,
                        std::vector<UpMessage>& came) {
  stream.waiting += ReadSome(fd, kMaxPerTurn);
  const size_t end = stream.waiting.rfind('\n');
  if (end != std::string::npos) {
    came.push_back(
        OutputCame{host_, stream.name, stream.waiting.substr(0, end + 1)});
    stream.waiting.erase(0, end + 1);
  }
  if (stream.waiting.size() <= kMaxLine) return;
  came.push_back(OutputCame{host_, stream.name, stream.waiting + "\n"});
  stream.waiting.clear();
}

void AgentProcess::ReadCoordinator(std::vector<UpMessage>& came) {
  const std::string more = ReadSome(process_.extra[0], kMaxCoordinatorLine);
  if (coordinator_told_) return;
  coordinator_ += more.substr(0, kMaxCoordinatorLine - coordinator_.size());
  const size_t end = coordinator_.find('\n');
  if (end == std::string::npos) return;
  coordinator_told_ = true;
  const absl::StatusOr<rendezvous::Endpoint> endpoint =
      rendezvous::ParseEndpoint(coordinator_.substr(0, end));
  if (!endpoint.ok()) return;
  came.push_back(CoordinatorUp{.host = host_,
                               .address = endpoint->host,
                               .port = static_cast<uint32_t>(endpoint->port)});
}

void AgentProcess::ReadVerdict() {
  const std::string more = ReadSome(process_.extra[1], kMaxVerdict);
  verdict_ += more.substr(0, kMaxVerdict - verdict_.size());
}

}  // namespace muster::launcher
