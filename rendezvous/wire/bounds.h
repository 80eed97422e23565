#ifndef MUSTER_RENDEZVOUS_WIRE_BOUNDS_H_
#define MUSTER_RENDEZVOUS_WIRE_BOUNDS_H_

#include <cstddef>

namespace muster::rendezvous {

// Limits for messages from outside, in addition to those of the plain types
// (rendezvous/protocol/failure.h).
inline constexpr size_t kMostNameBytes = 256;    // ids, hosts, addresses, roles
inline constexpr size_t kMostNcclIdBytes = 256;  // 128 bytes as digits
inline constexpr size_t kMostPathBytes = 4096;   // PATH_MAX
inline constexpr size_t kMostRunTagBytes = 64;
inline constexpr size_t kMostReasonBytes = 4096;
inline constexpr int kMostTopologyKeys = 16;
inline constexpr int kMostSlots = 65536;
inline constexpr int kMostPort = 65535;
inline constexpr int kMostSignal = 64;  // SIGRTMAX
inline constexpr int kMostExitCode = 255;
// Limits of one answer to an operator.
inline constexpr int kMostListedJobs = 100'000;
inline constexpr int kMostListedNodes = 1'000'000;
inline constexpr int kMostDecisionsPerUpdate = 1024;

// Limit of a message from an agent. The largest valid report (eight failures
// with traceback, error file and last output) is about 120 KiB.
inline constexpr int kMostReportBytes = 1 << 20;
// Limit of an answer to an operator; a status of 10,000 nodes is about 2 MiB.
inline constexpr int kMostAnswerBytes = 256 << 20;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_BOUNDS_H_
