#ifndef MUSTER_RENDEZVOUS_NETWORK_CHECK_GPU_JUDGEMENT_H_
#define MUSTER_RENDEZVOUS_NETWORK_CHECK_GPU_JUDGEMENT_H_

#include <map>
#include <string>
#include <vector>

#include "rendezvous/protocol/pair_check.h"

namespace muster::rendezvous {

// Two nodes that were measured together, and their results.
struct GpuPairing {
  struct End {
    std::string node_id;
    std::string host;
    PairMeasurement measured;
  };
  End one;
  End other;
};

// The result of a check for one node. kUndecided: the node's measurements with
// other nodes are bad, but too few of the other nodes are good to blame this
// node. kSlow: a measured value is bad. kFailed: nothing could be measured.
enum class CheckGrade { kGood, kUndecided, kSlow, kFailed };
struct GpuFinding {
  CheckGrade grade = CheckGrade::kGood;
  // Why the grade is not kGood: a clause whose subject is the node.
  std::string why;
};

// The limits of JudgeGpus, which judges the GPUs of nodes that were measured in
// pairs (PairMeasurement::gpu_kind and the fields after it). Key of its result:
// node id. Pure. O(n log n) for n pairs. A node has no finding if its GPUs have
// no measured value, and CUDA and NCCL have failed in none of its pairs.
//
// Nodes are of the same kind if number and model of their GPUs and the version
// of NCCL are equal. Values are compared only among nodes of the same kind, and
// only if at least kMinNodes of them have a value.
//
//   - A pair is good if its rate is at least the median of the nodes' best
//     rates, divided by kSlowRateFactor.
//   - A pair is bad if its rate is lower, or if CUDA or NCCL has failed on one
//     of its nodes.
//   - A node is good if one of its pairs is good.
//   - A node is bad if none of its pairs is good, and two partners of its bad
//     pairs are good. So no node is bad if NCCL fails everywhere.
//   - Otherwise a node with a bad pair is undecided.
//   - Whatever its pairs, a node is bad if the compute kernel on its slowest
//     GPU takes more than kSlowKernelFactor times the median.
inline constexpr int kMinNodes = 3;
inline constexpr double kSlowRateFactor = 3;
inline constexpr double kSlowKernelFactor = 2;
std::map<std::string, GpuFinding> JudgeGpus(
    const std::vector<GpuPairing>& pairings);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_NETWORK_CHECK_GPU_JUDGEMENT_H_
