#ifndef MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_

#include <string>

#include "launcher/report/text_style.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {

// The text that every `launch` prints at the end of its job: one line after
// success; after a failure a framed summary of the root cause, the workers that
// were stopped in consequence, and the rounds and restarts used. Ends with a
// newline. Pure.
//
// `program` names the job for people: a script, a module or a command. A
// negative `verdict.rounds` means that the number is unknown, as no coordinator
// gave the verdict; it is not shown.
std::string VerdictText(const rendezvous::Verdict& verdict,
                        const std::string& program, const TextTarget& target);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_
