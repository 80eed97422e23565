#ifndef MUSTER_AGENT_HEALTH_FINDING_H_
#define MUSTER_AGENT_HEALTH_FINDING_H_

#include <string>
#include <vector>

namespace muster::agent {

// The severity of a finding, ordered from the best to the worst.
enum class Severity {
  kOk,       // an examination that found no problem
  kNote,     // information only
  kWarning,  // a problem that reduces speed or causes occasional failures
  kError,    // a problem that makes training fail or its results wrong
};

// Returns "ok", "note", "warning" or "error".
const char* SeverityText(Severity severity);

// The groups of findings, in the order in which a report shows them.
enum class FindingGroup {
  kVersions,
  kGpus,
  kLinks,
  kEnvironment,
  kNetwork,
  kCoordinator,
  kMachine,
  kDisks,
  kNodes,
};
inline constexpr int kFindingGroups = 9;

// The title of a group in a report.
const char* GroupTitle(FindingGroup group);

// A kind of finding; docs/DOCTOR.md lists all kinds.
struct FindingKind {
  const char* id;  // identifier such as "gpu-lost"; its meaning never changes
  Severity severity;    //
  FindingGroup group;   //
  const char* meaning;  // explanation in one or two sentences
  const char* remedy;   // advice for the user; may be empty
  // The health check ("gpu", "disk", "memory" or "shm" of --health-checks) that
  // fails if a node has an error of this kind; may be empty.
  const char* check;
};

// All kinds of findings, ordered by group.
const std::vector<FindingKind>& FindingKinds();

// One result of the examination of a node: a problem, a note, or the statement
// that something is in order.
struct Finding {
  Severity severity = Severity::kOk;
  std::string id;
  std::string what;  // one line: what is wrong, and where
  std::string remedy;
};

// Creates a finding of the kind with this `id`, which must be in FindingKinds.
Finding Found(const std::string& id, std::string what);

// The kind with this `id`; null if the id is unknown, for instance from another
// version of Muster.
const FindingKind* KindOf(const std::string& id);

// The worst severity among `findings`; kOk if there are none.
Severity WorstOf(const std::vector<Finding>& findings);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_FINDING_H_
