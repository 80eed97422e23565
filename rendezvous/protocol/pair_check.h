#ifndef MUSTER_RENDEZVOUS_PROTOCOL_PAIR_CHECK_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_PAIR_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace muster::rendezvous {

// Maximum length of Directive::check_fault, which describes up to O(log n)
// measurements.
inline constexpr size_t kMaxCheckFaultBytes = 1000;

// An order to a node to measure its processor and GPUs, and its connection to
// another node, the partner (--network-check). Part of a directive. The partner
// gets an order with the opposite role.
struct PairCheck {
  // The order in which a node does two things: it accepts a connection from its
  // partner, and it opens a connection to its partner. kServe: it accepts
  // first. kConnect: it opens first.
  enum class Role { kServe, kConnect };

  // Number of the measurement within the coordinator's epoch, from 1. Both
  // partners have the same number.
  uint64_t number = 0;
  Role role = Role::kServe;
  std::string partner;  // host name of the partner, for messages
  // The address and port at which the partner listens.
  std::string address;
  int port = 0;
  // The maximum number of GPUs of each partner that are measured together, by
  // NCCL. 0: no GPUs are measured.
  int gpus = 0;
  // Secret of kChannelKeyBytes random bytes by which the partners recognise
  // each other. The coordinator sets it just before it sends the directive.
  std::string key;

  friend bool operator==(const PairCheck&, const PairCheck&) = default;
};

// A node's result of a PairCheck. Part of the node's reports until the node
// gets another order.
struct PairMeasurement {
  // epoch of the directive that ordered the measurement
  uint64_t epoch = 0;
  uint64_t number = 0;  // PairCheck::number in that directive
  // Why the connection could not be measured: one line, cut to kMaxLineBytes;
  // empty: it was measured.
  std::string failure;
  double round_trip_s = 0;  // median time of a round trip, in seconds
  double bytes_per_s = 0;   // rate at which data from the partner arrived
  // Time of the compute kernel on the node's slowest core, in seconds; 0: not
  // measured.
  double compute_s = 0;
  // The kind of the node's GPUs: number and model of the measured GPUs, and
  // NCCL's version, such as "8 x NVIDIA H100, NCCL 2.28.9". GPUs of different
  // kinds are not measured together. Empty: the node has no GPUs, or they do
  // not work. Cut to kMaxNameBytes.
  std::string gpu_kind;
  // Why CUDA or NCCL has failed: one line, cut to kMaxLineBytes; empty: neither
  // has.
  std::string gpu_failure;
  // Bus bandwidth, in bytes per second, of an all-reduce by NCCL over the GPUs
  // of both partners; 0: not measured.
  double gpu_bytes_per_s = 0;
  // Time of a compute kernel on the node's slowest GPU, in seconds; 0: not
  // measured.
  double gpu_compute_s = 0;

  friend bool operator==(const PairMeasurement&,
                         const PairMeasurement&) = default;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_PAIR_CHECK_H_
