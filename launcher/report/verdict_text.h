#ifndef MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_

#include <string>

#include "launcher/report/text_layout.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {

// Texts for people about a worker's or a node's failure. All functions are
// pure.

// The kind of the failure: "exit code 3", "killed by SIGSEGV (signal 11)",
// "could not be started", "stopped by us with SIGTERM", "crashed with SIGSEGV
// while the round was being stopped", "node lost", "hung".
std::string EndText(const rendezvous::Failure& failure);

// The failed worker: "rank 3 (local rank 1), pid 4242". Empty if a node failed.
std::string WorkerText(const rendezvous::Failure& failure);

// The failure's message. If it begins with the text of EndText, that text is
// removed.
std::string MessageText(const rendezvous::Failure& failure);

// The host's name, followed by the node's id if the two are different.
std::string NodeText(const rendezvous::Failure& failure);

// A hint at the usual cause of a failure that explains little by itself, such
// as SIGKILL. Empty for most failures.
std::string HintText(const rendezvous::Failure& failure);

// The text that every `launch` prints at the end of its job. After success,
// this is one line. After a failure, it is a framed summary: the root cause,
// the workers that were stopped in consequence, and the rounds and restarts
// used. Ends with a newline. Pure.
//
// `program` names the job for people: a script, a module or a command. A
// negative `verdict.rounds` means that no coordinator gave the verdict; then
// the text has no number of rounds.
std::string VerdictText(const rendezvous::Verdict& verdict,
                        const std::string& program, const TextTarget& target);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_
