#include "launcher/cluster/kubernetes/pod_place.h"

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr int kMaxPods = 1'000'000;

bool IsDigits(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

// The pod's host name: SET-INDEX in an Indexed Job and in a StatefulSet. With
// hostNetwork it is the machine's name.
std::optional<FlagDefault> HostName(const Environment& environment) {
  return VariableSaid(environment, "HOSTNAME");
}

// Removes the suffix of the pod's number: "trainer-3" with index 3 is
// "trainer".
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

// Reads the ordinal of a StatefulSet's pod from the end of the pod's name; a
// StatefulSet sets no variable for it.
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

// Sets the first pod of a JobSet with several Jobs, where the index alone does
// not tell which pod is the first. The JobSet controller annotates all pods
// with the first pod's name.
void PlaceInJobSet(const FlagDefault& coordinator,
                   const Environment& environment, PodPlace& place) {
  place.first = coordinator;
  const std::string label =
      coordinator.text.substr(0, coordinator.text.find('.'));
  if (const auto host = HostName(environment)) {
    place.is_first = host->text.substr(0, host->text.find('.')) == label;
  }
}

}  // namespace

std::optional<FlagDefault> VariableSaid(const Environment& environment,
                                        const std::string& name) {
  const auto value = NonEmptyEnvironmentValue(environment, name);
  if (!value) return std::nullopt;
  return FlagDefault{name, *value};
}

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

}  // namespace muster::launcher
