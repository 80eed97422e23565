#include "models/gpt_cuda/cuda_weight_gather.h"

#include <type_traits>

#include "models/gpt_cuda/weight_shares.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::cuda {
namespace {

template <typename T>
constexpr DType kDType =
    std::is_same_v<T, float> ? DType::kFloat32 : DType::kBFloat16;

}  // namespace

template <typename T>
absl::Status GatherShares(Device& device, ProcessGroup& group,
                          const std::vector<ContiguousBucket>& buckets,
                          T* values) {
  const auto run = [&](Operation operation) {
    operation.stream = device.side_stream();
    return group.Run(operation);
  };
  absl::Status status;
  device.SideWaitsForMain();
  for (const ContiguousBucket& bucket : buckets) {
    const BucketShares shares = SharesOf(bucket, group.size());
    T* const at = values + bucket.begin;
    // In place, as below.
    status = run(
        AllGather(at + shares.part * group.rank(), at, shares.part, kDType<T>));
    if (status.ok() && shares.rest.count() > 0) {
      T* const rest = values + shares.rest.begin;
      status = run(Broadcast(rest, rest, shares.rest.count(), kDType<T>,
                             group.size() - 1));
    }
    if (!status.ok()) break;
  }
  device.MainWaitsForSide();
  return status;
}

template absl::Status GatherShares(Device&, ProcessGroup&,
                                   const std::vector<ContiguousBucket>&,
                                   float*);
template absl::Status GatherShares(Device&, ProcessGroup&,
                                   const std::vector<ContiguousBucket>&,
                                   Bfloat16*);

}  // namespace muster::cuda
