#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_MEETING_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_MEETING_H_

#include <string>
#include <vector>

#include "launcher/options/run_options.h"

namespace muster::launcher {

// How the nodes of `launch doctor --nodes` meet: the job starts with the nodes
// that come, even if others are missing. All functions are pure. `options`:
// parsed from the flags of the run that is checked.

// The run's --rdzv-conf with the doctor's time limit where the run gives none.
// The limit is one minute, since a person waits for the result. Once all nodes
// have come, the job starts at once.
std::string DoctorsRdzvConf(const RunOptions& options);

// The number of nodes that the run needs: MIN of --nnodes=MIN:MAX.
int ExpectedOf(const RunOptions& options);

// Whether a node's exit code means that the job had started without this node.
bool NeverRan(int exit_code);

// Flags with which the job starts with the nodes that come. They follow the
// given flags and override them. A job with the static backend keeps its
// meeting point.
std::vector<std::string> MeetingOfThoseThatCome(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_MEETING_H_
