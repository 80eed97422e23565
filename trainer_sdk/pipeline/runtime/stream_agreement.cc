#include "trainer_sdk/pipeline/runtime/stream_agreement.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"

namespace muster {
namespace {

// The largest accepted number of elements of a shape; it prevents products of
// sizes from overflowing.
constexpr int64_t kMaxElements = int64_t{1} << 40;

void Append(const StreamShape& shape, std::vector<int64_t>* numbers) {
  const size_t begin = numbers->size();
  numbers->push_back(static_cast<int64_t>(shape.dtype));
  numbers->push_back(static_cast<int64_t>(shape.sizes.size()));
  numbers->insert(numbers->end(), shape.sizes.begin(), shape.sizes.end());
  numbers->resize(begin + 2 + StreamShape::kMaxDimensions);
}

absl::StatusOr<StreamShape> ShapeFrom(const int64_t* numbers) {
  if (numbers[0] < 0 || numbers[0] >= kDTypes || numbers[1] < 0 ||
      numbers[1] > StreamShape::kMaxDimensions) {
    return absl::FailedPreconditionError(
        absl::StrCat("a stream of type ", numbers[0], " with ", numbers[1],
                     " dimensions; at most ", StreamShape::kMaxDimensions));
  }
  StreamShape shape{.dtype = static_cast<DType>(numbers[0]),
                    .sizes = {numbers + 2, numbers + 2 + numbers[1]}};
  int64_t count = 1;
  for (const int64_t size : shape.sizes) {
    if (size < 1 || size > kMaxElements / count) {
      return absl::FailedPreconditionError(
          absl::StrCat("a stream of ", ToString(shape)));
    }
    count *= size;
  }
  return shape;
}

// Decodes one shape of `stage` from `numbers`, the encoded shapes of all ranks:
// the input shape if `which` is 0, the output shape if `which` is 1.
absl::StatusOr<StreamShape> StreamOf(const std::vector<int64_t>& numbers,
                                     const PipelineShape& shape, int stage,
                                     int which) {
  const int place =
      shape.RankOf(stage) * shape.stages_per_rank + stage / shape.ranks;
  auto stream = ShapeFrom(numbers.data() + place * kStreamsNumbers +
                          which * kStreamsNumbers / 2);
  if (stream.ok()) return stream;
  return absl::FailedPreconditionError(
      absl::StrCat("stage ", stage, " (rank ", shape.RankOf(stage), ") has ",
                   absl::string_view(stream.status().message())));
}

std::string Pipeline(const int64_t* numbers) {
  return absl::StrCat(numbers[0], " ranks with ", numbers[1],
                      " stages each and ", numbers[2], " micro-batches");
}

}  // namespace

std::vector<int64_t> EncodeSchedule(const PipelineSchedule& schedule) {
  FnvHash hash;
  for (const std::vector<Action>& actions : schedule.ranks) {
    hash.AddNumber(actions.size());
    for (const Action& action : actions) {
      hash.AddNumber(static_cast<uint64_t>(action.stage));
      hash.AddNumber(static_cast<uint64_t>(action.kind));
      hash.AddNumber(static_cast<uint64_t>(action.micro_batch));
    }
  }
  return {schedule.shape.ranks, schedule.shape.stages_per_rank,
          schedule.shape.micro_batches, static_cast<int64_t>(hash.value())};
}

absl::Status CheckSameSchedule(const std::vector<int64_t>& numbers) {
  const int64_t* const first = numbers.data();
  for (size_t at = 0; at < numbers.size(); at += kScheduleNumbers) {
    const int64_t* const own = numbers.data() + at;
    const size_t rank = at / kScheduleNumbers;
    if (Pipeline(own) != Pipeline(first)) {
      return absl::FailedPreconditionError(
          absl::StrCat("rank ", rank, " has a pipeline of ", Pipeline(own),
                       ", rank 0 one of ", Pipeline(first)));
    }
    if (own[kScheduleNumbers - 1] != first[kScheduleNumbers - 1]) {
      return absl::FailedPreconditionError(
          absl::StrCat("rank ", rank,
                       " has another schedule than rank 0, of the same size; "
                       "all ranks must be given the same"));
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> EncodeStreams(const StageStreams& streams) {
  std::vector<int64_t> numbers;
  Append(streams.input, &numbers);
  Append(streams.output, &numbers);
  return numbers;
}

absl::StatusOr<std::vector<StreamShape>> AgreedInputs(
    const std::vector<int64_t>& numbers, const PipelineShape& shape) {
  std::vector<StreamShape> inputs(1);
  for (int stage = 0; stage + 1 < shape.stages(); ++stage) {
    const auto given = StreamOf(numbers, shape, stage, 1);
    if (!given.ok()) return given.status();
    const auto taken = StreamOf(numbers, shape, stage + 1, 0);
    if (!taken.ok()) return taken.status();
    if (*given != *taken) {
      return absl::FailedPreconditionError(absl::StrCat(
          "stage ", stage, " (rank ", shape.RankOf(stage), ") gives ",
          ToString(*given), ", but stage ", stage + 1, " (rank ",
          shape.RankOf(stage + 1), ") takes ", ToString(*taken)));
    }
    inputs.push_back(*taken);
  }
  return inputs;
}

}  // namespace muster
