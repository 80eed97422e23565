#include "rendezvous/stragglers/link_watch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::rendezvous {
namespace {

bool Touches(const LinkShare& link, int node) {
  return link.from_node == node || link.to_node == node;
}

int OtherEnd(const LinkShare& link, int node) {
  return link.from_node == node ? link.to_node : link.from_node;
}

// Returns `node`, with its SlowNode::ratio, if the network of `node` is slow;
// otherwise nullopt. `top` is the link with the highest LinkShare::share;
// `node` must be one of the two nodes that `top` connects.
std::optional<SlowNode> Examine(const std::vector<LinkShare>& links,
                                const LinkShare& top, int node) {
  // The highest LinkShare::share of the links between `node` and other nodes,
  // except the links between the two nodes that `top` connects.
  double second = 0;
  // The highest LinkShare::share and the highest LinkShare::rate of the links
  // that do not touch `node`. If there are none, both are 0, and the node is
  // not found slow.
  double others = 0;
  double fastest = 0;
  for (const LinkShare& link : links) {
    if (!Touches(link, node)) {
      others = std::max(others, link.share);
      fastest = std::max(fastest, link.rate);
    } else if (OtherEnd(link, node) != OtherEnd(top, node)) {
      second = std::max(second, link.share);
    }
  }
  const double least =
      std::max(kMinLinkRatio * others, others + kMinLinkExcess);
  bool sends_slowly = false;
  for (const LinkShare& link : links) {
    if (link.from_node == node && link.share >= least && link.rate > 0 &&
        link.rate * kMinLinkRatio <= fastest) {
      sends_slowly = true;
    }
  }
  if (second < least || !sends_slowly) return std::nullopt;
  return SlowNode{.node = node,
                  .ratio = second / std::max(others, kLeastOtherShare)};
}

}  // namespace

std::optional<SlowNode> SlowestNode(const std::vector<LinkShare>& links) {
  const auto top = std::max_element(
      links.begin(), links.end(),
      [](const LinkShare& a, const LinkShare& b) { return a.share < b.share; });
  if (top == links.end()) return std::nullopt;
  // A slow node has a link with a higher LinkShare::share than all links
  // between other nodes. So the slow node can only be one of the two nodes of
  // the link with the highest share.
  for (const int node : {top->from_node, top->to_node}) {
    const std::optional<SlowNode> slow = Examine(links, *top, node);
    if (slow.has_value()) return slow;
  }
  return std::nullopt;
}

void LinkWatch::Begin(int ranks) {
  MUSTER_CHECK(ranks >= 0);
  ranks_.assign(static_cast<size_t>(ranks), Rank());
  votes_.fill(kNobody);
  count_ = 0;
  slow_ = kNone;
  finding_.reset();
}

void LinkWatch::Record(int rank, int node, const RankTimes& times) {
  MUSTER_CHECK(rank >= 0 && static_cast<size_t>(rank) < ranks_.size() &&
               node >= 0);
  Rank& known = ranks_[rank];
  const auto passed = [](Duration from, Duration to) {
    return ToSeconds(to) - ToSeconds(from);
  };
  const double own = passed(known.last.own, times.own);
  const double blocked = passed(known.last.blocked, times.blocked);
  if (known.node == kNone || own < 0 || blocked < 0) {
    // `times` are the first times of this rank or of its new worker process. A
    // window is the time between two records of a rank's times, so there is no
    // window yet.
    known = Rank();
    known.node = node;
    known.last = times;
    return;
  }
  if (own + blocked < ToSeconds(kMinWindow)) return;
  known.shares.clear();
  for (const LinkTime& link : times.links) {
    const auto last = std::find_if(
        known.last.links.begin(), known.last.links.end(),
        [&](const LinkTime& one) { return one.peer == link.peer; });
    // Skip a link that known.last, the rank's previous times, does not contain:
    // for how long the network has limited this link since then is unknown.
    if (last == known.last.links.end()) continue;
    const double limited = passed(last->limited, link.limited);
    known.shares.push_back(
        {.peer = link.peer,
         .share = std::clamp(limited / (own + blocked), 0.0, 1.0)});
  }
  const double sent =
      static_cast<double>(times.sent) - static_cast<double>(known.last.sent);
  known.sent_per_s = std::max(sent, 0.0) / (own + blocked);
  known.last = times;
  known.is_fresh = true;
}

bool LinkWatch::IsDue() const {
  int64_t fresh = 0;
  int64_t known = 0;
  for (const Rank& rank : ranks_) {
    if (rank.shares.empty()) continue;
    ++known;
    fresh += rank.is_fresh ? 1 : 0;
  }
  return known > 0 && 2 * fresh >= known;
}

std::vector<LinkShare> LinkWatch::Links() const {
  std::vector<LinkShare> links;
  for (const Rank& rank : ranks_) {
    const size_t first = links.size();
    double slowest = 0;
    for (const PeerShare& one : rank.shares) {
      if (one.peer < 0 || one.peer >= std::ssize(ranks_)) continue;
      const int to = ranks_[one.peer].node;
      if (to == kNone || to == rank.node) continue;
      slowest = std::max(slowest, one.share);
      links.push_back(
          {.from_node = rank.node, .to_node = to, .share = one.share});
    }
    if (slowest == 0) continue;
    for (size_t i = first; i < links.size(); ++i) {
      links[i].rate = rank.sent_per_s / slowest;
    }
  }
  return links;
}

int LinkWatch::Votes(int node) const {
  return static_cast<int>(
      std::count_if(votes_.begin(), votes_.end(),
                    [&](const SlowNode& vote) { return vote.node == node; }));
}

LinkWatch::Finding LinkWatch::FindingFor(int node) const {
  Finding finding{.slow = {.node = node}};
  for (const SlowNode& vote : votes_) {
    if (vote.node == node) finding.slow.ratio += vote.ratio / Votes(node);
  }
  const auto first =
      std::find_if(ranks_.begin(), ranks_.end(),
                   [&](const Rank& rank) { return rank.node == node; });
  finding.rank = static_cast<int>(first - ranks_.begin());
  finding.is_persistent = node == slow_;
  return finding;
}

std::vector<LinkWatch::Change> LinkWatch::Judge() {
  if (!IsDue()) return {};
  for (Rank& rank : ranks_) rank.is_fresh = false;
  const SlowNode vote = SlowestNode(Links()).value_or(kNobody);
  votes_[count_++ % kWindows] = vote;
  std::vector<Change> changes;
  if (slow_ != kNone && Votes(slow_) < kPassingVotes) {
    changes.push_back({.finding = FindingFor(slow_), .recovered = true});
    slow_ = kNone;
  }
  if (vote.node != kNone && vote.node != slow_ &&
      Votes(vote.node) >= kPersistentVotes) {
    slow_ = vote.node;
    changes.push_back({.finding = FindingFor(slow_)});
  }
  finding_.reset();
  if (slow_ != kNone) {
    finding_ = FindingFor(slow_);
  } else if (vote.node != kNone && Votes(vote.node) >= kPassingVotes) {
    finding_ = FindingFor(vote.node);
  }
  return changes;
}

}  // namespace muster::rendezvous
