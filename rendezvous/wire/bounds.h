#ifndef MUSTER_RENDEZVOUS_WIRE_BOUNDS_H_
#define MUSTER_RENDEZVOUS_WIRE_BOUNDS_H_

#include <cstddef>

namespace muster::rendezvous {

// Limits of messages from outside. Limits that the plain types have as well
// stand beside those types: rendezvous/protocol/report.h and failure.h.
inline constexpr size_t kMaxNcclIdBytes = 256;  // 128 bytes as digits
inline constexpr size_t kMaxPathBytes = 4096;   // PATH_MAX
inline constexpr size_t kMaxRunTagBytes = 64;
inline constexpr size_t kMaxReasonBytes = 4096;
inline constexpr int kMaxPort = 65535;
inline constexpr int kMaxSignal = 64;  // SIGRTMAX
inline constexpr int kMaxExitCode = 255;
// Limits of one answer to an operator.
inline constexpr int kMaxListedJobs = 100'000;
inline constexpr int kMaxListedNodes = 1'000'000;
inline constexpr int kMaxDecisionsPerUpdate = 1024;

// Limit of a message from an agent. The largest valid report (eight failures
// with traceback, error file and last output) is about 120 KiB.
inline constexpr int kMaxReportBytes = 1 << 20;
// Limit of an answer to an operator; a status of 10,000 nodes is about 2 MiB.
inline constexpr int kMaxAnswerBytes = 256 << 20;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_BOUNDS_H_
