#ifndef MUSTER_AGENT_FITNESS_EXAMINE_NODE_H_
#define MUSTER_AGENT_FITNESS_EXAMINE_NODE_H_

#include <vector>

#include "agent/fitness/finding.h"
#include "agent/fitness/node_facts.h"

namespace muster::agent {

// Everything there is to say of a node, group by group. Pure.
std::vector<Finding> ExamineNode(const NodeFacts& facts);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FITNESS_EXAMINE_NODE_H_
