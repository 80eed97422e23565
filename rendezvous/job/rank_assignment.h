#ifndef MUSTER_RENDEZVOUS_JOB_RANK_ASSIGNMENT_H_
#define MUSTER_RENDEZVOUS_JOB_RANK_ASSIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Compares `a` and `b` for sorting; returns a number below, equal to or above
// 0. Runs of digits compare as numbers of any length, so node2 sorts before
// node10. (In plain string order, neighbours of a ring would be far apart in
// the machine room: pytorch/pytorch#191190.) Only equal strings compare equal:
// node02 sorts after node2.
int CompareNaturally(const std::string& a, const std::string& b);

// A node that could have a place in the next world.
struct Candidate {
  const NodeIdentity* identity = nullptr;
  uint64_t joined = 0;  // number of the node in order of arrival
  // The node's group rank in the previous world; nullopt: it was no member.
  std::optional<int> previous_rank;
};

// The layout of a world: `order[r]` is the index of the candidate that gets
// group rank r. Each of `notes` is a sentence: which requested node rank was
// not used, and why.
struct Assignment {
  std::vector<size_t> order;
  std::vector<std::string> notes;
};

// Chooses at most `most` candidates and assigns the ranks 0, 1, … to them.
//
// Choice: members of the previous world first, then the other candidates in the
// order of their arrival. Ranks: an explicit node rank is used if it fits. A
// member of the previous world keeps its rank if that rank still exists. The
// others fill the free ranks. So a replacement gets the rank of the node that
// it replaces, and no other node moves.
//
// Free ranks are filled so that neighbours in the network get adjacent ranks.
// In a new world, nodes with equal topology keys (outermost first) always stay
// together. Groups, and the nodes within a group, are sorted by the lowest
// Slurm or Kubernetes index in them, then in natural host order; so index 0
// gets rank 0. If some ranks are already fixed, a free rank goes to the node
// that is nearest in the network to the neighbours of that rank.
//
// No two candidates may have the same node_rank or node_id.
Assignment AssignRanks(const std::vector<Candidate>& candidates, int most);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_RANK_ASSIGNMENT_H_
