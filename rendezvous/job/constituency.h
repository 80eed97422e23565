#ifndef MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
#define MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_

#include <vector>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

WorldId IdOf(const Place& place);

// Returns the node's group rank in `world` if its agent has a place in that
// world, or knows that world as the electorate; -1 otherwise.
int RankOf(const Report& report, const WorldId& world);

// Like RankOf, but the node may also have been in `world` just before the world
// of its place. Such a node remembers its promises, so it votes in `world`.
int ElectorRank(const Report& report, const WorldId& world);

// Returns the group rank of the agent in a world that lists its nodes and their
// incarnations; -1: the world does not list this agent, or its node had another
// agent there. A listed agent remembers its promises, so it votes in the world
// even if it has not learned that it belongs to it.
int ListedRank(const std::vector<std::string>& members,
               const std::vector<uint64_t>& incarnations,
               const NodeIdentity& agent);

// Like ElectorRank, but also for an agent that the world lists (ListedRank).
int VotingRank(const Report& report, const WorldId& world,
               const std::vector<std::string>& members,
               const std::vector<uint64_t>& incarnations);

// Returns the electorate (the world whose nodes elect a coordinator) that the
// newest coordinator has sent to any of the reporting nodes. Returns a default
// Electorate if no report has one. Do not use the result's `rank`: it is the
// rank of the node that sent the report. O(n).
Electorate NewestElectorate(const std::vector<const Report*>& reports);

// Whether the world of `place` is void: unless it has already begun on all of
// its nodes, it never will. An election needs no majority of a void world,
// although such a world may still run. A world is void in two cases: it is
// older than the world of the electorate `newest`; or the coordinator that
// formed it has a lower epoch than the coordinator that sent `newest`. The
// world of `newest` itself is never void.
bool IsVoid(const Place& place, const Electorate& newest);

// Returns the newest world that formed after the world of the electorate
// `newest` and can still begin on all of its nodes (it is not IsVoid), as the
// place of one of its nodes. Null: no such world is known.
const Place* WorldAfter(const Electorate& newest,
                        const std::vector<const Report*>& reports);

// Returns the number of nodes of an electorate that can be members of a newer
// world: those whose node ids are in both lists, `electorate` and `world`. If a
// list is empty or incomplete, returns `nodes`, the number of nodes of the
// electorate.
int CandidatesOf(int nodes, const std::vector<std::string>& electorate,
                 const std::vector<std::string>& world);

// Returns the group rank in the world `electorate` of a node that may be
// unaware of the newer world of `place`; -1 if the node is certainly not
// unaware, or has no rank. An unaware node belongs to the newer world, but does
// not know this: the coordinator that formed that world was lost before its
// order to begin reached the node. If an unaware node has promised to obey no
// older coordinator, the newer world never begins on all of its nodes.
int UnawareRank(const Report& report, const Place& place,
                const WorldId& electorate);
// Whether at least one node is certainly unaware of the newer world
// (UnawareRank). `unaware`: the number of nodes that may be unaware.
// `in_world`: the number of nodes of the electorate that belong to the newer
// world (Place::electors). `candidates`: the number of nodes of the electorate
// that may belong to the newer world (CandidatesOf). Of these, only
// `candidates` - `in_world` do not belong to it. If `unaware` exceeds this
// number, an unaware node belongs to the newer world.
bool IsMemberUnaware(int unaware, int in_world, int candidates);
// Whether the node belongs to the world of `place`, and certainly has not
// learned of it. Only a world that lists its nodes and their incarnations shows
// this, whatever its electorate was. If the node has promised to obey no older
// coordinator, the world never begins on all of its nodes.
bool IsUnawareMember(const Report& report, const Place& place);
// Whether the world of `place`, which formed after the electorate `newest`,
// never begins on all of its nodes, because a voting node belongs to it and has
// not learned of it. O(n log n).
bool CannotBegin(const Place& place, const Electorate& newest,
                 const std::vector<const Report*>& voting);

// A constituency: a world whose nodes vote in the election of a coordinator.
struct Constituency {
  WorldId world;
  int nodes = 0;
  // Number of voting nodes that remember this world, or belong to it without
  // having learned of it (ListedRank).
  int voters = 0;
  // Number of voting nodes of this world whose agents were started again since
  // the world formed. A new agent knows neither this world nor the promises of
  // the earlier agent, so its node is recognised by its node id (`members`).
  int returned = 0;
  // the node ids of the world, by group rank; empty: not listed
  std::vector<std::string> members;
  // the incarnations of their agents; empty: not listed
  std::vector<uint64_t> incarnations;

  // Whether the nodes counted by `voters` and `returned` may elect a
  // coordinator. They must together be more than half of the world, and
  // `voters` alone must be at least half of it. Half is enough: any other
  // majority contains one of these voters. If that majority has elected another
  // coordinator, the voter's report shows its promise to that coordinator.
  bool has_majority() const;
};

// Returns the worlds whose majorities are needed to elect a coordinator, in
// ascending order. There are at most two:
// - The world of the newest electorate in the reports `known`, if a report has
//   an electorate.
// - The newest world that formed after that one (WorldAfter), unless it never
//   begins on all of its nodes (CannotBegin). Once its coordinator learns that
//   it has begun on all, its nodes are the electorate there. That coordinator
//   can then form another world with their votes alone, so that an election
//   needs a majority of them, too.
//
// Worlds that formed between these two do not count: their coordinator replaced
// each of them before it had begun on all of its nodes.
//
// `voting`: the reports of the nodes that vote. A node that was restarted votes
// in the worlds that list its node id (Electorate::members, Place::members),
// but only if JobSpec::RestartedAgentsElect. If several nodes report the same
// rank of a world, only one of these nodes counts. O(n log n) for n reports.
std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting);

// The highest number of nodes that may be connected to another coordinator when
// this coordinator begins a world or ends a job without a majority
// (OthersAreTooFew):
// - Less than half of min_nodes. These are less than half of any world, whether
//   this coordinator knows the world or not.
// - With JobSpec::RestartedAgentsElect, less than half of max_nodes. These are
//   too few for a world.
int MaxElsewhere(const JobSpec& spec);

// Whether the nodes that are not connected to this coordinator are too few to
// begin a world or to end a job. Always false without Takeover::kAuto.
//
// `here`: number of connected nodes, without spares (IsSpare). With kAuto at
// most max_nodes nodes run besides spares, so there are at most m = max_nodes -
// `here` other nodes. They are too few if both of the following hold:
// - m is at most MaxElsewhere.
// - Each constituency has more than 2 m nodes or has a connected majority.
bool OthersAreTooFew(const JobSpec& spec, int here,
                     const std::vector<Constituency>& constituencies);

// Whether the node may be a spare: its coordinator has told it so, and it has
// had no place since.
bool IsSpare(const Report& report);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_CONSTITUENCY_H_
