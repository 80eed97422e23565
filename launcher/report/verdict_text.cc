#include "launcher/report/verdict_text.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <vector>

#include "base/message_text.h"
#include "launcher/report/status_text.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/time_text.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/protocol/signal_names.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {
namespace {

std::string Number(int64_t value) { return std::to_string(value); }

// Whether the signal means a crash: people and programs do not send such
// signals to stop a worker.
bool IsCrash(int signal) {
  switch (signal) {
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSEGV:
    case SIGSYS:
    case SIGTRAP:
      return true;
    default:
      return false;
  }
}

std::string StoppedText(const rendezvous::Failure& failure) {
  if (IsCrash(failure.signal)) {
    return "crashed with " + rendezvous::SignalName(failure.signal) +
           " while the round was being stopped";
  }
  if (failure.signal > 0) {
    return "stopped by us with " + rendezvous::SignalName(failure.signal);
  }
  return "stopped by us, exit code " + Number(failure.exit_code);
}

}  // namespace

std::string EndText(const rendezvous::Failure& failure) {
  switch (failure.kind) {
    case rendezvous::FailureKind::kExitCode:
      return "exit code " + Number(failure.exit_code);
    case rendezvous::FailureKind::kSignal:
      return "killed by " + rendezvous::SignalName(failure.signal) +
             " (signal " + Number(failure.signal) + ")";
    case rendezvous::FailureKind::kStartFailed:
      return "could not be started";
    case rendezvous::FailureKind::kStoppedByUs:
      return StoppedText(failure);
    case rendezvous::FailureKind::kNodeLost:
      return "node lost";
    case rendezvous::FailureKind::kHung:
      return "hung";
  }
  return "unknown";
}

std::string NodeText(const rendezvous::Failure& failure) {
  std::string host = PrintableLine(failure.host);
  std::string node = PrintableLine(failure.node_id);
  if (host.empty()) return node.empty() ? "an unknown node" : node;
  if (node.empty() || node == host) return host;
  return host + " (node " + node + ")";
}

std::string WorkerText(const rendezvous::Failure& failure) {
  if (failure.rank < 0) return "";
  std::string text = "rank " + Number(failure.rank);
  if (failure.local_rank >= 0) {
    text += " (local rank " + Number(failure.local_rank) + ")";
  }
  if (failure.pid > 0) text += ", pid " + Number(failure.pid);
  return text;
}

std::string MessageText(const rendezvous::Failure& failure) {
  std::string message = failure.message;
  std::string end = EndText(failure);
  if (!message.starts_with(end)) return message;
  message.erase(0, end.size());
  message.erase(0, message.find_first_not_of(": "));
  return message;
}

std::string HintText(const rendezvous::Failure& failure) {
  if (failure.kind == rendezvous::FailureKind::kHung) {
    return "Peers that wait for a hung worker fall silent as well: compare its "
           "stack with theirs, in stack.txt in each worker's log folder. "
           "Silence that is meant: WATCHDOG_S=0, or --hang-timeout.";
  }
  if (failure.kind == rendezvous::FailureKind::kExitCode &&
      failure.exit_code == rendezvous::kPreemptedExitCode) {
    return "A job that ends with 75 was preempted and is started again. This "
           "one was not: it ends with 1.";
  }
  if (failure.kind != rendezvous::FailureKind::kSignal) return "";
  switch (failure.signal) {
    case SIGKILL:
      return "Muster did not send it. Mostly it is the kernel, out of memory: "
             "see dmesg on that host, or the limits of its container.";
    case SIGBUS:
      return "Often shared memory that is full: see df /dev/shm on that host.";
    default:
      return "";
  }
}

namespace {

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return text;
}

std::string Spent(const rendezvous::Verdict& verdict) {
  if (verdict.rounds < 0) return "";
  std::string text = verdict.rounds == 0 ? "no round was formed"
                                         : Counted(verdict.rounds, "round");
  if (verdict.max_restarts > 0) {
    text += ", " + std::to_string(verdict.restarts_used) + " of " +
            Counted(verdict.max_restarts, "restart") + " used";
  }
  return text;
}

// Whether the summary shows the use of time: yes if time was lost, or if the
// job lasted long and its workers report steps.
bool HasTimeToTell(const rendezvous::Verdict& verdict) {
  constexpr double kLongS = 60;
  const auto steps = static_cast<size_t>(rendezvous::Activity::kProductive);
  return verdict.time.losses().incidents > 0 ||
         (verdict.time.spent_s[steps] > 0 &&
          ToSeconds(verdict.lasted) > kLongS);
}

// Returns the lines of a worker's stderr without the traceback that the summary
// shows already. Python prints the same traceback to stderr, with additional
// frames.
std::vector<std::string> WithoutTraceback(
    const std::vector<std::string>& stderr_tail,
    const std::vector<std::string>& traceback) {
  constexpr std::string_view kFirstLine = "Traceback (most recent call last):";
  if (traceback.empty()) return stderr_tail;
  const auto is_line = [](const std::string& text) {
    return [&text](const std::string& line) {
      return PrintableLine(line) == text;
    };
  };
  // Find the last line of the traceback, which is the exception, in the tail of
  // stderr.
  const auto last = std::find_if(stderr_tail.rbegin(), stderr_tail.rend(),
                                 is_line(traceback.back()));
  if (last == stderr_tail.rend()) return stderr_tail;
  const auto end = last.base();
  // The traceback may begin before the tail of stderr, which then lacks the
  // traceback's first line. In this case all lines before the exception are
  // removed.
  const auto first =
      std::find_if(last, stderr_tail.rend(), is_line(std::string(kFirstLine)));
  const auto begin =
      first == stderr_tail.rend() ? stderr_tail.begin() : first.base() - 1;
  std::vector<std::string> rest(stderr_tail.begin(), begin);
  rest.insert(rest.end(), end, stderr_tail.end());
  return rest;
}

void AddCause(const rendezvous::Failure& cause, FramedText* box) {
  box->Heading("ROOT CAUSE", "the first failure of the job", Ink::kRed);
  std::string node = NodeText(cause);
  if (cause.group_rank >= 0) {
    node += ", node rank " + std::to_string(cause.group_rank);
  }
  box->Field("host", {node});
  box->Field("worker", PrintableLines(WorkerText(cause)));
  box->Field("what", {EndText(cause) +
                      (cause.kind == rendezvous::FailureKind::kStoppedByUs
                           ? " after it had raised an exception"
                           : "")});
  box->Field("message", PrintableLines(MessageText(cause)));
  if (cause.unix_time > 0) {
    box->Field("when", {rendezvous::UtcText(cause.unix_time) +
                        ", by that host's clock"});
  }
  std::string hint = HintText(cause);
  if (!hint.empty()) box->Field("hint", {hint});
  if (!cause.error_file.empty()) {
    box->Quote("error file", {PrintableLine(cause.error_file)});
  }
  const std::vector<std::string> traceback = PrintableLines(cause.traceback);
  box->Quote("traceback", traceback);
  std::vector<std::string> stack;
  for (const std::string& line : cause.stack) {
    const std::vector<std::string> printable = PrintableLines("| " + line);
    stack.insert(stack.end(), printable.begin(), printable.end());
  }
  box->Quote("stack", stack);
  std::vector<std::string> tail;
  for (const std::string& line :
       WithoutTraceback(cause.stderr_tail, traceback)) {
    tail.push_back(PrintableLine("| " + line));
  }
  box->Quote("last stderr", tail);
}

// Describes the end of a worker that was stopped because another worker had
// failed first. The text contains the exception that the worker had recorded in
// its error file, if any.
std::string CollateralText(const rendezvous::Failure& failure) {
  std::string text = EndText(failure);
  if (failure.error_file.empty()) return text;
  return text +
         (failure.raised_first ? "; recorded before the first failure: "
                               : "; recorded at the same time or later: ") +
         PrintableLine(MessageText(failure));
}

void AddCollateral(const rendezvous::Verdict& verdict, FramedText* box) {
  int64_t count = verdict.collateral.size() + verdict.collateral_omitted;
  if (count == 0) return;
  box->Blank();
  box->Heading("COLLATERAL",
               std::to_string(count) + " ended in consequence, not the cause",
               Ink::kYellow);
  std::vector<std::vector<std::string>> rows;
  for (const rendezvous::Failure& failure : verdict.collateral) {
    rows.push_back(
        {failure.rank < 0 ? "node" : "rank " + std::to_string(failure.rank),
         failure.local_rank < 0 ? ""
                                : "local " + std::to_string(failure.local_rank),
         Shorten(NodeText(failure), 32),
         failure.pid > 0 ? "pid " + std::to_string(failure.pid) : "",
         CollateralText(failure)});
  }
  for (const std::string& line : AlignRows(rows)) box->Indented(line);
  if (verdict.collateral_omitted > 0) {
    box->Indented("and " + std::to_string(verdict.collateral_omitted) +
                  " more");
  }
}

Ink OutcomeInk(rendezvous::Outcome outcome) {
  switch (outcome) {
    case rendezvous::Outcome::kSucceeded:
      return Ink::kGreen;
    case rendezvous::Outcome::kCancelled:
    case rendezvous::Outcome::kPreempted:
      return Ink::kYellow;
    case rendezvous::Outcome::kFailed:
    case rendezvous::Outcome::kTimedOut:
      break;
  }
  return Ink::kRed;
}

}  // namespace

std::string VerdictText(const rendezvous::Verdict& verdict,
                        const std::string& program, const TextTarget& target) {
  std::string name = PrintableLine(program);
  std::string outcome = Upper(OutcomeText(verdict.outcome));
  Ink ink = OutcomeInk(verdict.outcome);
  std::string lasted = DurationText(verdict.lasted);
  if (verdict.outcome == rendezvous::Outcome::kSucceeded) {
    std::string text = ProgramName(name, target.columns / 2) + " " +
                       Inked(outcome, ink, target.style) + " in " + lasted +
                       " (" + Spent(verdict) + ")\n";
    if (HasTimeToTell(verdict)) text += TimeLine(verdict.time) + "\n";
    return text;
  }

  FramedText box(target);
  box.Rule('=');
  std::string ending = " " + outcome + " after " + lasted;
  std::string exit_code = "exit code " + std::to_string(verdict.exit_code);
  int room = target.columns - Columns(ending) - Columns(exit_code) - 2;
  box.Title(ProgramName(name, room) + ending, ink, exit_code);
  box.Rule('-');
  box.Paragraph(verdict.reason);
  if (verdict.cause) {
    box.Blank();
    AddCause(*verdict.cause, &box);
  }
  AddCollateral(verdict, &box);
  if (const std::string spent = Spent(verdict); !spent.empty()) {
    box.Blank();
    box.Paragraph(spent);
    if (HasTimeToTell(verdict)) box.Paragraph(TimeLine(verdict.time));
  }
  box.Rule('=');
  return box.Take();
}

}  // namespace muster::launcher
