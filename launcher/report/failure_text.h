#ifndef MUSTER_LAUNCHER_REPORT_FAILURE_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_FAILURE_TEXT_H_

#include <string>

#include "rendezvous/protocol/failure.h"

namespace muster::launcher {

// Texts for people about a worker's or a node's failure. All functions are
// pure.

// The kind of the failure: "exit code 3", "killed by SIGSEGV (signal 11)",
// "could not be started", "stopped by us with SIGTERM", "crashed with SIGSEGV
// while the round was being stopped", "node lost", "hung".
std::string EndText(const rendezvous::Failure& failure);

// The failed worker: "rank 3 (local rank 1), pid 4242". Empty if the failure is
// a node's.
std::string WorkerText(const rendezvous::Failure& failure);

// The failure's message without the text of EndText, with which many messages
// begin.
std::string MessageText(const rendezvous::Failure& failure);

// The host's name, followed by the node's id if the two are different.
std::string NodeText(const rendezvous::Failure& failure);

// A hint at the usual cause of a failure that explains little itself, such as
// SIGKILL. Empty for most failures.
std::string HintText(const rendezvous::Failure& failure);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_FAILURE_TEXT_H_
