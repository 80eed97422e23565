#ifndef MUSTER_AGENT_HEALTH_FINDING_H_
#define MUSTER_AGENT_HEALTH_FINDING_H_

#include <string>
#include <vector>

namespace muster::agent {

// From the best to the worst, so that they compare.
enum class Severity {
  kOk,       // looked at, and as it should be
  kNote,     // worth knowing
  kWarning,  // costs speed, or fails now and then
  kError,    // training fails, or gives wrong results
};

// "ok", "note", "warning", "error".
const char* SeverityText(Severity severity);

// The parts of a page of findings, in its order.
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

// The title of a group, as pages show it.
const char* GroupTitle(FindingGroup group);

// What there is to say of a kind of finding; docs/DOCTOR.md is made of these.
struct FindingKind {
  const char* id;       // "gpu-lost"; never changes its meaning
  Severity severity;    //
  FindingGroup group;   //
  const char* meaning;  // one or two sentences
  const char* remedy;   // what to do; empty where there is nothing to
  const char* check;    // the check of --health-checks it belongs to; or empty
};

// Every kind, group by group.
const std::vector<FindingKind>& FindingKinds();

// One thing found on a node.
struct Finding {
  Severity severity = Severity::kOk;
  std::string id;
  std::string what;  // one line: what is wrong, and where
  std::string remedy;
};

// A finding of the kind `id`, which must be one of FindingKinds.
Finding Found(const std::string& id, std::string what);

// The kind of a finding; null for an id that is none (of another version).
const FindingKind* KindOf(const std::string& id);

// The worst among `findings`; kOk if there are none.
Severity WorstOf(const std::vector<Finding>& findings);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_FINDING_H_
