#include "trainer_sdk/ddp/same_parameters.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// FNV-1a; the same on every machine.
class Digest {
 public:
  void Add(std::string_view bytes) {
    for (const char c : bytes) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
  }
  void Add(uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8) {
      hash_ = (hash_ ^ (number & 255)) * 1099511628211u;
    }
  }
  int64_t value() const { return static_cast<int64_t>(hash_); }

 private:
  uint64_t hash_ = 14695981039346656037u;
};

int64_t DigestOf(const DdpParameter& parameter) {
  Digest digest;
  digest.Add(static_cast<uint64_t>(parameter.count));
  digest.Add(static_cast<uint64_t>(parameter.rows));
  digest.Add(static_cast<uint64_t>(parameter.dtype));
  digest.Add(parameter.name);
  return digest.value();
}

// Every rank's value, in rank order.
absl::StatusOr<std::vector<int64_t>> Gathered(ProcessGroup& group,
                                              int64_t mine) {
  std::vector<int64_t> all(static_cast<size_t>(group.size()));
  const absl::Status status =
      group.Run(AllGather(&mine, all.data(), 1, DType::kInt64));
  if (!status.ok()) return status;
  return all;
}

// "rank 2: 7", for those that differ from rank 0.
std::string Others(const std::vector<int64_t>& values) {
  std::string text;
  for (size_t rank = 1; rank < values.size(); ++rank) {
    if (values[rank] == values[0]) continue;
    absl::StrAppend(&text, text.empty() ? "rank " : ", rank ", rank);
  }
  return text;
}

}  // namespace

absl::Status CheckSameParameters(ProcessGroup& group,
                                 const std::vector<DdpParameter>& parameters) {
  absl::StatusOr<std::vector<int64_t>> counts =
      Gathered(group, static_cast<int64_t>(parameters.size()));
  if (!counts.ok()) return counts.status();
  for (size_t rank = 1; rank < counts->size(); ++rank) {
    if ((*counts)[rank] == (*counts)[0]) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "the ranks have different models: rank 0 has ", (*counts)[0],
        " parameters, rank ", rank, " ", (*counts)[rank]));
  }
  std::vector<int64_t> least;
  for (const DdpParameter& parameter : parameters) {
    least.push_back(DigestOf(parameter));
  }
  std::vector<int64_t> most = least;
  for (const auto& [values, op] :
       {std::pair(&least, ReduceOp::kMin), std::pair(&most, ReduceOp::kMax)}) {
    const absl::Status status = group.Run(
        AllReduce(values->data(), values->data(),
                  static_cast<int64_t>(values->size()), DType::kInt64, op));
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (least[i] == most[i]) continue;
    const DdpParameter& mine = parameters[i];
    // Every rank has found the same place.
    const absl::StatusOr<std::vector<int64_t>> digests =
        Gathered(group, DigestOf(mine));
    if (!digests.ok()) return digests.status();
    return absl::FailedPreconditionError(absl::StrCat(
        "the ranks have different models: parameter ", i, ", here (rank ",
        group.rank(), ") '", mine.name, "' of ", mine.count, " ",
        Name(mine.dtype), ", is another than rank 0's on ", Others(*digests)));
  }
  return absl::OkStatus();
}

}  // namespace muster
