#ifndef MUSTER_RENDEZVOUS_STRAGGLERS_STRAGGLER_WATCH_H_
#define MUSTER_RENDEZVOUS_STRAGGLERS_STRAGGLER_WATCH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/progress.h"
#include "rendezvous/stragglers/link_watch.h"

namespace muster::rendezvous {

// Finds the slow ranks of one round from the times of all ranks. Pure and
// deterministic; not thread-safe.
//
// Idea: all ranks of a synchronous training need the same time for a step. The
// part that a rank spends outside of collectives is its own work. The rank with
// the most own work arrives last at the collective, and the other ranks wait
// for it. So it suffices to compare the ranks' shares: a rank's share is the
// part of its time that is own work. Neither clocks nor numbers of steps need
// to agree.
//
// Windows: a window is the time between two evaluations in which a rank's times
// have advanced by at least kMinWindow. It contains one step, or several short
// ones.
//
// A rank is slow if its share over the last kWindows windows passes three
// tests. The share is at least kMinRatio times the median of all ranks' shares.
// It exceeds the median by at least kMinExcess. It exceeds the median by
// kDeviations standard deviations of all shares (estimated from the median
// absolute deviation).
//
// In addition, single windows vote: a window votes for the rank if the rank's
// share in this window exceeds the median by at least half of each difference
// that kMinRatio and kMinExcess demand. A rank is persistently slow with
// kPersistentVotes votes, and slow for some time only (SlowRank::is_persistent
// is false) with kPassingVotes. So no rank is slow because of a single long
// pause, of noise that hits one rank after another, or of work that always
// differs a little. A rank that was persistently slow stays so until fewer than
// kPassingVotes windows vote for it.
//
// With two ranks, the smaller share is the median. If the ranks hardly wait for
// each other, all shares are near 1, and no rank is slow.
//
// The slow network of a node makes the collectives of all ranks longer by the
// same time, so the shares do not show it. LinkWatch finds such a node from the
// ranks' links.
//
// The time in collectives is divided as well: the rank with the highest share
// of own work arrives last and waits for no rank, so all of its time in
// collectives is transfer. The same part of each other rank's window is
// transfer, and the rest of that rank's time in collectives is the wait for
// later ranks. If one rank is last in some collectives of a window and another
// rank in others, each rank has waited, and a part of the wait counts as
// transfer. Nothing is divided while a rank of the round has no window, because
// that rank may be the last one.
//
// Memory: about 500 bytes for each rank. Evaluate costs O(n) for n ranks. The
// interval between evaluations grows with n, so the load on a core stays about
// the same from 20,000 ranks on.
class StragglerWatch {
 public:
  static constexpr int kWindows = 19;
  static constexpr int kPersistentVotes = 18;
  static constexpr int kPassingVotes = 8;
  static constexpr Duration kMinWindow = std::chrono::milliseconds(500);
  static constexpr double kMinRatio = 1.1;
  static constexpr double kMinExcess = 0.05;
  static constexpr double kDeviations = 3;
  static constexpr Duration kInterval = std::chrono::seconds(1);
  static constexpr Duration kIntervalPerRank = std::chrono::microseconds(50);

  // How one rank has spent its time so far. The field `local_rank` of `times`
  // is not used.
  struct Sample {
    int rank = 0;
    int node = 0;  // the index of the rank's node in the world
    RankTimes times;
  };
  // A rank that has become persistently slow, or a persistently slow rank that
  // has recovered.
  struct Change {
    SlowRank rank;
    bool recovered = false;
  };
  // The divided part of a rank's time in collectives.
  struct Division {
    Duration wait = Duration::zero();  // for ranks that arrived later
    Duration transfer = Duration::zero();
  };

  // Begins round `round` with `ranks` ranks. Forgets the times of earlier
  // rounds.
  void Begin(int round, int ranks);
  int round() const { return round_; }

  // Whether the interval since the last evaluation has passed.
  bool IsDue(Instant now) const;
  // Evaluates the newest times. `samples` need not contain all ranks; each rank
  // in it must be at least 0 and lower than the number of ranks. Returns the
  // ranks that have become persistently slow or have recovered.
  std::vector<Change> Evaluate(Instant now, const std::vector<Sample>& samples);

  // The slow ranks, ordered by rank. A node with a slow network is named by its
  // first rank.
  const std::vector<SlowRank>& slow() const { return slow_; }
  // The fraction by which a step would become shorter (0 to 1) if the slow
  // ranks were as quick as the slowest of the other ranks. Slow networks do
  // not count: transfers may be hidden behind computation.
  double gain() const { return gain_; }
  // The division of the time that `rank` has spent in collectives since Begin.
  // Zero: nothing was divided yet, or the round has no such rank.
  Division DivisionOf(int rank) const;

 private:
  // The times of one rank in a window, or their sums over several windows, in
  // seconds.
  struct Window {
    float own = 0;
    float total = 0;
    float data = 0;
    float transfer = 0;  // 0: the time in collectives was not divided
    bool is_above = false;

    double share() const { return double{own} / total; }
    double data_share() const { return double{data} / total; }
    double transfer_share() const { return double{transfer} / total; }
  };
  struct Rank {
    bool is_known = false;  // whether the rank has reported times (in `last`)
    RankTimes last;
    std::array<Window, kWindows> windows;
    int64_t count = 0;  // number of windows so far
    bool grew = false;  // whether the last evaluation added to `windows`
    bool slow = false;  // whether the rank is persistently slow
    double wait_s = 0;  // Division::wait and Division::transfer in seconds
    double transfer_s = 0;
  };

  // Adds a window to the rank: the difference between the rank's newest
  // cumulative times (`times`) and its previous ones. Adds none if the rank has
  // no previous times, or if the difference is less than kMinWindow.
  static void Follow(const RankTimes& times, Rank& rank);
  static Window& Newest(Rank& rank);
  static Window Sum(const Rank& rank);
  static int Votes(const Rank& rank);
  // Decides how the new windows vote. For each rank to which the current
  // evaluation has added a window, sets this window's is_above; true is a vote
  // that the rank is slow.
  void Vote();
  // Divides the time in collectives of each window that the current evaluation
  // has added.
  void Divide();
  // Decides from all windows which ranks are slow, and sets slow_ and gain_.
  // Returns the ranks that have become persistently slow or have recovered.
  std::vector<Change> Judge();
  // The rank that stands for a node with a slow network.
  SlowRank SlowNetwork(const LinkWatch::Finding& finding) const;
  // Adds the node that LinkWatch finds slow, if there is one, to slow_. Returns
  // the changes.
  std::vector<Change> JudgeLinks();

  int round_ = 0;
  std::vector<Rank> ranks_;
  LinkWatch links_;
  Instant due_;
  std::vector<SlowRank> slow_;
  double gain_ = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_STRAGGLERS_STRAGGLER_WATCH_H_
