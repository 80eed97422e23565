#ifndef MUSTER_RENDEZVOUS_EVENTS_TIME_TEXT_H_
#define MUSTER_RENDEZVOUS_EVENTS_TIME_TEXT_H_

#include <string>

namespace muster {

// Seconds since 1970 as people read them, in UTC whatever the machine's zone,
// since a job's nodes may lie in several: "2026-03-01 14:05:09 UTC". "unknown"
// for 0 and for what is no date between 1970 and 9999. Pure.
std::string UtcText(double unix_seconds);

// The same as programs read it: "2026-03-01T14:05:09.250Z". Pure.
std::string IsoText(double unix_seconds);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_EVENTS_TIME_TEXT_H_
