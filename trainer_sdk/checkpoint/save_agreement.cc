#include "trainer_sdk/checkpoint/save_agreement.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/message_reader.h"
#include "trainer_sdk/checkpoint/slice_list.h"

namespace muster {
namespace {

int64_t StepOf(const Word& word) { return MessageReader(word.bytes).Number(); }

// The rank's list of slices if it has changed, else empty.
std::string_view RangesIn(const Word& word) {
  MessageReader reader(word.bytes);
  reader.Number();
  return reader.Text();
}

}  // namespace

absl::Status SaveAgreement::Reach(const absl::Status& status, int64_t step,
                                  const std::vector<CheckpointSlice>& slices,
                                  CallOptions call) {
  const std::string ranges = WriteRanges(RangesOf(slices));
  // A known list was checked when it was first sent.
  const bool known = ranges == known_[static_cast<size_t>(group_.rank())];
  Word mine = {status, ""};
  if (mine.status.ok()) {
    mine.status = known ? CheckPlaces(slices) : CheckSlices(slices);
  }
  if (mine.status.ok() && step < 0) {
    mine.status =
        absl::InvalidArgumentError(absl::StrCat("a checkpoint of step ", step));
  }
  AppendInteger(step, &mine.bytes);
  AppendString(known ? "" : ranges, &mine.bytes);
  const auto words = Exchange(group_, mine, call);
  if (!mine.status.ok()) return mine.status;
  if (!words.ok()) return words.status();
  absl::Status failure = FirstFailureOf(*words);
  if (!failure.ok()) return failure;
  for (size_t rank = 1; rank < words->size(); ++rank) {
    const int64_t other = StepOf((*words)[rank]);
    if (other == StepOf(words->front())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rank 0 saves step ", StepOf(words->front()),
                     ", and rank ", rank, " saves step ", other));
  }
  return Plan(slices, *words);
}

absl::Status SaveAgreement::Plan(const std::vector<CheckpointSlice>& slices,
                                 const std::vector<Word>& words) {
  for (size_t rank = 0; rank < words.size(); ++rank) {
    const std::string_view ranges = RangesIn(words[rank]);
    if (ranges.empty()) continue;
    known_[rank] = ranges;
    state_ = State::kStale;
  }
  if (state_ == State::kPlanned) return absl::OkStatus();
  std::vector<std::vector<SliceRange>> ranks;
  for (const std::string& bytes : known_) {
    auto ranges = ReadRanges(bytes);
    if (!ranges.ok()) return ranges.status();
    ranks.push_back(*std::move(ranges));
  }
  auto plan = PlanShares(ranks);
  if (!plan.ok()) return plan.status();
  plan_ = *std::move(plan);
  const std::vector<SliceRange> own = RangesOf(slices);
  layout_ = LayOutShard(own, plan_.shares[static_cast<size_t>(group_.rank())]);
  replicas_ = ReplicaCheck(plan_, own, group_.rank());
  state_ = State::kPlanned;
  return absl::OkStatus();
}

}  // namespace muster
