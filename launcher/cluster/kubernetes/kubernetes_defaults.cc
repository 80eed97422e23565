#include "launcher/cluster/kubernetes/kubernetes_defaults.h"

#include <arpa/inet.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/time.h"
#include "launcher/cluster/kubernetes/pod_place.h"
#include "launcher/options/option_values.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {
namespace {

using Environment = std::map<std::string, std::string>;

// How long a pod waits for the others, and for a coordinator that is away. The
// Job controller makes a pod again up to 600 s after the one before has failed
// or was evicted, and then its image is pulled or a machine added.
constexpr char kPodSeconds[] = "1800";
constexpr char kPodTimeout[] = "MUSTER_POD_TIMEOUT";
constexpr char kOrigin[] = "Kubernetes";

// How much of a uid tells two Jobs of the same name apart.
constexpr size_t kUidDigits = 8;

bool IsGpuList(const std::string& devices) {
  // "all" is what CUDA's images say wherever they run.
  return devices != "all" && devices != "none" && devices != "void";
}

// --nnodes as it holds; empty where nobody says it.
FlagDefault AskedNodes(const FlagValues& given,
                       const std::optional<FlagDefault>& variable) {
  if (given.IsGiven("nnodes")) {
    return {given.Origin("nnodes"), given.Text("nnodes")};
  }
  return variable.value_or(FlagDefault());
}

bool AsksForSeveralNodes(const FlagDefault& nodes) {
  return !nodes.text.empty() && nodes.text != "1" && nodes.text != "1:1";
}

bool IsRange(const FlagDefault& nodes) {
  return nodes.text.find(':') != std::string::npos;
}

// Whether an Indexed Job's pod is one of those that meet at the first of them:
// there are no others. (A StatefulSet's ordinals need not begin with 0, and at
// a coordinator elsewhere a pod may be a spare.) What is no number of nodes is
// said by the flag's own reader.
absl::Status CheckIndex(const FlagValues& given, const FlagDefault& index,
                        const FlagDefault& nodes,
                        const Environment& environment) {
  const absl::StatusOr<std::pair<int, int>> asked = ReadNodes(nodes.text);
  if (!asked.ok() || index.origin != "JOB_COMPLETION_INDEX" ||
      given.IsGiven("rdzv-endpoint") ||
      VariableSaid(environment, "MUSTER_COORDINATOR") ||
      ReadNumber(index.text, 0, asked->second - 1).ok()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      index.origin, "=", index.text, ": of ", asked->second,
      " pods none has this number; let MUSTER_NODES (or --nnodes) be the "
      "Job's `completions`"));
}

absl::Status CheckAddress(const FlagDefault& ip) {
  in6_addr address;
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, ip.text.c_str(), &address) == 1) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(ip.origin, "=", ip.text,
                   ": is no IP address; let it be the pod's status.podIP"));
}

// The outermost first. What a variable's label holds, empty where the node has
// no such label, does not count.
absl::StatusOr<std::optional<FlagDefault>> Topology(
    const Environment& environment) {
  constexpr struct {
    const char* variable;
    const char* key;
  } kLevels[] = {{"MUSTER_REGION", "region"},
                 {"MUSTER_ZONE", "zone"},
                 {"MUSTER_BLOCK", "block"},
                 {"MUSTER_RACK", "rack"},
                 {"MUSTER_NODE_NAME", "host"}};
  std::optional<FlagDefault> topology;
  for (const auto& level : kLevels) {
    const auto label = VariableSaid(environment, level.variable);
    if (!label) continue;
    if (ReadList(label->text).size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(level.variable, "=", label->text,
                       ": is no label's value, which has neither commas nor "
                       "blanks; let it be a label of the pod"));
    }
    const std::string pair = absl::StrCat(level.key, "=", label->text);
    if (!topology) {
      topology = FlagDefault{label->origin, pair};
    } else {
      absl::StrAppend(&topology->text, ",", pair);
    }
  }
  return topology;
}

std::optional<FlagDefault> RunId(const std::optional<PodPlace>& place,
                                 const Environment& environment) {
  if (auto id = VariableSaid(environment, "MUSTER_RUN_ID")) return id;
  if (auto job_set = VariableSaid(environment, "MUSTER_JOBSET_NAME")) {
    // The uid is the set's, as each of its Jobs has one of its own. A set that
    // is restarted has other Jobs.
    if (const auto uid = VariableSaid(environment, "MUSTER_JOBSET_UID")) {
      absl::StrAppend(&job_set->text, "-", uid->text.substr(0, kUidDigits));
    }
    const auto attempt = VariableSaid(environment, "MUSTER_JOBSET_ATTEMPT");
    if (attempt) absl::StrAppend(&job_set->text, "-", attempt->text);
    return job_set;
  }
  if (!place || place->set.text.empty()) return std::nullopt;
  FlagDefault id = place->set;
  if (const auto uid = VariableSaid(environment, "MUSTER_JOB_UID")) {
    absl::StrAppend(&id.text, "-", uid->text.substr(0, kUidDigits));
  }
  return id;
}

// This pod's name in the job, the same for the pod that replaces it.
std::optional<FlagDefault> NodeId(const std::optional<PodPlace>& place,
                                  const Environment& environment) {
  if (!place) return VariableSaid(environment, "MUSTER_POD_NAME");
  if (place->set.text.empty()) return std::nullopt;
  return FlagDefault{place->set.origin,
                     absl::StrCat(place->set.text, "-", place->index.text)};
}

// Each pod would host the job at its own loopback address, and wait there for
// the others. What is no number of nodes is said by the flag's own reader.
absl::Status RefuseToMeetNowhere(const FlagDefault& nodes) {
  if (!ReadNodes(nodes.text).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      nodes.origin, "=", nodes.text,
      ": nothing says where the pods meet; set MUSTER_SERVICE to the headless "
      "Service of pods called NAME-0, NAME-1 and so on (MUSTER_JOB_NAME to "
      "NAME as well, where HOSTNAME is the machine's), or MUSTER_COORDINATOR "
      "to rendezvousd's HOST:PORT, or write --rdzv-endpoint=HOST:PORT"));
}

// Where the pods meet, and who hosts the coordinator there.
absl::Status AddMeeting(const FlagValues& given, const FlagDefault& nodes,
                        const std::optional<PodPlace>& place,
                        const Environment& environment, Defaults& defaults) {
  if (given.IsGiven("rdzv-endpoint")) return absl::OkStatus();
  if (given.IsGiven("master-addr")) {
    if (place) defaults.flags["node-rank"] = place->index;
    return absl::OkStatus();
  }
  if (const auto coordinator =
          VariableSaid(environment, "MUSTER_COORDINATOR")) {
    defaults.flags["rdzv-endpoint"] = *coordinator;
    defaults.is_host = false;
    return absl::OkStatus();
  }
  if (!place || place->first.text.empty()) return RefuseToMeetNowhere(nodes);
  const FlagDefault& first = place->first;
  if (!rendezvous::ParseEndpoint(first.text).ok()) {
    // What was set, of which the name may be only a part.
    const auto said = VariableSaid(environment, first.origin);
    return absl::InvalidArgumentError(
        absl::StrCat(first.origin, "=", said ? said->text : "",
                     ": the coordinator's pod would be called ", first.text,
                     ", which is no host's name"));
  }
  defaults.flags["rdzv-endpoint"] = first;
  defaults.is_host = place->is_first;
  if (!place->remark.empty()) defaults.remarks.push_back(place->remark);
  return absl::OkStatus();
}

// Every wait of a pod for another one has the same length: whichever pod is
// late, none of those that wait may give up before it can have come, since each
// that does counts as a failure of the Job.
absl::Status AddPatience(const Environment& environment, Defaults& defaults) {
  const FlagDefault patience = VariableSaid(environment, kPodTimeout)
                                   .value_or(FlagDefault{kOrigin, kPodSeconds});
  const absl::StatusOr<Duration> seconds = ReadSeconds(patience.text);
  if (!seconds.ok() || *seconds == Duration::zero()) {
    return absl::InvalidArgumentError(absl::StrCat(
        patience.origin, "=", patience.text,
        ": is no number of seconds above 0; write for example ", kPodSeconds));
  }
  defaults.flags["connect-timeout"] = patience;
  defaults.flags["coordinator-timeout"] = patience;
  defaults.join_timeout = *seconds;
  return absl::OkStatus();
}

// The commands that show why pods are missing.
std::string AbsentHint(const Environment& environment) {
  const auto job = VariableSaid(environment, "MUSTER_JOB_NAME");
  const std::string selector =
      job ? absl::StrCat(" -l batch.kubernetes.io/job-name=", job->text) : "";
  return absl::StrCat(
      "kubectl get pods", selector,
      " shows which pods are missing, kubectl describe pod why one is Pending; "
      "MUSTER_POD_TIMEOUT says how long pods wait");
}

// What an evicted pod does: in a job of fixed size all write a checkpoint and
// end, to be started again together; in an elastic one the others go on.
void AddEviction(const FlagValues& given, const FlagDefault& nodes,
                 Defaults& defaults) {
  for (const char* flag : {"signals-to-handle", "signals-to-forward",
                           "signals-to-leave", "signals-to-preempt"}) {
    if (given.IsGiven(flag)) return;
  }
  defaults.flags[IsRange(nodes) ? "signals-to-leave" : "signals-to-preempt"] = {
      kOrigin, "SIGTERM"};
}

}  // namespace

bool InKubernetes(const Environment& environment) {
  return environment.count("KUBERNETES_SERVICE_HOST") > 0;
}

absl::StatusOr<Defaults> KubernetesDefaults(const FlagValues& given,
                                            const Environment& environment) {
  Defaults defaults;
  defaults.flags["stdin"] = {kOrigin, "none"};
  if (const auto gpus = VariableSaid(environment, "NVIDIA_VISIBLE_DEVICES");
      gpus && IsGpuList(gpus->text)) {
    defaults.flags["nproc-per-node"] = {gpus->origin, "gpu"};
  }
  absl::StatusOr<std::optional<PodPlace>> place = ReadPodPlace(environment);
  if (!place.ok()) return place.status();
  const auto nodes = VariableSaid(environment, "MUSTER_NODES");
  if (nodes) defaults.flags["nnodes"] = *nodes;
  const FlagDefault asked = AskedNodes(given, nodes);
  if (!AsksForSeveralNodes(asked)) {
    if (asked.text.empty() && *place) {
      defaults.remarks.push_back(absl::StrCat(
          "this pod runs alone: neither --nnodes nor MUSTER_NODES says how "
          "many pods like this one (",
          (*place)->index.origin, "=", (*place)->index.text,
          ") belong together"));
    }
    return defaults;
  }
  if (*place) {
    const absl::Status index =
        CheckIndex(given, (*place)->index, asked, environment);
    if (!index.ok()) return index;
  }
  const absl::Status meeting =
      AddMeeting(given, asked, *place, environment, defaults);
  if (!meeting.ok()) return meeting;
  AddEviction(given, asked, defaults);
  if (const auto id = RunId(*place, environment)) {
    defaults.flags["rdzv-id"] = *id;
  }
  if (const auto id = NodeId(*place, environment)) {
    defaults.flags["node-id"] = *id;
  }
  if (const auto ip = VariableSaid(environment, "MUSTER_POD_IP")) {
    const absl::Status address = CheckAddress(*ip);
    if (!address.ok()) return address;
    defaults.flags["local-addr"] = *ip;
  }
  if (!given.IsGiven("topology")) {
    const absl::StatusOr<std::optional<FlagDefault>> topology =
        Topology(environment);
    if (!topology.ok()) return topology.status();
    if (*topology) defaults.flags["topology"] = **topology;
  }
  const absl::Status patience = AddPatience(environment, defaults);
  if (!patience.ok()) return patience;
  defaults.absent_hint = AbsentHint(environment);
  return defaults;
}

}  // namespace muster::launcher
