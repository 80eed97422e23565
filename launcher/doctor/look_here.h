#ifndef MUSTER_LAUNCHER_DOCTOR_LOOK_HERE_H_
#define MUSTER_LAUNCHER_DOCTOR_LOOK_HERE_H_

#include <map>
#include <string>

#include "launcher/doctor/doctor_request.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {

// Looks at this node, and asks the coordinator if one was named.
NodeReport LookHere(const DoctorRequest& request,
                    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_LOOK_HERE_H_
