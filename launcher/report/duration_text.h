#ifndef MUSTER_LAUNCHER_REPORT_DURATION_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_DURATION_TEXT_H_

#include <string>

#include "base/time.h"

namespace muster::launcher {

// A duration in two units that fit its size: "0.04s", "7.5s", "2m 03s",
// "5h 07m", "3d 04h". Rounded down, so that it never shows time that has not
// passed; negative ones show as zero. Pure.
std::string DurationText(Duration duration);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_DURATION_TEXT_H_
