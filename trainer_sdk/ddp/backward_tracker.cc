#include "trainer_sdk/ddp/backward_tracker.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace muster {
namespace {

// The maximum number of parameters that one error message names.
constexpr int kMaxNamed = 5;

}  // namespace

BackwardTracker::BackwardTracker(std::vector<std::string> names,
                                 ParameterUse use)
    : names_(std::move(names)), use_(use), states_(names_.size()) {}

void BackwardTracker::SetBuckets(const std::vector<std::vector<int>>& buckets) {
  MUSTER_CHECK(phase_ == Phase::kIdle);
  bucket_sizes_.clear();
  size_t parameters = 0;
  for (const std::vector<int>& bucket : buckets) {
    for (const int parameter : bucket) {
      states_[parameter].bucket = static_cast<int>(bucket_sizes_.size());
    }
    parameters += bucket.size();
    bucket_sizes_.push_back(static_cast<int>(bucket.size()));
  }
  MUSTER_CHECK(parameters == names_.size());
}

bool BackwardTracker::Learning() const {
  return use_ == ParameterUse::kStatic && !learned_;
}

bool BackwardTracker::must_share_use() const {
  return use_ == ParameterUse::kMayVary || Learning();
}

absl::Status BackwardTracker::Begin(GradientSync sync, std::vector<int>* full) {
  if (phase_ == Phase::kRunning) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the last backward pass was not finished when the next began: no "
        "gradient of ",
        Missing()));
  }
  phase_ = Phase::kRunning;
  sync_ = sync;
  left_ = bucket_sizes_;
  undone_ = static_cast<int>(states_.size());
  next_ = 0;
  order_.clear();
  const bool known = use_ == ParameterUse::kStatic && learned_;
  for (State& state : states_) {
    state.done = false;
    if (reduced_) state.used = false;
    state.missing = known ? state.times : 1;
    if (Learning()) state.times = 0;
  }
  reduced_ = false;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].missing == 0) Done(static_cast<int>(i), full);
  }
  return absl::OkStatus();
}

bool BackwardTracker::IsRunning(int parameter) const {
  return phase_ == Phase::kRunning && parameter >= 0 &&
         static_cast<size_t>(parameter) < states_.size();
}

absl::Status BackwardTracker::WhyNotRunning(int parameter) const {
  if (parameter < 0 || static_cast<size_t>(parameter) >= names_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", parameter, " of ", names_.size()));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("parameter '", names_[parameter],
                   "' is marked, but no backward pass has begun"));
}

absl::Status BackwardTracker::MarkReady(int parameter, std::vector<int>* full) {
  if (!IsRunning(parameter)) return WhyNotRunning(parameter);
  State& state = states_[parameter];
  if (Learning()) {
    if (state.times++ == 0) order_.push_back(parameter);
    state.used = true;
    return absl::OkStatus();
  }
  if (state.missing == 0) {
    return absl::FailedPreconditionError(
        use_ == ParameterUse::kStatic
            ? absl::StrCat("parameter '", names_[parameter],
                           "' has another gradient than the ", state.times,
                           " of the first backward pass, though the graph was "
                           "said to be static")
            : absl::StrCat(
                  "parameter '", names_[parameter],
                  "' is marked ready twice in one backward pass: it is used "
                  "more than once, or was marked unused; if every pass does "
                  "the same, say so with ParameterUse::kStatic"));
  }
  state.used = true;
  if (--state.missing > 0) return absl::OkStatus();
  order_.push_back(parameter);
  Done(parameter, full);
  return absl::OkStatus();
}

absl::Status BackwardTracker::MarkUnused(int parameter,
                                         std::vector<int>* full) {
  if (!IsRunning(parameter)) return WhyNotRunning(parameter);
  if (use_ != ParameterUse::kMayVary) {
    return absl::FailedPreconditionError(
        absl::StrCat("parameter '", names_[parameter],
                     "' is marked unused, which is for "
                     "ParameterUse::kMayVary"));
  }
  State& state = states_[parameter];
  if (state.done) {
    return absl::FailedPreconditionError(
        absl::StrCat("parameter '", names_[parameter],
                     "' is marked unused after its gradient came"));
  }
  state.missing = 0;
  Done(parameter, full);
  return absl::OkStatus();
}

void BackwardTracker::Done(int parameter, std::vector<int>* full) {
  State& state = states_[parameter];
  state.done = true;
  --undone_;
  --left_[state.bucket];
  AppendFull(full);
}

void BackwardTracker::AppendFull(std::vector<int>* full) {
  if (sync_ == GradientSync::kAccumulate) return;
  while (next_ < static_cast<int>(left_.size()) && left_[next_] == 0) {
    full->push_back(next_++);
  }
}

absl::Status BackwardTracker::Finish(std::vector<int>* full) {
  if (phase_ == Phase::kIdle) {
    return absl::FailedPreconditionError("no backward pass has begun");
  }
  const bool all_needed =
      use_ == ParameterUse::kAll || (use_ == ParameterUse::kStatic && learned_);
  if (all_needed && undone_ > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the backward pass is over without a gradient of ", Missing(),
        use_ == ParameterUse::kAll
            ? "; if passes may leave parameters out, say so with "
              "ParameterUse::kMayVary"
            : ", though the graph was said to be static"));
  }
  for (size_t i = 0; i < states_.size() && undone_ > 0; ++i) {
    if (!states_[i].done) Done(static_cast<int>(i), full);
  }
  if (sync_ == GradientSync::kReduce) learned_ = reduced_ = true;
  phase_ = Phase::kIdle;
  return absl::OkStatus();
}

std::vector<int> BackwardTracker::ObservedOrder() const {
  std::vector<int> order = order_;
  std::vector<bool> there(states_.size(), false);
  for (const int parameter : order) there[parameter] = true;
  for (size_t i = 0; i < there.size(); ++i) {
    if (!there[i]) order.push_back(static_cast<int>(i));
  }
  return order;
}

std::string BackwardTracker::Missing() const {
  std::string text;
  int missing = 0;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].done) continue;
    if (++missing <= kMaxNamed) {
      absl::StrAppend(&text, missing > 1 ? ", '" : "'", names_[i], "'");
    }
  }
  if (missing > kMaxNamed) {
    absl::StrAppend(&text, " and ", missing - kMaxNamed, " others");
  }
  return text;
}

}  // namespace muster
