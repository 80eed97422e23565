#include "launcher/options/flag_values.h"

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"

namespace muster::launcher {

FlagValues::FlagValues(const std::vector<Flag>& flags, const CommandLine& line,
                       const std::map<std::string, std::string>& environment) {
  for (const Flag& flag : flags) {
    Value& value = values_[flag.name];
    const auto given = line.values.find(flag.name);
    if (given != line.values.end()) {
      value = {absl::StrCat("--", flag.name), given->second.back()};
      continue;
    }
    const std::string pet = PetName(flag);
    const auto said = NonEmptyEnvironmentValue(environment, pet);
    if (flag.pet == PetVariable::kRead && said) {
      value = {pet, *said};
      continue;
    }
    value = {"", flag.fallback};
  }
}

void FlagValues::TakeDefaults(
    const std::map<std::string, FlagDefault>& defaults) {
  for (const auto& [name, said] : defaults) {
    const auto value = values_.find(name);
    if (value == values_.end() || !value->second.origin.empty()) continue;
    value->second = {said.origin, said.text};
  }
}

bool FlagValues::IsGiven(const std::string& name) const {
  return !Origin(name).empty();
}

std::string FlagValues::Origin(const std::string& name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? "" : value->second.origin;
}

std::map<std::string, std::string> FlagValues::Given() const {
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : values_) {
    if (!value.origin.empty()) given[name] = value.text;
  }
  return given;
}

std::string FlagValues::Text(const std::string& name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? "" : value->second.text;
}

std::string FlagValues::Called(const std::string& name) const {
  const std::string origin = Origin(name);
  return origin.empty() ? absl::StrCat("--", name) : origin;
}

void FlagValues::Refuse(const std::string& name, const absl::Status& error) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(Called(name), "=", Text(name), ": ", error.message()));
}

void FlagValues::RefuseFlag(const std::string& name,
                            const absl::Status& error) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(Called(name), ": ", error.message()));
}

}  // namespace muster::launcher
