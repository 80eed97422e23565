#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_PAGE_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_PAGE_H_

#include <string>

namespace muster::launcher {

// The text of docs/DOCTOR.md, generated from the table of findings. Pure.
std::string DoctorPage();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_PAGE_H_
