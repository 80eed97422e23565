#ifndef MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_

#include <string>

#include "launcher/report/text_style.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {

// What every `launch` prints when its job has ended: one line on success; on
// failure a framed summary with the root cause, what it took down with it, and
// what was spent. Ends in a newline. Pure.
//
// `program` names the job for a person: the script, the module, the command.
// Negative `rounds` are not known, and not shown: no coordinator gave the
// verdict.
std::string VerdictText(const rendezvous::Verdict& verdict,
                        const std::string& program, const TextTarget& target);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_VERDICT_TEXT_H_
