#ifndef MUSTER_RENDEZVOUS_JOB_RANK_ASSIGNMENT_H_
#define MUSTER_RENDEZVOUS_JOB_RANK_ASSIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/report.h"

namespace muster {

// A node that could have a place in the next world.
struct Candidate {
  const NodeIdentity* identity = nullptr;
  uint64_t joined = 0;               // order of arrival
  std::optional<int> previous_rank;  // its group rank in the world before
};

// A world: `order[r]` is the index of the candidate with group rank r. `notes`
// say, one sentence each, which wish was not followed and why.
struct Assignment {
  std::vector<size_t> order;
  std::vector<std::string> notes;
};

// Chooses at most `most` candidates and ranks them densely from 0.
//
// Chosen: members of the previous world first, then by arrival. Ranked: an
// explicit node rank that fits is honoured; a survivor keeps its rank where it
// still exists; the others take the holes. So a replacement takes the place of
// the one it replaces, and nobody else moves.
//
// The holes are taken so that neighbours in the network get neighbouring ranks:
// nodes with equal topology keys, from the outermost inwards, stay together, in
// a new world without exception; such groups, and the nodes within one, come
// in the order of the least Slurm's or Kubernetes' index in them, and then in
// natural host order. So index 0 has rank 0. In a world with fixed places a
// hole goes to the one that is nearest to those beside it.
//
// No two candidates have the same node_rank or node_id.
Assignment AssignRanks(const std::vector<Candidate>& candidates, int most);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_RANK_ASSIGNMENT_H_
