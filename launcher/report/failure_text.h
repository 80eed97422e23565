#ifndef MUSTER_LAUNCHER_REPORT_FAILURE_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_FAILURE_TEXT_H_

#include <string>

#include "rendezvous/protocol/failure.h"

namespace muster::launcher {

// How people name the parts of a failure. Everything here is pure.

// What happened: "exit code 3", "killed by SIGSEGV (signal 11)", "could not be
// started", "stopped by us with SIGTERM", "crashed with SIGSEGV while the round
// was being stopped", "node lost", "hung".
std::string EndText(const rendezvous::Failure& failure);

// Who it was: "rank 3 (local rank 1), pid 4242"; empty where it was a node.
std::string WorkerText(const rendezvous::Failure& failure);

// What was said of it beyond EndText, with which messages often begin.
std::string MessageText(const rendezvous::Failure& failure);

// The host, and the node's id where that is not the same.
std::string NodeText(const rendezvous::Failure& failure);

// What usually lies behind an end that says little by itself; often empty.
std::string HintText(const rendezvous::Failure& failure);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_FAILURE_TEXT_H_
