#ifndef MUSTER_LAUNCHER_INSPECT_TEXT_H_
#define MUSTER_LAUNCHER_INSPECT_TEXT_H_

#include <string>

#include "launcher/report/text_layout.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"

namespace muster::launcher {

// What `launch inspect` prints of an analysis of `logs` dumps: what was found,
// where every rank stood, what the ranks said. Ends in a newline. Pure.
std::string InspectText(const FlightAnalysis& analysis, int logs,
                        const TextTarget& target);

// What `launch inspect --help` prints. Pure.
std::string InspectHelp();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_INSPECT_TEXT_H_
