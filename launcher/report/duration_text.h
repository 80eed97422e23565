#ifndef MUSTER_LAUNCHER_REPORT_DURATION_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_DURATION_TEXT_H_

#include <string>

#include "base/time.h"

namespace muster::launcher {

// Formats a duration with the one or two units that fit its size: "0.04s",
// "7.5s", "2m 03s", "5h 07m", "3d 04h". Rounds down. A negative duration is
// shown as zero. Pure.
std::string DurationText(Duration duration);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_DURATION_TEXT_H_
