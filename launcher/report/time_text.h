#ifndef MUSTER_LAUNCHER_REPORT_TIME_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_TIME_TEXT_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/time_ledger.h"

namespace muster::launcher {

// Texts for people about the use of a job's time. All functions are pure.

// One line: "97.3 % productive; 12s lost to 3 failures: worker on h2 7.1s, node
// h3 4.0s, hang on h1 0.9s". Without losses: "97.3 % productive".
std::string TimeLine(const rendezvous::JobTime& time);

// The share of each activity in the nodes' time, the largest share first, in
// one line: "productive 97.3 %, initialising 1.9 %, ...". Activities with less
// than 0.05 % are left out.
std::string ActivitiesLine(const rendezvous::JobTime& time);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_TIME_TEXT_H_
