#ifndef MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
#define MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/job/recount.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Decides when a coordinator inside a `launch` begins to coordinate the job.
// Pure; not thread-safe.
//
//   1. While the standby knows the job's coordinator, it sends nodes to that
//      coordinator (kMoved).
//   2. Otherwise the standby keeps the nodes that connect (kStandBy). These
//      nodes have lost their coordinator. If the election takes too long, the
//      nodes try other endpoints. If nodes gather at two standbys, one standby
//      sends its nodes to the other one (Meet).
//   3. Once the connected nodes have a majority, the standby chooses an epoch
//      above all epochs that they have promised. It asks the nodes to promise
//      this epoch, that is, to obey no coordinator with a lower epoch.
//   4. Once a majority has promised the epoch, the standby is elected.
//
// The earlier coordinator needs the same majority to form a world (Job). So no
// two coordinators can form worlds at once. The nodes have a majority if one of
// three conditions holds:
//   - More than half of each constituency is connected (ConstituenciesOf).
//   - With Takeover::kAuto: the nodes that are not connected are too few to
//     form a world (OthersAreTooFew). Spares (IsSpare) do not count.
//   - At the founder, before any round: at least min_nodes nodes are connected.
//
// Before the first round, a standby other than the founder can be elected only
// by the second condition. In addition, a node must have met the founder, and
// the job must be one whose restarted agents may vote
// (JobSpec::RestartedAgentsElect). A kFormerFounder needs neither.
class Standby {
 public:
  enum class Kind {
    // The standby at the job's endpoint, to which nodes connect first. This
    // standby may begin the job without an election if no connected node has
    // met a coordinator.
    kFounder,
    // A founder that was deposed, or has learned of another coordinator. A
    // kFormerFounder is elected like a kSuccessor, but also by nodes that have
    // met no coordinator. Otherwise no process could begin the job again after
    // all nodes were started again.
    kFormerFounder,
    kSuccessor,
  };
  // Time after an announcement of another coordinator for which this standby
  // assumes that the announced coordinator still coordinates the job.
  static constexpr Duration kToldFor = std::chrono::seconds(3);
  // After this standby has sent a node to another standby, it does not send the
  // same node away again for this time. A node that comes back earlier may be
  // unable to reach the other standby.
  static constexpr Duration kStaysFor = std::chrono::seconds(10);

  // `candidate`: the lowest epoch that this standby may use if it is elected.
  // Its low kDrawnEpochBits bits are random.
  Standby(Kind kind, uint64_t candidate);

  struct Step {
    std::vector<Delivery> deliveries;
    // nullopt: this standby is not elected yet. Otherwise: the epoch with which
    // this process now coordinates the job. The caller passes Replay() to a
    // Job, and stops using the Standby.
    std::optional<uint64_t> elected;
  };

  // Handles a report from the agent that is connected by `stream`. All reports
  // on a stream are from the same node. O(log n) for most reports; O(n log n)
  // if the votes of all n nodes are counted again (Recount).
  Step Hear(Instant now, StreamId stream, const Report& report);
  // Removes the report of the closed stream `stream`. Ends the election if no
  // report is left.
  void Forget(StreamId stream);
  // A coordinator of the job that runs in another process.
  struct Leader {
    std::string endpoint;
    uint64_t epoch = 0;
  };
  // Sets the coordinator to which the agent in this standby's process is
  // connected; nullopt: the agent has lost its coordinator.
  void Follow(std::optional<Leader> leader);
  // Handles a directive that the agent in this process has received from the
  // job's coordinator. The caller drops directives with an older epoch.
  void Learn(const Directive& directive);
  // What the job's coordinator has handed over to this standby, for
  // Job::Inherit if this standby is elected; nullopt: the coordinator does not
  // name this standby, or none is known.
  const std::optional<Handover>& handover() const { return handover_; }
  // Handles an announcement: the coordinator at `endpoint` says about once a
  // second that it coordinates the job with `epoch`.
  //
  // Ignores a coordinator that has no majority of the job's nodes
  // (Backing::kMinority), if a node that is connected to this standby knows a
  // round of the job or has promised the epoch of an elected coordinator. The
  // connected nodes stay here then, because they may elect a coordinator that
  // continues the round.
  Step Told(Instant now, uint64_t epoch, const std::string& endpoint,
            Backing backing = Backing::kMajority);

  // Nodes that have lost their coordinator and have connected to the same
  // standby.
  struct Assembly {
    std::string endpoint;  // endpoint of the standby, HOST:PORT
    int nodes = 0;
    // highest epoch that any of these nodes has promised to obey; 0: none
    uint64_t promised = 0;
  };
  // Handles an announcement of another standby. A standby sends one about once
  // a second while it has nodes and knows no coordinator.
  //
  // All nodes must gather at one standby: at the one with more nodes. If both
  // have equally many, it is the one whose endpoint is first in byte order. If
  // the nodes must gather at `other`, Meet sends the nodes of this standby
  // there. It sends none away during an election, that is, while it waits for
  // their promises. `own_endpoint`: the endpoint of this standby.
  Step Meet(Instant now, const Assembly& other,
            const std::string& own_endpoint);
  // Returns the number of connected nodes that wait until enough nodes for an
  // election have connected. Returns 0 if a coordinator is known, or if this
  // standby has already asked a majority to promise its epoch.
  int Assembled(Instant now) const;
  // Returns the highest epoch that a connected node has promised; 0: none.
  uint64_t HighestPromise() const;

  // Returns the job's coordinator if it is known; nullopt: unknown.
  std::optional<Leader> Known(Instant now) const;
  // The newest report of each connected node.
  const std::map<StreamId, Report>& reports() const { return reports_; }
  // Returns reports() in the order in which an elected coordinator must pass
  // them to its Job:
  //   1. The report with the newest electorate. The Job needs it to judge
  //      whether a round may go on.
  //   2. Reports with a place in the newest round. The Job then continues this
  //      round, even if a majority of an older round is connected, too.
  //   3. Reports with places in older rounds, and those without a place.
  std::vector<std::pair<StreamId, Report>> Replay() const;

 private:
  // Whether the nodes that send `voting` have a majority. Sets `lacking` to the
  // least number of further nodes that may complete a majority. O(n log n).
  bool HaveMajority(const std::vector<const Report*>& voting,
                    int* lacking) const;
  bool HaveMajority(const std::vector<const Report*>& voting) const;
  // Counts the connected nodes.
  //   - If no election runs and the nodes have a majority, begins an election.
  //   - If an election runs and a majority has promised its epoch, this standby
  //     is elected.
  //   - If an election runs and the nodes have no majority any more, ends the
  //     election.
  //   - A founder whose nodes have met no coordinator needs no election: it
  //     begins the job at once.
  void Count(Instant now, Step& step);
  Directive NewDirective(DirectiveKind kind, std::string reason);
  // The directive for nodes that wait at this standby. Its reason is the text
  // `gathered_`, which says how many nodes have connected.
  Directive StandBy();
  // Returns the text of StandBy's directive: how many nodes are connected to
  // this standby, and for each round, how many nodes of its world. O(n log n).
  std::string Gathered() const;
  // Ends the current election without a result.
  void EndElection();
  // Removes the node's report from reports_.
  void Remove(StreamId stream);

  Kind kind_;
  // candidate_: the lowest epoch that this standby may use in its next
  // election. epoch_: the epoch of the current election; 0: there is none.
  uint64_t candidate_;
  uint64_t epoch_ = 0;
  uint64_t revision_ = 0;
  std::optional<Leader> followed_;
  std::optional<Handover> handover_;
  uint64_t handover_epoch_ = 0;  // epoch of the sender of handover_
  struct Announced {
    Leader leader;
    Instant until;
  };
  std::optional<Announced> announced_;
  std::map<StreamId, Report> reports_;
  std::map<std::string, StreamId> streams_;  // keys of `reports_` by node id
  Recount recount_;
  // Text for the nodes, from the newest count: how many nodes are connected to
  // this standby, and for each round whose nodes elect, how many of its nodes
  // are connected.
  std::string gathered_;
  // The nodes that Meet has sent to another standby within the last 10 s
  // (kStaysFor). Key: node id.
  std::map<std::string, Instant> sent_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
