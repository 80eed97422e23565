#ifndef MUSTER_RENDEZVOUS_JOB_ELECTORS_H_
#define MUSTER_RENDEZVOUS_JOB_ELECTORS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/job/membership.h"
#include "rendezvous/job/world.h"
#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// The electors: the nodes of the newest world that is known to have begun on
// all of its nodes, or else of the job's first world. They elect the
// coordinator's successor. If nodes may take over, a new world forms only with
// half of the electors, so that no other coordinator can have a majority of
// them.
//
// A newer world may have begun on all of its nodes although this coordinator
// does not know it yet. Half of the electors belong to that world, so at least
// one node of each majority of the electors knows it.
struct Electors {
  WorldId world;
  int nodes = 0;  // number of the world's nodes; 0: no world has begun
  struct Elector {
    int rank = 0;
    uint64_t incarnation = 0;
    // Whether the agent has left the job at its own request and will not vote
    // for a coordinator any more.
    bool is_gone = false;
  };
  std::map<std::string, Elector> known;  // electors by node id
  std::set<int> ranks;                   // group ranks of the known electors
  int gone = 0;                          // number of electors that left the job
  // The node ids and the agents' incarnations of all nodes of the electors'
  // world; the index is the group rank. Both are empty in a world that is too
  // large to be listed (Electorate::incarnations).
  std::vector<std::string> members;
  std::vector<uint64_t> incarnations;
  // Whether this is the job's first world, and this coordinator does not know
  // yet that it has begun on all of its nodes. Most of its nodes may then have
  // received no directive that tells them that they are electors.
  bool is_forming = false;

  // The electors of an electorate that a node reports; none is known yet.
  static Electors Of(const Electorate& electorate);
  // The electors of the world of round `round`. Known are the members whose
  // agents are in `nodes`. A member may have succeeded and been lost before the
  // last one began; its agent, if it was started again, has forgotten the
  // world. O(n log n).
  static Electors Of(const World& world, int round, const Membership& nodes);

  // Adds an elector. Returns false if the node is in the list already, even if
  // its agent has left. Also returns false if its rank is out of range or
  // belongs to another elector. O(log n).
  bool Add(const std::string& node_id, const Elector& elector);
  // Adds the node that sent `report` if the report shows that the node has a
  // rank in the electors' world, or this world lists its agent (VotingRank).
  // Returns the rank; -1: the node was not added (Add). Needed for nodes that
  // report only after a round of an earlier coordinator was adopted or given
  // up.
  int Join(const Report& report);
  // Records that the agent, if it is an elector, has left for good and will not
  // vote for a coordinator any more.
  void Leave(const NodeIdentity& agent);
  // Whether the agent of `node` is an elector that has not left.
  bool Has(const NodeIdentity& node) const;
  // Returns the agent's group rank if it is an elector; else -1. A restarted
  // agent has forgotten which coordinators it promised to obey. Therefore it is
  // no elector, except with JobSpec::RestartedAgentsElect.
  int RankOf(const NodeIdentity& node, const JobSpec& spec) const;
  // Whether no other coordinator can have a majority of the electors. True if
  // `present` (the number of present electors) and `left` (the number of those
  // that have left) are together at least half of the world.
  //
  // With Takeover::kAuto, an agent that left and was started again may have
  // helped another coordinator to begin a world. Electors that have left then
  // count only in two cases: `present` is at least half of min_nodes
  // (MaxElsewhere), or two worlds can never run at once
  // (JobSpec::RestartedAgentsElect).
  bool AreHalf(int present, int left, const JobSpec& spec) const;
  // Whether no other coordinator can have a majority of the electors, if
  // `present` electors are present and `gone` electors have left.
  bool AreHalf(int present, const JobSpec& spec) const {
    return AreHalf(present, gone, spec);
  }
};

// A world that formed after the electors' world. As far as this coordinator
// knows, the world may have begun on all of its nodes, and may still run
// there. If an earlier coordinator formed this world, its nodes may even know
// that they are the electorate now. So no other world forms until enough
// nodes of this world have stopped.
struct LaterWorld {
  WorldId world;  // round 0: this coordinator knows of no later world
  // How many nodes of the world must have stopped. If this coordinator has
  // formed the world: one, because the world then no longer runs on all of
  // its nodes. Otherwise more than half: the remaining nodes are then too few
  // to elect another coordinator.
  int needed = 0;
  // Group ranks of the nodes that have stopped, and have got a directive with
  // the electorate of this coordinator.
  std::set<int> stopped;
  // The incarnations of the world's agents by node id, if this coordinator
  // has formed the world; else empty.
  std::map<std::string, uint64_t> members;
  // Ids of the connected nodes, of this world or not, for which three things
  // hold: they run no worker of the world and never will; they have got a
  // directive with the electorate of this coordinator; they are no spares.
  // With Takeover::kAuto, the nodes that are not in this set may be
  // too few for a world (OthersAreTooFew). This world then never runs on all
  // of its nodes, and its nodes never elect a coordinator.
  std::set<std::string> reached;
  // The next three fields are set only if an earlier coordinator formed this
  // world.
  //
  // The place that one of the world's nodes has reported.
  Place place;
  // The group ranks of the electors that may be unaware of this world: its
  // coordinator was lost before they had its order to begin (UnawareRank).
  std::set<int> unaware;
  // The number of electors that may belong to this world (CandidatesOf).
  // nullopt: the world formed under another electorate, so that `unaware` is
  // not used.
  std::optional<int> candidates;

  // The newest world in the reports that formed after the world `electorate`.
  // This may be a world that no longer counts in elections (IsVoid), because
  // workers may still run there. O(n).
  static LaterWorld After(const WorldId& electorate,
                          const std::vector<const Report*>& reports);
  // A world that this coordinator has formed, with these members.
  static LaterWorld Formed(const WorldId& world,
                           const std::vector<const Node*>& members);

  bool exists() const { return world.round > 0; }
  // Updates this value from a node's report. Resets it once the report shows
  // that the world does not run on all of its nodes. `epoch`: that of this
  // coordinator. `electorate`: the electors' world.
  void Follow(const Node& node, const Report& report, uint64_t epoch,
              const WorldId& electorate, const JobSpec& spec);
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_ELECTORS_H_
