#include "launcher/report/failure_text.h"

#include <csignal>

#include "launcher/report/text_layout.h"
#include "rendezvous/protocol/signal_names.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {
namespace {

std::string Number(int64_t value) { return std::to_string(value); }

// Signals that mean a crash: people and programs do not send them to stop a
// worker.
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

}  // namespace muster::launcher
