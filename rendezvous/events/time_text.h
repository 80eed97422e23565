#ifndef MUSTER_RENDEZVOUS_EVENTS_TIME_TEXT_H_
#define MUSTER_RENDEZVOUS_EVENTS_TIME_TEXT_H_

#include <string>

namespace muster::rendezvous {

// Formats seconds since 1970 for people, always in UTC, since a job's nodes may
// be in several time zones: "2026-03-01 14:05:09 UTC". Returns "unknown" for 0
// and for values outside of the years 1970 to 9999. Pure.
std::string UtcText(double unix_seconds);

// Formats the same for programs: "2026-03-01T14:05:09.250Z". Pure.
std::string IsoText(double unix_seconds);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_TIME_TEXT_H_
