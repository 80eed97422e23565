#ifndef MUSTER_AGENT_HEALTH_EXAMINE_NODE_H_
#define MUSTER_AGENT_HEALTH_EXAMINE_NODE_H_

#include <vector>

#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::agent {

// All findings about a node, ordered by group. Pure.
std::vector<Finding> ExamineNode(const NodeFacts& facts);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_EXAMINE_NODE_H_
