#ifndef MUSTER_RENDEZVOUS_STRAGGLERS_LINK_WATCH_H_
#define MUSTER_RENDEZVOUS_STRAGGLERS_LINK_WATCH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/progress.h"

namespace muster::rendezvous {

// The sends of one rank to one rank of another node, in a window (the time
// between two records of the sending rank's times).
struct LinkShare {
  int from_node = 0;
  int to_node = 0;
  // The part of the time, 0 to 1, during which the network limited the sends.
  double share = 0;
  // Bytes per second: all bytes that the sending rank sent in the window,
  // divided by the time for which the network limited its slowest link. 0:
  // unknown.
  double rate = 0;
};

// A node whose network is slower than that of the other nodes.
struct SlowNode {
  int node = 0;
  // How slow the node's links are: the part of the time during which the
  // network limits them (LinkShare::share), divided by the highest such part of
  // the links between other nodes; at most 1 / kLeastOtherShare.
  double ratio = 0;
};

// The limits of SlowestNode, which finds the node that all slow links have in
// common. Links inside a node must not be given. Pure. O(number of links).
//
// SlowestNode judges one node after another. It compares the node's own links
// (those from or to the node) with all other links. An own link is slow if its
// LinkShare::share
//   - is at least kMinLinkRatio times the highest share of the other links, and
//   - exceeds that highest share by at least kMinLinkExcess.
// The node is the result if both of these conditions hold; at most one node can
// satisfy them:
//   - Its links with at least two other nodes are slow. (A single slow link
//     does not show which of its two nodes is the cause.)
//   - At least one of these slow links leads from the node to another node, and
//     its rate is at most the highest rate of the other links, divided by
//     kMinLinkRatio. (Otherwise the node may just have more to send or to
//     receive, such as the root of a broadcast.)
//
// nullopt: no node satisfies the conditions, or there is no link between other
// nodes. So with two nodes no node is named.
inline constexpr double kMinLinkRatio = 2;
inline constexpr double kMinLinkExcess = 0.1;
// The divisor of SlowNode::ratio is the highest LinkShare::share of the links
// between other nodes, but at least kLeastOtherShare, so that the ratio stays
// finite.
inline constexpr double kLeastOtherShare = 0.01;
std::optional<SlowNode> SlowestNode(const std::vector<LinkShare>& links);

// Finds the node with a slow network in one round, from the links of all ranks.
// Pure and deterministic; not thread-safe.
//
// A window of a rank is the time between two records of the rank's times. Judge
// adds votes. A vote is the node that SlowestNode finds in the newest windows
// of all ranks; it may be none. The last kWindows votes decide:
//   - kPersistentVotes or more votes for a node: it is persistently slow, until
//     it has fewer than kPassingVotes votes.
//   - Otherwise, kPassingVotes or more votes for a node: it is slow, but not
//     persistently.
// At most one node is slow at a time.
//
// Memory: about 150 bytes for each rank, and 32 bytes for each of its links.
class LinkWatch {
 public:
  static constexpr int kWindows = 19;
  static constexpr int kPersistentVotes = 18;
  static constexpr int kPassingVotes = 8;
  // Minimum length of a rank's window (the time between two records of the
  // rank's times).
  static constexpr Duration kMinWindow = std::chrono::milliseconds(500);

  struct Finding {
    // The slow node. A vote is one result of SlowestNode. `slow.ratio` is the
    // mean ratio of those votes, among the last kWindows, that name this node.
    SlowNode slow;
    int rank = 0;  // the lowest rank on the node
    bool is_persistent = false;
  };
  // A node that has become persistently slow, or has recovered.
  struct Change {
    Finding finding;
    bool recovered = false;
  };

  // Begins a round with `ranks` ranks. Forgets the times and votes of earlier
  // rounds.
  void Begin(int ranks);

  // Records the newest times of `rank`, a worker of `node`. `rank` must be at
  // least 0 and lower than the number of ranks. A link to a rank that does not
  // exist, or whose times were not recorded yet, does not count.
  void Record(int rank, int node, const RankTimes& times);

  // Adds a vote if at least half of the ranks with links have had a new window
  // since the last vote. The vote is for the node that SlowestNode finds in the
  // newest windows, or for none. Returns the nodes that have become
  // persistently slow or have recovered.
  std::vector<Change> Judge();

  // The node that is slow now; nullopt: none.
  const std::optional<Finding>& finding() const { return finding_; }

 private:
  struct PeerShare {
    int peer = 0;
    double share = 0;
  };
  struct Rank {
    int node = kNone;  // the rank's node; kNone: the rank has given no times
    RankTimes last;
    // for each peer of the rank: the part of the newest window during which the
    // network limited the sends to this peer
    std::vector<PeerShare> shares;
    // sent bytes per second in the newest window
    double sent_per_s = 0;
    // whether a window of this rank was added since the last vote
    bool is_fresh = false;
  };
  static constexpr int kNone = -1;
  static constexpr SlowNode kNobody = {.node = kNone};

  bool IsDue() const;
  std::vector<LinkShare> Links() const;
  int Votes(int node) const;
  Finding FindingFor(int node) const;

  std::vector<Rank> ranks_;
  std::array<SlowNode, kWindows> votes_;
  int64_t count_ = 0;  // number of votes so far in this round
  int slow_ = kNone;   // the node that is persistently slow; kNone: no node
  std::optional<Finding> finding_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_STRAGGLERS_LINK_WATCH_H_
