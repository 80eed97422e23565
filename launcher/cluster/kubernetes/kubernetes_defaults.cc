#include "launcher/cluster/kubernetes/kubernetes_defaults.h"

#include <arpa/inet.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "base/time.h"
#include "launcher/options/defaults.h"
#include "launcher/options/option_values.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {
namespace {

// The place of this pod in its set of pods (a Job or StatefulSet). The pods
// have stable names, SET-0, SET-1 …, in the domain of a headless service.
struct PodPlace {
  FlagDefault set;    // name of the Job or StatefulSet; empty: unknown
  FlagDefault index;  // number of this pod in its Job or StatefulSet
  // Host name of the pod that hosts the coordinator; empty: unknown.
  FlagDefault first;
  // Whether this pod hosts the coordinator; nullopt: unknown.
  std::optional<bool> is_first;
  // notice for the user if the name of the headless service is a guess; empty:
  // none
  std::string remark;
};

using Environment = std::map<std::string, std::string>;

constexpr int kMaxPods = 1'000'000;

bool IsDigits(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

// The value of an environment variable, with the variable's name as its origin;
// nullopt if the variable is unset or empty.
std::optional<FlagDefault> VariableSaid(const Environment& environment,
                                        const std::string& name) {
  const auto value = NonEmptyEnvironmentValue(environment, name);
  if (!value) return std::nullopt;
  return FlagDefault{name, *value};
}

// The pod's host name: SET-INDEX in an Indexed Job and in a StatefulSet. With
// hostNetwork the host name is the machine's name.
std::optional<FlagDefault> HostName(const Environment& environment) {
  return VariableSaid(environment, "HOSTNAME");
}

// Removes the suffix with the pod's number from a pod's name: "trainer-3" with
// index 3 becomes "trainer".
std::string WithoutIndex(const std::string& name, const std::string& index) {
  const std::string end = absl::StrCat("-", index);
  if (name.size() <= end.size() ||
      name.compare(name.size() - end.size(), end.size(), end) != 0) {
    return "";
  }
  return name.substr(0, name.size() - end.size());
}

absl::StatusOr<std::optional<PodPlace>> IndexedJobPlace(
    const Environment& environment, const FlagDefault& index) {
  const absl::StatusOr<int64_t> number =
      ReadNumber(index.text, 0, kMaxPods - 1);
  if (!number.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        index.origin, "=", index.text, ": ", number.status().message(),
        "; Kubernetes sets it to the pod's number"));
  }
  PodPlace place;
  place.index = index;
  const std::optional<FlagDefault> host = HostName(environment);
  if (const auto job = VariableSaid(environment, "MUSTER_JOB_NAME")) {
    place.set = *job;
  } else if (host) {
    place.set = {host->origin, WithoutIndex(host->text, index.text)};
  }
  return place;
}

// Reads the ordinal of a StatefulSet's pod from the end of the pod's name,
// because Kubernetes sets no variable for the ordinal.
std::optional<PodPlace> StatefulSetPlace(const Environment& environment) {
  std::optional<FlagDefault> pod = VariableSaid(environment, "MUSTER_POD_NAME");
  if (!pod) pod = HostName(environment);
  if (!pod || !VariableSaid(environment, "MUSTER_SERVICE")) return std::nullopt;
  const size_t dash = pod->text.rfind('-');
  if (dash == std::string::npos || dash == 0 ||
      !IsDigits(pod->text.substr(dash + 1))) {
    return std::nullopt;
  }
  PodPlace place;
  place.set = {pod->origin, pod->text.substr(0, dash)};
  place.index = {pod->origin, pod->text.substr(dash + 1)};
  return place;
}

// Sets `place.first`, the host name of the pod that hosts the coordinator, to
// `coordinator`, a name that the JobSet controller writes into an annotation of
// all pods. (In a JobSet with several Jobs, several pods have index 0.) If this
// pod's own host name is known, sets `place.is_first` as well.
void PlaceInJobSet(const FlagDefault& coordinator,
                   const Environment& environment, PodPlace& place) {
  place.first = coordinator;
  const std::string label =
      coordinator.text.substr(0, coordinator.text.find('.'));
  if (const auto host = HostName(environment)) {
    place.is_first = host->text.substr(0, host->text.find('.')) == label;
  }
}

// Reads the place of a pod of an Indexed Job (JOB_COMPLETION_INDEX), of a
// JobSet (additionally MUSTER_JOBSET_COORDINATOR) or of a StatefulSet
// (MUSTER_SERVICE, and a pod name that ends with the ordinal). nullopt: any
// other pod. InvalidArgument: the index is not a number. Pure.
absl::StatusOr<std::optional<PodPlace>> ReadPodPlace(
    const Environment& environment) {
  std::optional<PodPlace> place;
  if (const auto index = VariableSaid(environment, "JOB_COMPLETION_INDEX")) {
    absl::StatusOr<std::optional<PodPlace>> read =
        IndexedJobPlace(environment, *index);
    if (!read.ok()) return read.status();
    place = *std::move(read);
  } else {
    place = StatefulSetPlace(environment);
  }
  if (!place) return place;
  if (const auto coordinator =
          VariableSaid(environment, "MUSTER_JOBSET_COORDINATOR")) {
    PlaceInJobSet(*coordinator, environment, *place);
    return place;
  }
  place->is_first = place->index.text == "0";
  if (place->set.text.empty()) return place;
  if (const auto service = VariableSaid(environment, "MUSTER_SERVICE")) {
    place->first = {service->origin,
                    absl::StrCat(place->set.text, "-0.", service->text)};
    return place;
  }
  place->first = {place->set.origin,
                  absl::StrCat(place->set.text, "-0.", place->set.text)};
  place->remark = absl::StrCat(
      "MUSTER_SERVICE is not set: the headless service is taken "
      "to be called ",
      place->set.text, ", as the job is");
  return place;
}

// Default time in seconds for which a pod waits for other pods and for a lost
// coordinator. The Job controller may wait up to 600 s before it replaces a
// failed or evicted pod. After that, the image must be pulled or a machine
// added.
constexpr char kPodSeconds[] = "1800";
constexpr char kPodTimeout[] = "MUSTER_POD_TIMEOUT";
constexpr char kOrigin[] = "Kubernetes";

// Number of characters of a uid that are appended to a run id, to tell two Jobs
// with the same name apart.
constexpr size_t kUidDigits = 8;

bool IsGpuList(const std::string& devices) {
  // The value "all" does not show that the pod has GPUs: CUDA images set
  // NVIDIA_VISIBLE_DEVICES=all even on machines without GPUs.
  return devices != "all" && devices != "none" && devices != "void";
}

// The value of --nnodes from the command line or the environment. Empty text:
// not given.
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

// Checks that the index of an Indexed Job's pod is below the number of nodes.
// There is no check in these cases:
// - A separate coordinator is given. Additional pods are then spares.
// - The pod is one of a StatefulSet, whose ordinals may begin above 0.
// - The number of nodes is invalid. The parser of --nnodes reports the error.
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

// The topology labels of this node, the outermost first. If the Kubernetes node
// lacks a label, the variable for that label is empty and is skipped.
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
    // The run id has the JobSet's uid instead of the Job's. Each Job of the
    // JobSet has a different uid, and a restart of the JobSet creates new Jobs.
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

// The pod's node id in the job. A pod that replaces this pod gets the same id.
std::optional<FlagDefault> NodeId(const std::optional<PodPlace>& place,
                                  const Environment& environment) {
  if (!place) return VariableSaid(environment, "MUSTER_POD_NAME");
  if (place->set.text.empty()) return std::nullopt;
  return FlagDefault{place->set.origin,
                     absl::StrCat(place->set.text, "-", place->index.text)};
}

// Rejects a job of several nodes that has no rendezvous endpoint: each pod
// would host a coordinator at its own loopback address and wait for the others.
// If the number of nodes is invalid, the parser of --nnodes reports the error.
absl::Status MissingEndpointError(const FlagDefault& nodes) {
  if (!ReadNodes(nodes.text).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      nodes.origin, "=", nodes.text,
      ": nothing says where the pods meet; set MUSTER_SERVICE to the headless "
      "Service of pods called NAME-0, NAME-1 and so on (MUSTER_JOB_NAME to "
      "NAME as well, where HOSTNAME is the machine's), or MUSTER_COORDINATOR "
      "to rendezvousd's HOST:PORT, or write --rdzv-endpoint=HOST:PORT"));
}

// Adds the defaults by which this node finds the coordinator. Adds nothing if
// --rdzv-endpoint is given. If --master-addr is given, it names the
// coordinator's host, and only the default of --node-rank is added. Otherwise
// adds the defaults of --rdzv-endpoint and Defaults::is_host (whether this node
// hosts the coordinator).
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
  if (!place || place->first.text.empty()) return MissingEndpointError(nodes);
  const FlagDefault& first = place->first;
  if (!rendezvous::ParseEndpoint(first.text).ok()) {
    // Show the variable's full value in the error: the invalid host name may be
    // only a part of the value.
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

// Gives all time limits of a pod's wait for other pods the same value. A pod
// that exits at a time limit counts as a failure of the Job. So no limit may be
// shorter than the time that the slowest pod may need to start.
absl::Status AddTimeout(const Environment& environment, Defaults& defaults) {
  const FlagDefault timeout = VariableSaid(environment, kPodTimeout)
                                  .value_or(FlagDefault{kOrigin, kPodSeconds});
  const absl::StatusOr<Duration> seconds = ReadSeconds(timeout.text);
  if (!seconds.ok() || *seconds == Duration::zero()) {
    return absl::InvalidArgumentError(absl::StrCat(
        timeout.origin, "=", timeout.text,
        ": is no number of seconds above 0; write for example ", kPodSeconds));
  }
  defaults.flags["connect-timeout"] = timeout;
  defaults.flags["coordinator-timeout"] = timeout;
  defaults.join_timeout = *seconds;
  return absl::OkStatus();
}

// Returns commands that show why pods are missing. The commands are part of the
// error if pods do not join in time.
std::string AbsentHint(const Environment& environment) {
  const auto job = VariableSaid(environment, "MUSTER_JOB_NAME");
  const std::string selector =
      job ? absl::StrCat(" -l batch.kubernetes.io/job-name=", job->text) : "";
  return absl::StrCat(
      "kubectl get pods", selector,
      " shows which pods are missing, kubectl describe pod why one is Pending; "
      "MUSTER_POD_TIMEOUT says how long pods wait");
}

// Sets the reaction to an eviction (SIGTERM). In a job of fixed size all nodes
// write a checkpoint and end; the job is then started again as a whole. In an
// elastic job the other nodes continue.
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
  const absl::Status timeout = AddTimeout(environment, defaults);
  if (!timeout.ok()) return timeout;
  defaults.absent_hint = AbsentHint(environment);
  return defaults;
}

}  // namespace muster::launcher
