#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_WORDS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_WORDS_H_

#include <string>

#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

// Texts about a rank's log for messages. Pure.

// "12.3 s"
std::string SecondsText(double seconds);

// The operation in which a rank was, or had failed, when it was last seen;
// null: none.
const FlightRecord* StuckRecord(const FlightLog& log,
                                const FlightMoment& moment);

// Whether a rank waits in `record` for longer than the patience, or its wait
// failed and it has not made the group again.
bool IsStuck(const FlightLog& log, const FlightRecord& record,
             const FlightMoment& moment);

// FlightGroupLabel of its group.
std::string GroupName(const FlightLog& log, const FlightRecord& record);

// "rank 2 (node1, pid 77)"
std::string RankName(const FlightLog& log);

// "its last was barrier #2 in group world, done 9.8 s before the end", or "…
// 9.8 s ago" if ranks still run.
std::string LastDone(const FlightLog& log, const FlightMoment& moment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_WORDS_H_
