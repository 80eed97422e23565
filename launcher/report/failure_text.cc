#include "launcher/report/failure_text.h"

#include <csignal>
#include <cstring>

#include "launcher/report/text_layout.h"

namespace muster {
namespace {

std::string Number(int64_t value) { return std::to_string(value); }

std::string StoppedText(const Failure& failure) {
  if (failure.signal > 0) {
    return "stopped by us with " + SignalText(failure.signal);
  }
  return "stopped by us, exit code " + Number(failure.exit_code);
}

}  // namespace

std::string SignalText(int signal) {
  if (const char* name = sigabbrev_np(signal)) return std::string("SIG") + name;
  if (signal >= SIGRTMIN && signal <= SIGRTMAX) {
    int offset = signal - SIGRTMIN;
    return offset == 0 ? "SIGRTMIN" : "SIGRTMIN+" + Number(offset);
  }
  return "signal " + Number(signal);
}

std::string EndText(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kExitCode:
      return "exit code " + Number(failure.exit_code);
    case FailureKind::kSignal:
      return "killed by " + SignalText(failure.signal) + " (signal " +
             Number(failure.signal) + ")";
    case FailureKind::kStartFailed:
      return "could not be started";
    case FailureKind::kStoppedByUs:
      return StoppedText(failure);
    case FailureKind::kNodeLost:
      return "node lost";
  }
  return "unknown";
}

std::string NodeText(const Failure& failure) {
  std::string host = PrintableLine(failure.host);
  std::string node = PrintableLine(failure.node_id);
  if (host.empty()) return node.empty() ? "an unknown node" : node;
  if (node.empty() || node == host) return host;
  return host + " (node " + node + ")";
}

std::string WhoText(const Failure& failure) {
  std::string who;
  if (failure.rank >= 0) {
    who = "rank " + Number(failure.rank);
    if (failure.local_rank >= 0) {
      who += " (local rank " + Number(failure.local_rank) + ")";
    }
    who += " on ";
  }
  who += NodeText(failure);
  if (failure.group_rank >= 0) {
    who += ", node rank " + Number(failure.group_rank);
  }
  if (failure.pid > 0) who += ", pid " + Number(failure.pid);
  return who;
}

std::string HintText(const Failure& failure) {
  if (failure.kind != FailureKind::kSignal) return "";
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

}  // namespace muster
