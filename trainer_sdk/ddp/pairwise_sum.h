#ifndef MUSTER_TRAINER_SDK_DDP_PAIRWISE_SUM_H_
#define MUSTER_TRAINER_SDK_DDP_PAIRWISE_SUM_H_

#include <cstdint>
#include <vector>

namespace muster {

// Adds the gradients of micro-batches in the order in which PairwiseHook adds
// those of ranks: (g0 + g1) + (g2 + g3). Keeps one sum for each level of this
// tree but the last: log2(micro-batches) times the elements in memory. Pure;
// ranges of elements are independent of each other.
class PairwiseSum {
 public:
  // `parts`: the number of summands, a power of two. `count`: the elements of
  // each.
  PairwiseSum(int64_t parts, int64_t count);

  // Adds elements [begin, begin + count) of summand `part`. Parts come in
  // order. With the last part, `sum` becomes the sum of all. `summand` is
  // overwritten, and may be the same memory as `sum`.
  void Add(int64_t part, int64_t begin, int64_t count, float* summand,
           float* sum);

 private:
  const int64_t parts_;
  std::vector<std::vector<float>> levels_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PAIRWISE_SUM_H_
