#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_TEXT_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_TEXT_H_

#include <string>

#include "agent/health/finding.h"
#include "launcher/doctor/node_report.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {

// The findings that the doctor's page shows: all of them, or only those of
// severity warning and error.
enum class Detail { kAll, kTroubleOnly };

// The page for one node: its findings by group, each with its remedy, and a
// summary at the end. Ends with a newline. Pure.
std::string DoctorText(const NodeReport& report, Detail detail,
                       const TextTarget& target);

// The page for several nodes: first the findings that concern several nodes,
// then those of each node. A finding that several nodes have is shown once.
std::string NodesText(const NodesPage& page, Detail detail,
                      const TextTarget& target);

// The exit code of `launch doctor` if its worst finding has the severity
// `worst`: 3 for a warning, 4 for an error, otherwise 0.
int ExitCodeOf(agent::Severity worst);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_TEXT_H_
