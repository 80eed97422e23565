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

// JudgeGpus judges the GPUs of the nodes that were measured in pairs
// (PairMeasurement::gpu_kind and the fields after it), by the limits kMinNodes,
// kSlowRateFactor and kSlowKernelFactor. Key of the result: node id. A node has
// no finding if its GPUs have no measured value, and CUDA and NCCL have failed
// in none of its pairs. Pure. O(n log n) for n pairs.
//
// Values are compared only with those of nodes of the same kind (number and
// model of GPUs, version of NCCL), and only if at least kMinNodes nodes of this
// kind have a value. A pair is good if its rate is at least the median of the
// nodes' best rates, divided by kSlowRateFactor. A pair is bad if its rate is
// lower, or if CUDA or NCCL has failed on one of its nodes. A node is good if
// one of its pairs is good. It is bad if none is good and two partners of its
// bad pairs are good; otherwise it is undecided. So no node is bad if NCCL
// fails everywhere. Whatever its pairs, a node is bad if the compute kernel
// takes more than kSlowKernelFactor times the median on its slowest GPU.
inline constexpr int kMinNodes = 3;
inline constexpr double kSlowRateFactor = 3;
inline constexpr double kSlowKernelFactor = 2;
std::map<std::string, GpuFinding> JudgeGpus(
    const std::vector<GpuPairing>& pairings);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_NETWORK_CHECK_GPU_JUDGEMENT_H_
