#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_TEXT_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_TEXT_H_

#include <string>

#include "agent/health/finding.h"
#include "launcher/doctor/node_report.h"
#include "launcher/doctor/nodes_page.h"
#include "launcher/report/text_style.h"

namespace muster::launcher {

// Whether a page shows what is fine, too.
enum class Detail { kAll, kTroubleOnly };

// What was found on one node, group by group, each with its remedy, and a
// summary at the end. Ends in a newline. Pure.
std::string DoctorText(const NodeReport& report, Detail detail,
                       const TextTarget& target);

// The same of several nodes: first what lies between them, then what each has
// found, equal findings of several nodes told once.
std::string NodesText(const NodesPage& page, Detail detail,
                      const TextTarget& target);

// 0: nothing worse than a note; 3: warnings; 4: errors.
int ExitCodeOf(agent::Severity worst);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_TEXT_H_
