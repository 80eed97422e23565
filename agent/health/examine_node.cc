#include "agent/health/examine_node.h"

namespace muster::agent {

std::vector<Finding> ExamineNode(const NodeFacts& facts) {
  std::vector<Finding> findings;
  for (const std::vector<Finding>& part :
       {ExamineVersions(facts), ExamineGpus(facts.gpus, facts.surroundings),
        ExamineGpuCount(facts.gpus_needed, facts.gpus),
        ExamineLinks(facts.gpus, facts.surroundings), ExamineEnvironment(facts),
        ExamineNetwork(facts.network),
        facts.coordinator
            ? ExamineCoordinator(*facts.coordinator, facts.version)
            : std::vector<Finding>(),
        ExamineMachine(facts.host, facts.network),
        ExamineDisks(facts.folders)}) {
    findings.insert(findings.end(), part.begin(), part.end());
  }
  return findings;
}

}  // namespace muster::agent
