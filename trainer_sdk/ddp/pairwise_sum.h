#ifndef MUSTER_TRAINER_SDK_DDP_PAIRWISE_SUM_H_
#define MUSTER_TRAINER_SDK_DDP_PAIRWISE_SUM_H_

#include <cstdint>
#include <vector>

namespace muster {

// Adds gradients of micro-batches as PairwiseHook adds those of ranks:
// (g0 + g1) + (g2 + g3). It holds a sum for each level of this tree but the
// last: log2(micro-batches) times the elements. Pure; parts of the elements are
// independent of each other.
class PairwiseSum {
 public:
  // Of `parts` summands, a power of two, with `count` elements.
  PairwiseSum(int64_t parts, int64_t count);

  // Takes elements [begin, begin + count) of summand `part`; parts come in
  // order. With the last one `sum` becomes the sum of all. `summand` may become
  // anything. It may be `sum`.
  void Add(int64_t part, int64_t begin, int64_t count, float* summand,
           float* sum);

 private:
  const int64_t parts_;
  std::vector<std::vector<float>> levels_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PAIRWISE_SUM_H_
