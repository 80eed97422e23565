#ifndef MUSTER_LAUNCHER_DOCTOR_LOOK_HERE_H_
#define MUSTER_LAUNCHER_DOCTOR_LOOK_HERE_H_

#include <map>
#include <string>

#include "launcher/doctor/doctor_request.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// Collects the facts of this node, asks the coordinator if the request names
// one, and returns the findings.
NodeReport LookHere(const DoctorRequest& request,
                    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_LOOK_HERE_H_
