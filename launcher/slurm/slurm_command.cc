#include "launcher/slurm/slurm_command.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ignored_signals.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "launcher/options/flag_table.h"
#include "launcher/slurm/job_result.h"
#include "launcher/slurm/slurm_steps.h"
#include "launcher/slurm/srun_command.h"
#include "launcher/ssh/agent_process.h"
#include "launcher/voice.h"

namespace muster::launcher {
namespace {

// The signals for which `launch --slurm` waits: those that it forwards to the
// tasks, and SIGCHLD.
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
  // Catch SIGUSR1 even if no option names it: Slurm usually sends it some time
  // before it ends a job (sbatch --signal), and its default action would end
  // `launch --slurm`.
  sigaddset(&signals, SIGUSR1);
  for (int number = 1; number < NSIG; ++number) {
    if (IsIgnored(number)) sigdelset(&signals, number);
  }
  return signals;
}

absl::StatusOr<pid_t> Start(SrunCommand command, const sigset_t& blocked) {
  SubprocessPlan plan;
  plan.argv = std::move(command.argv);
  plan.environment = std::move(command.environment);
  // Ctrl-C at the terminal must not reach srun, which would kill the tasks.
  plan.group = SubprocessPlan::Group::kOwnGroup;
  plan.blocked_signals = blocked;
  plan.ignored_signals = IgnoredSignals();
  if (FileSizeSignalWasIgnored()) {
    plan.ignored_signals |= uint64_t{1} << (SIGXFSZ - 1);
  }
  // srun gets SIGTERM when `launch --slurm` dies, and then ends its tasks.
  plan.death_signal = SIGTERM;
  absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  if (pid.ok()) return pid;
  return absl::Status(pid.status().code(),
                      absl::StrCat(pid.status().message(),
                                   "; is Slurm's client installed here?"));
}

// Waits for a signal in `caught` and returns its number. Returns SIGCHLD if
// none has arrived by `until` (nullopt: no time limit).
int NextSignal(const sigset_t& caught, std::optional<Instant> until) {
  siginfo_t info;
  if (!until.has_value()) return sigwaitinfo(&caught, &info);
  const timespec timeout =
      ToTimespec(std::max(*until - MonotonicNow(), Duration::zero()));
  const int number = sigtimedwait(&caught, &info, &timeout);
  return number > 0 ? number : SIGCHLD;
}

// Forwards signals to the Slurm step `step_name` until srun has exited. Returns
// srun's wait status. A signal that could not be sent is sent once more after a
// pause. If the retry fails as well, reports an error and, unless the signal is
// SIGUSR1, ends srun. If srun has exited before the retry fails, reports no
// error, because Slurm itself was ending the step.
int Attend(pid_t srun, const sigset_t& caught, const std::string& job_id,
           const std::string& step_name, const Voice& voice) {
  SignalRetries retries;
  for (;;) {
    int status = 0;
    if (waitpid(srun, &status, WNOHANG) == srun) return status;
    const std::optional<SignalRetries::Retry> retry = retries.Next();
    std::optional<Instant> until;
    if (retry.has_value()) until = retry->at;
    // A signal whose retry is due is sent before signals that arrive newly.
    const bool is_due = until.has_value() && MonotonicNow() >= *until;
    const int number = is_due ? retry->signal : NextSignal(caught, until);
    if (number <= 0 || number == SIGCHLD) continue;
    const Instant began = MonotonicNow();
    const std::string reason = SignalStep(job_id, step_name, number);
    if (reason.empty()) {
      retries.Sent(number);
      continue;
    }
    if (retries.Failed(number, began, MonotonicNow()) ==
        SignalRetries::Failure::kFirst) {
      continue;
    }
    if (waitpid(srun, &status, WNOHANG) == srun) return status;
    voice.Error(
        absl::StrCat("signal ", number, " did not reach the nodes: ", reason));
    // The signal cannot reach the tasks. So stop the job by ending srun, which
    // kills the tasks without a grace period. SIGUSR1 only announces that the
    // job will end, so it does not end srun.
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
  const absl::StatusOr<pid_t> srun = Start(*std::move(command), before);
  if (!srun.ok()) return voice.Refuse(srun.status());
  const int status =
      Attend(*srun, caught, environment.at("SLURM_JOB_ID"), step_name, voice);
  if (const auto told = result.Read()) return *told;
  return ExitCodeOf(status);
}

}  // namespace muster::launcher
