#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_WORDS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_WORDS_H_

#include <string>

#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

// What is said of a rank's log, wherever it is said. Pure.

// "12.3 s"
std::string SecondsText(double seconds);

// What a rank was in, or had failed in, when it was last heard of; null: in
// nothing.
const FlightRecord* StuckRecord(const FlightLog& log,
                                const FlightMoment& moment);

// Whether somebody waits in `record`, and for longer than the patience, or
// waited in vain and has made no new group for it.
bool IsStuck(const FlightLog& log, const FlightRecord& record,
             const FlightMoment& moment);

// FlightGroupLabel of its group.
std::string GroupName(const FlightLog& log, const FlightRecord& record);

// "rank 2 (node1, pid 77)"
std::string RankName(const FlightLog& log);

// "its last was barrier #2 in group world, done 9.8 s before the end", or "…
// 9.8 s ago" where ranks still run.
std::string LastDone(const FlightLog& log, const FlightMoment& moment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_WORDS_H_
