#ifndef MUSTER_RENDEZVOUS_NETWORK_CHECK_NETWORK_CHECK_H_
#define MUSTER_RENDEZVOUS_NETWORK_CHECK_NETWORK_CHECK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rendezvous/network_check/gpu_judgement.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::rendezvous {

// The check of nodes by pairs: tells a bad node from a node with a bad partner.
//
//   round 1  Neighbours in the given order are paired. If the number of nodes
//            is odd, the last node has no partner in this round.
//   round 2  Each node of a bad pair, and each node that had no partner, is
//            paired with a node of a good pair, if enough of these are left.
//            The remaining nodes are paired with new partners.
//   later    The nodes that are still undecided are paired with good nodes, or
//            with each other if too few good nodes are left. Without a good
//            node there are no later rounds.
//
// With at most 3 nodes, all pairs are measured one after another, because a
// median of fewer pairs proves nothing.
//
// A pair is good if its round trip and its rate are not worse than kSlowFactor
// times the median of the nodes' best values.
//
//   - A node is good if one of its pairs is good.
//   - A node without a good pair is bad if at least two of its partners are
//     good.
//   - A node without a good pair is also bad if it never answered although a
//     partner did.
//   - Otherwise the node is undecided, for example if only one pair was
//     measured and this pair is bad.
//   - Whatever its pairs, a node is bad if its compute kernel is much slower
//     than the median, or if JudgeGpus finds that its GPUs are bad.
//
// Pure. Not thread-safe. A round costs O(n log n) for n nodes; there are
// O(log n) rounds.
class NetworkCheck {
 public:
  // A pair is bad if its round trip is longer, or its rate lower, than the
  // median by this factor.
  static constexpr double kSlowFactor = 3;
  // A node is bad if its compute kernel takes longer than the median by this
  // factor.
  static constexpr double kSlowComputeFactor = 2;
  // Minimum differences in seconds. A round trip is bad only if it exceeds the
  // median by at least kMinExcessRoundTrip; the time of a compute kernel, by at
  // least kMinExcessCompute. Smaller differences may be noise, or due to the
  // distance of the nodes.
  static constexpr double kMinExcessRoundTrip = 0.002;
  static constexpr double kMinExcessCompute = 0.0001;
  // Time limit of the measurements of one round. A node gives up its own
  // measurement earlier, so that it can still report that its partner does not
  // answer.
  static constexpr Duration kRoundTimeout = std::chrono::seconds(10);
  // Time limit of a round in which at least two of the paired nodes have GPUs.
  // It is longer, because CUDA and NCCL need seconds to start.
  static constexpr Duration kGpuRoundTimeout = std::chrono::seconds(60);

  struct Participant {
    std::string node_id;
    std::string host;
    int gpus = 0;  // number of GPUs to measure (Report::check_gpus)
  };
  struct Partner {
    std::string node_id;
    // The role of the node whose id was passed to PartnerOf. Its partner, the
    // node `node_id`, has the opposite role.
    PairCheck::Role role = PairCheck::Role::kServe;
  };
  using Grade = CheckGrade;
  struct Finding {
    std::string node_id;
    Grade grade = Grade::kGood;
    // Why the grade is not kGood: a clause whose subject is the node, with the
    // measured values and the partners. Empty if the grade is kGood.
    std::string why;
  };

  explicit NetworkCheck(Instant began) : began_(began) {}

  // Begins the round `number`: pairs nodes of `present`, whose ids must be
  // distinct. Returns false if no further measurement is needed or possible. No
  // round may be in progress.
  bool BeginRound(Instant now, uint64_t number,
                  const std::vector<Participant>& present);
  // Records the result that a node has measured with its partner. Ignores a
  // result for another round, a repeated result, and the result of a node
  // without a partner in this round.
  void Take(const std::string& node_id, const PairMeasurement& answer);
  // Handles the loss of a node: stops waiting for the answers of this node and
  // of its partner.
  void Lose(const std::string& node_id);
  // Ends the round in progress if every answer has arrived or the deadline has
  // passed.
  void EndRoundIfDue(Instant now);
  // Restarts the time limit of the round in progress, at most once in each
  // round. Must be called after the coordinator was suspended, because answers
  // may have arrived that it has not read yet.
  void ForgiveStandstill(Instant now);

  bool is_measuring() const { return is_measuring_; }
  // The deadline of the round in progress; nullopt: no round is in progress.
  std::optional<Instant> Deadline() const;
  // The node's partner in the round in progress; nullopt: the node has no
  // partner, or no round is in progress.
  std::optional<Partner> PartnerOf(const std::string& node_id) const;
  uint64_t number() const { return number_; }

  // The findings about all nodes that had a partner, by node id.
  std::vector<Finding> Judge() const;
  // Returns the result of Judge if a round has ended since the last call; else
  // nullopt.
  std::optional<std::vector<Finding>> Conclude();

  // The medians of all measured nodes as a clause, such as "; the medians of 8
  // nodes are 1.2 GB/s and 0.2 ms". Empty if no pair was measured.
  std::string MediansText() const { return DescribeMedians(ComputeMedians()); }

  int rounds() const { return rounds_; }
  // The number of nodes that had a partner or were present in a round.
  size_t size() const { return subjects_.size(); }
  Duration LastedUntil(Instant now) const { return now - began_; }

 private:
  struct Answer {
    bool came = false;
    PairMeasurement value;
  };
  // Two nodes that were paired, and their answers.
  struct Pairing {
    std::string server;
    std::string client;
    Answer of_server;
    Answer of_client;
    bool is_over = false;
  };
  struct Values {
    double round_trip_s = 0;
    double bytes_per_s = 0;
  };
  enum class Standing { kUnmeasured, kGood, kUndecided, kBad };
  struct Subject {
    std::string host;
    std::vector<size_t> pairings;  // the node's pairs, by index in pairings_
    // shortest time of the node's compute kernel so far; 0: unknown
    double compute_s = 0;
  };
  // The medians over all nodes. `network`: the medians of the nodes' shortest
  // round trips and of their highest rates. `compute_s`: the median of the
  // nodes' shortest times of the compute kernel. A median is 0 if no node has a
  // value.
  struct Medians {
    Values network;
    double compute_s = 0;
    int nodes = 0;  // number of nodes with a measured pair
  };

  static std::optional<Values> ValuesOf(const Pairing& pairing);
  static bool IsGood(const Pairing& pairing, const Medians& medians);
  Medians ComputeMedians() const;
  std::map<std::string, Standing> Standings(const Medians& medians) const;
  std::vector<GpuPairing> GpuPairings() const;
  bool HaveMet(const std::string& a, const std::string& b) const;
  bool IsSilent(const std::string& node_id, const Subject& subject) const;
  std::string Describe(const std::string& node_id,
                       const Subject& subject) const;
  std::string DescribeMedians(const Medians& medians) const;

  // The pairs of the next round.
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs PlanAllPairs(const std::vector<std::string>& ids) const;
  Pairs Plan(const std::vector<Participant>& present) const;

  const Instant began_;
  std::map<std::string, Subject> subjects_;  // key: node id
  std::vector<Pairing> pairings_;            // pairs of all check rounds so far
  // Nodes with a partner in the round in progress. Key: node id; value: index
  // into pairings_.
  std::map<std::string, size_t> current_;
  size_t awaited_ = 0;  // number of answers that the round in progress lacks
  int rounds_ = 0;
  // value of rounds_ (the number of rounds begun) when Conclude last returned
  // findings
  int concluded_ = 0;
  uint64_t number_ = 0;  // number of the newest round of measurements
  bool is_measuring_ = false;
  bool is_forgiven_ = false;
  Duration timeout_ = kRoundTimeout;  // time limit of the newest round
  Instant deadline_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_NETWORK_CHECK_NETWORK_CHECK_H_
