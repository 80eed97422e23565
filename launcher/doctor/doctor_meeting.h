#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_MEETING_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_MEETING_H_

#include <string>
#include <vector>

#include "launcher/options/run_options.h"

namespace muster::launcher {

// How the nodes of `launch doctor --nodes` meet: those that come are looked at,
// whoever does not. All functions are pure; `options`: of the run whose flags
// were given.

// The run's --rdzv-conf, with the doctor's patience for what it does not say:
// somebody is waiting for the page, and a node that has not come within a
// minute will not. With all nodes there nobody waits at all.
std::string DoctorsRdzvConf(const RunOptions& options);

// How many nodes must come: of a range, its least.
int ExpectedOf(const RunOptions& options);

// Whether a node's exit code says that the others had begun without it.
bool NeverRan(int exit_code);

// The flags by which the job begins with whoever comes, to stand behind those
// that were given. A static job meets where it would have.
std::vector<std::string> MeetingOfThoseThatCome(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_MEETING_H_
