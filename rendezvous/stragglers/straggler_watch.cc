#include "rendezvous/stragglers/straggler_watch.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/median.h"

namespace muster::rendezvous {
namespace {

// The standard deviation of a normal distribution, divided by its median
// absolute deviation.
constexpr double kDeviationsPerMad = 1.4826;

// Whether `share`, a rank's share of own work, exceeds the ranks' median by
// both margins: kMinRatio (relative) and kMinExcess (absolute). `part`: the
// fraction of each margin that suffices.
bool IsAbove(double share, double median, double part) {
  return share >= median * (1 + part * (StragglerWatch::kMinRatio - 1)) &&
         share >= median + part * StragglerWatch::kMinExcess;
}

// In a single window, noise may hide half of a difference. So this fraction of
// the margins of kMinRatio and kMinExcess suffices in a window.
constexpr double kPartInWindow = 0.5;

// Upper limit of a rank's divided time, 31 years, so that it can be converted
// to a Duration although ranks may report any times.
constexpr double kMaxDividedSeconds = 1e9;

Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::min(seconds, kMaxDividedSeconds)));
}

}  // namespace

void StragglerWatch::Begin(int round, int ranks) {
  MUSTER_CHECK(ranks >= 0);
  round_ = round;
  ranks_.assign(static_cast<size_t>(ranks), Rank());
  links_.Begin(ranks);
  slow_.clear();
  gain_ = 0;
}

bool StragglerWatch::IsDue(Instant now) const { return now >= due_; }

StragglerWatch::Window& StragglerWatch::Newest(Rank& rank) {
  return rank.windows[(rank.count - 1) % kWindows];
}

void StragglerWatch::Follow(const RankTimes& times, Rank& rank) {
  const auto passed = [](Duration from, Duration to) {
    return ToSeconds(to) - ToSeconds(from);
  };
  const double own = passed(rank.last.own, times.own);
  const double blocked = passed(rank.last.blocked, times.blocked);
  if (!rank.is_known || own < 0 || blocked < 0) {
    // Either `times` are the rank's first times, or they are lower than the
    // previous ones, which shows that a new measurement has begun. In both
    // cases forget all earlier windows; the first window begins at `times`.
    rank = Rank();
    rank.is_known = true;
    rank.last = times;
    return;
  }
  if (own + blocked < ToSeconds(kMinWindow)) return;
  const double data = std::max(passed(rank.last.data, times.data), 0.0);
  rank.last = times;
  rank.grew = true;
  ++rank.count;
  Newest(rank) = {.own = static_cast<float>(own),
                  .total = static_cast<float>(own + blocked),
                  .data = static_cast<float>(data)};
}

void StragglerWatch::Vote() {
  std::vector<double> shares;
  for (Rank& rank : ranks_) {
    if (rank.count > 0) shares.push_back(Newest(rank).share());
  }
  const double median = Median(std::move(shares));
  for (Rank& rank : ranks_) {
    if (!rank.grew) continue;
    Newest(rank).is_above =
        IsAbove(Newest(rank).share(), median, kPartInWindow);
  }
}

void StragglerWatch::Divide() {
  double most = 0;  // share of own work of the rank that arrives last
  for (Rank& rank : ranks_) {
    if (rank.count == 0) return;
    most = std::max(most, Newest(rank).share());
  }
  for (Rank& rank : ranks_) {
    if (!rank.grew) continue;
    Window& window = Newest(rank);
    const double blocked = double{window.total} - window.own;
    const double transfer = std::min(blocked, window.total * (1 - most));
    window.transfer = static_cast<float>(transfer);
    rank.transfer_s += transfer;
    rank.wait_s += blocked - transfer;
  }
}

StragglerWatch::Division StragglerWatch::DivisionOf(int rank) const {
  if (rank < 0 || rank >= std::ssize(ranks_)) return {};
  return {.wait = FromSeconds(ranks_[rank].wait_s),
          .transfer = FromSeconds(ranks_[rank].transfer_s)};
}

StragglerWatch::Window StragglerWatch::Sum(const Rank& rank) {
  Window sum;
  for (const Window& window : rank.windows) {
    sum.own += window.own;
    sum.total += window.total;
    sum.data += window.data;
    sum.transfer += window.transfer;
  }
  return sum;
}

int StragglerWatch::Votes(const Rank& rank) {
  return static_cast<int>(
      std::count_if(rank.windows.begin(), rank.windows.end(),
                    [](const Window& window) { return window.is_above; }));
}

std::vector<StragglerWatch::Change> StragglerWatch::Judge() {
  std::vector<double> shares;
  std::vector<double> data_shares;
  for (const Rank& rank : ranks_) {
    if (rank.count == 0) continue;
    shares.push_back(Sum(rank).share());
    data_shares.push_back(Sum(rank).data_share());
  }
  slow_.clear();
  gain_ = 0;
  const double median = Median(shares);
  std::vector<double> deviations;
  for (const double share : shares) {
    deviations.push_back(std::abs(share - median));
  }
  const double spread = kDeviationsPerMad * Median(std::move(deviations));
  const double median_data = Median(std::move(data_shares));
  std::vector<Change> changes;
  double most = 0;
  double most_of_others = 0;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.count == 0) continue;
    const Window sum = Sum(rank);
    const int votes = Votes(rank);
    const double excess = sum.share() - median;
    const bool is_outlier =
        IsAbove(sum.share(), median, 1) && excess >= kDeviations * spread;
    const bool was_slow = rank.slow;
    rank.slow = votes >= kPassingVotes &&
                (was_slow || (is_outlier && votes >= kPersistentVotes));
    const bool is_passing = is_outlier && votes >= kPassingVotes;
    SlowRank found{.rank = static_cast<int>(i),
                   .phase = sum.data_share() - median_data >= excess / 2
                                ? SlowPhase::kData
                                : SlowPhase::kCompute,
                   .ratio = median > 0 ? sum.share() / median : 0,
                   .is_persistent = rank.slow};
    if (rank.slow || is_passing) {
      most = std::max(most, sum.share());
      slow_.push_back(found);
    } else {
      most_of_others = std::max(most_of_others, sum.share());
    }
    if (rank.slow != was_slow) {
      changes.push_back({.rank = found, .recovered = was_slow});
    }
  }
  gain_ = std::max(most - most_of_others, 0.0);
  return changes;
}

SlowRank StragglerWatch::SlowNetwork(const LinkWatch::Finding& finding) const {
  SlowRank slow{.rank = finding.rank,
                .phase = SlowPhase::kNetwork,
                .ratio = finding.slow.ratio,
                .is_persistent = finding.is_persistent};
  // With a network as quick as the others, the transfers would need 1 / ratio
  // of their time at best: if nothing but this network limits them.
  const Window sum = Sum(ranks_[finding.rank]);
  if (sum.transfer > 0 && slow.ratio > 1) {
    slow.max_gain = sum.transfer_share() * (1 - 1 / slow.ratio);
  }
  return slow;
}

std::vector<StragglerWatch::Change> StragglerWatch::JudgeLinks() {
  std::vector<Change> changes;
  for (const LinkWatch::Change& change : links_.Judge()) {
    changes.push_back(
        {.rank = SlowNetwork(change.finding), .recovered = change.recovered});
  }
  if (links_.finding().has_value()) {
    const SlowRank found = SlowNetwork(*links_.finding());
    const auto later = std::find_if(
        slow_.begin(), slow_.end(),
        [&](const SlowRank& other) { return other.rank > found.rank; });
    slow_.insert(later, found);
  }
  return changes;
}

std::vector<StragglerWatch::Change> StragglerWatch::Evaluate(
    Instant now, const std::vector<Sample>& samples) {
  due_ = now + std::max(kInterval, kIntervalPerRank * std::ssize(ranks_));
  for (Rank& rank : ranks_) rank.grew = false;
  for (const Sample& sample : samples) {
    MUSTER_CHECK(sample.rank >= 0 &&
                 static_cast<size_t>(sample.rank) < ranks_.size())
        << "rank " << sample.rank << " of " << ranks_.size();
    Follow(sample.times, ranks_[sample.rank]);
    links_.Record(sample.rank, sample.node, sample.times);
  }
  Vote();
  Divide();
  std::vector<Change> changes = Judge();
  for (const Change& change : JudgeLinks()) changes.push_back(change);
  return changes;
}

}  // namespace muster::rendezvous
