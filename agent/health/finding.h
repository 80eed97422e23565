#ifndef MUSTER_AGENT_HEALTH_FINDING_H_
#define MUSTER_AGENT_HEALTH_FINDING_H_

#include <string>
#include <vector>

namespace muster::agent {

// Ordered from the best to the worst.
enum class Severity {
  kOk,       // examined, no problem
  kNote,     // information only
  kWarning,  // reduces speed, or fails occasionally
  kError,    // training fails, or its results are wrong
};

// "ok", "note", "warning", "error".
const char* SeverityText(Severity severity);

// The groups of findings, in the order of a page.
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

// The title of a group on a page.
const char* GroupTitle(FindingGroup group);

// A kind of finding; docs/DOCTOR.md lists all kinds.
struct FindingKind {
  const char* id;       // "gpu-lost"; its meaning never changes
  Severity severity;    //
  FindingGroup group;   //
  const char* meaning;  // one or two sentences
  const char* remedy;   // what the user should do; may be empty
  // the check of --health-checks to which this kind belongs; may be empty
  const char* check;
};

// All kinds, ordered by group.
const std::vector<FindingKind>& FindingKinds();

// One result of the examination of a node: a problem, a note, or that something
// is in order.
struct Finding {
  Severity severity = Severity::kOk;
  std::string id;
  std::string what;  // one line: what is wrong, and where
  std::string remedy;
};

// Makes a finding of the kind `id`, which must be one of FindingKinds.
Finding Found(const std::string& id, std::string what);

// The kind of a finding; null for an unknown id (of another version).
const FindingKind* KindOf(const std::string& id);

// The worst severity among `findings`; kOk if there are none.
Severity WorstOf(const std::vector<Finding>& findings);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_FINDING_H_
