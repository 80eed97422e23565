#include "trainer_sdk/process_group/testing/plain_collectives.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/testing/element_values.h"

namespace muster {
namespace {

class Computation {
 public:
  explicit Computation(const std::vector<const Operation*>& ranks)
      : ranks_(ranks),
        first_(*ranks[0]),
        width_(SizeOf(first_.dtype)),
        size_(static_cast<int>(ranks.size())) {
    // In place, one rank's output overwrites its input, so all inputs are
    // copied before any output is written.
    for (int rank = 0; rank < size_; rank++) {
      inputs_.emplace_back(
          static_cast<const char*>(ranks[rank]->input),
          ranks[rank]->input == nullptr ? 0 : InputLength(rank) * width_);
    }
  }

  void Run() {
    for (int rank = 0; rank < size_; rank++) {
      const bool is_root = rank == first_.root;
      switch (first_.kind) {
        case OperationKind::kAllReduce:
          Reduce(rank, 0, first_.count);
          break;
        case OperationKind::kReduce:
          if (is_root) Reduce(rank, 0, first_.count);
          break;
        case OperationKind::kReduceScatter:
          Reduce(rank, Offset(rank), Part(rank));
          break;
        case OperationKind::kBroadcast:
          Copy(rank, 0, first_.root, 0, first_.count);
          break;
        case OperationKind::kScatter:
          Copy(rank, 0, first_.root, Offset(rank), Part(rank));
          break;
        case OperationKind::kGather:
          if (!is_root) break;
          [[fallthrough]];
        case OperationKind::kAllGather:
          for (int i = 0; i < size_; i++) {
            Copy(rank, Offset(i), i, 0, Part(i));
          }
          break;
        case OperationKind::kAllToAll:
          Exchange(rank);
          break;
        default:
          break;
      }
    }
  }

 private:
  int64_t Part(int rank) const {
    return first_.counts.empty() ? first_.count : first_.counts[rank];
  }
  int64_t Offset(int rank) const {
    int64_t offset = 0;
    for (int i = 0; i < rank; i++) offset += Part(i);
    return offset;
  }
  int64_t Sent(int from, int to) const {
    return ranks_[from]->counts.empty() ? first_.count
                                        : ranks_[from]->counts[to];
  }
  int64_t InputLength(int rank) const {
    const bool is_root = rank == first_.root;
    switch (first_.kind) {
      case OperationKind::kAllReduce:
      case OperationKind::kReduce:
        return first_.count;
      case OperationKind::kBroadcast:
        return is_root ? first_.count : 0;
      case OperationKind::kReduceScatter:
        return Offset(size_);
      case OperationKind::kScatter:
        return is_root ? Offset(size_) : 0;
      case OperationKind::kGather:
      case OperationKind::kAllGather:
        return Part(rank);
      case OperationKind::kAllToAll: {
        int64_t length = 0;
        for (int i = 0; i < size_; i++) length += Sent(rank, i);
        return length;
      }
      default:
        return 0;
    }
  }

  char* Output(int rank, int64_t at) const {
    return static_cast<char*>(ranks_[rank]->output) + at * width_;
  }
  void Copy(int to, int64_t at, int from, int64_t begin, int64_t count) {
    if (count == 0) return;
    std::memcpy(Output(to, at), inputs_[from].data() + begin * width_,
                count * width_);
  }
  void Exchange(int rank) {
    int64_t at = 0;
    for (int from = 0; from < size_; from++) {
      int64_t begin = 0;
      for (int i = 0; i < rank; i++) begin += Sent(from, i);
      Copy(rank, at, from, begin, Sent(from, rank));
      at += Sent(from, rank);
    }
  }
  void Reduce(int rank, int64_t begin, int64_t count) {
    std::vector<double> values(size_);
    for (int64_t i = 0; i < count; i++) {
      for (int from = 0; from < size_; from++) {
        values[from] = DecodeElement(
            first_.dtype, inputs_[from].data() + (begin + i) * width_);
      }
      EncodeElement(ReferenceReduction(values, first_.dtype, first_.reduce_op),
                    first_.dtype, Output(rank, i));
    }
  }

  const std::vector<const Operation*>& ranks_;
  const Operation& first_;
  const int64_t width_;
  const int size_;
  std::vector<std::string> inputs_;
};

}  // namespace

void ComputeCollective(const std::vector<const Operation*>& ranks) {
  Computation(ranks).Run();
}

}  // namespace muster
