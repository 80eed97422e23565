#ifndef MUSTER_LAUNCHER_INSPECT_TEXT_H_
#define MUSTER_LAUNCHER_INSPECT_TEXT_H_

#include <string>

#include "launcher/report/text_layout.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"

namespace muster::launcher {

// The output of `launch inspect`: the finding, the position of every rank, and
// the ranks' own messages. `logs`: the number of flight recorder dumps that
// were analysed. Ends with a newline. Pure.
std::string InspectText(const FlightAnalysis& analysis, int logs,
                        const TextTarget& target);

// The text of `launch inspect --help`. Pure.
std::string InspectHelp();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_INSPECT_TEXT_H_
