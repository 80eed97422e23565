#include "launcher/slurm/slurm_command.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/exec_pointers.h"
#include "base/file_size_signal.h"
#include "base/ignored_signals.h"
#include "base/monotonic_clock.h"
#include "base/own_program.h"
#include "launcher/options/flag_table.h"
#include "launcher/slurm/job_result.h"
#include "launcher/slurm/slurm_step.h"
#include "launcher/slurm/srun_command.h"
#include "launcher/ssh/starter_pipes.h"
#include "launcher/voice.h"

namespace muster::launcher {
namespace {

constexpr Duration kBeforeAgain = std::chrono::seconds(2);

// What a person, a batch script or Slurm may send to this process.
sigset_t Caught(const RunOptions& options) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaddset(&signals, number);
  }
  for (const auto* list :
       {&options.signals_to_handle, &options.policy.signals_to_forward,
        &options.policy.signals_to_leave, &options.preemption.signals}) {
    for (const int number : *list) sigaddset(&signals, number);
  }
  // Slurm's usual notice; without a handler it would end this process.
  sigaddset(&signals, SIGUSR1);
  for (int number = 1; number < NSIG; ++number) {
    if (IsIgnored(number)) sigdelset(&signals, number);
  }
  return signals;
}

// In a process group of its own, so that Ctrl-C at the terminal does not reach
// it: srun would kill the tasks.
pid_t Start(const std::string& name, const SrunCommand& command,
            const sigset_t& before) {
  const std::vector<char*> argv = ExecPointers(command.argv);
  const std::vector<char*> environment = ExecPointers(command.environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  setpgid(0, 0);
  // Whatever ends this process, srun ends its tasks.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  RestoreFileSizeSignal();
  execvpe("srun", argv.data(), environment.data());
  const int error = errno;
  const std::string line =
      absl::StrCat(name, ": srun: ", std::strerror(error),
                   "; is Slurm's client installed here?\n");
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
  _exit(error == ENOENT ? 127 : 126);
}

// The next signal, or SIGCHLD where none comes until then.
int NextSignal(const sigset_t& caught, std::optional<Instant> until) {
  siginfo_t info;
  if (!until.has_value()) return sigwaitinfo(&caught, &info);
  const auto left = std::max(*until - MonotonicNow(), Duration::zero());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const timespec timeout = {
      .tv_sec = seconds.count(),
      .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
  const int number = sigtimedwait(&caught, &info, &timeout);
  return number > 0 ? number : SIGCHLD;
}

// Passes signals on until srun has ended. Its status.
//
// A signal that does not reach the step is sent once more after a moment:
// where Slurm itself ends the job or the step, srun has ended by then, and
// nothing has failed.
int Attend(pid_t srun, const sigset_t& caught, const std::string& job_id,
           const std::string& step_name, const Voice& voice) {
  int pending = 0;  // the signal to be sent once more
  std::optional<Instant> again_at;
  for (;;) {
    int status = 0;
    if (waitpid(srun, &status, WNOHANG) == srun) return status;
    int number = NextSignal(caught, again_at);
    const bool is_again = again_at.has_value() && MonotonicNow() >= *again_at;
    if (is_again && (number <= 0 || number == SIGCHLD)) {
      if (waitpid(srun, &status, WNOHANG) == srun) return status;
      number = pending;
    }
    if (number <= 0 || number == SIGCHLD) continue;
    const bool is_second = again_at.has_value();
    again_at.reset();
    const std::string reason = SignalStep(job_id, step_name, number);
    if (reason.empty()) continue;
    if (!is_second) {
      pending = number;
      again_at = MonotonicNow() + kBeforeAgain;
      continue;
    }
    voice.Error(
        absl::StrCat("signal ", number, " did not reach the nodes: ", reason));
    // Better a job without grace than one that cannot be stopped.
    if (number != SIGUSR1) kill(srun, SIGTERM);
  }
}

}  // namespace

int SlurmCommand(const std::string& name, const std::vector<std::string>& args,
                 const RunOptions& options,
                 const std::map<std::string, std::string>& environment) {
  const Voice voice(name.c_str(), options.verbosity == Verbosity::kQuiet
                                      ? Talk::kErrorsOnly
                                      : Talk::kAll);
  const std::string step_name = absl::StrCat("launch-", getpid());
  const std::string program = OwnProgram();
  absl::StatusOr<SrunCommand> command =
      PlanSrun(FlagsOf(FlagUser::kLaunchOnly), args, options, environment,
               program.empty() ? "launch" : program, step_name);
  if (!command.ok()) return voice.Refuse(command.status());
  for (const std::string& remark : options.remarks) voice.Notice(remark);
  const JobResult result;
  command->environment.push_back(result.Variable());
  command->environment.push_back(absl::StrCat(kCalledVariable, "=", name));
  const sigset_t caught = Caught(options);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &caught, &before);
  const pid_t srun = Start(name, *command, before);
  if (srun < 0) {
    return voice.Refuse(
        absl::UnavailableError(absl::StrCat("srun: ", std::strerror(errno))));
  }
  const int status =
      Attend(srun, caught, environment.at("SLURM_JOB_ID"), step_name, voice);
  if (const auto told = result.Read()) return *told;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace muster::launcher
