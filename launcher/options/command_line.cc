#include "launcher/options/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "base/nearest_name.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Stands for the empty value of "--name=" while CLI11 parses. CLI11 would take
// "--name=" for "--name", and the next argument for its value.
constexpr char kEmptyValue[] = "\x01";

bool IsLong(const std::string& arg) {
  return arg.size() > 2 && arg[0] == '-' && arg[1] == '-';
}

// Converts a flag to its canonical form: "--nproc_per-node=x" to
// "--nproc-per-node=x"; "-r=3" to "-r3".
std::string Canonical(std::string arg) {
  if (IsLong(arg)) {
    const size_t end = std::min(arg.find('='), arg.size());
    std::replace(arg.begin() + 2,
                 arg.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    if (end + 1 == arg.size()) arg += kEmptyValue;
  } else if (arg.size() > 2 && arg[0] == '-' && arg[2] == '=') {
    arg.erase(2, 1);
  }
  return arg;
}

absl::Status UnknownFlag(const std::vector<Flag>& flags,
                         const std::string& arg) {
  const std::string written = arg.substr(0, arg.find('='));
  std::vector<std::string> known;
  known.reserve(flags.size());
  for (const Flag& flag : flags) known.push_back(absl::StrCat("--", flag.name));
  const std::string nearest = NearestName(written, known);
  return absl::InvalidArgumentError(absl::StrCat(
      written, ": unknown flag; ",
      nearest.empty() ? std::string("flags of the program go after its name")
                      : absl::StrCat("did you mean ", nearest, "?")));
}

// Formats the flag as a user writes it.
std::string Written(const Flag& flag) { return absl::StrCat("--", flag.name); }

absl::Status CheckValues(const Flag& flag,
                         const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    // In `--role --tee 3`, CLI11 takes "--tee" for the value of --role. A value
    // that looks like a flag means that the value is missing.
    if (!flag.IsSwitch() && IsLong(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat(Written(flag), ": its value is missing (found ", value,
                       "); write ", Written(flag), "=", flag.value));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<Flag>& flags, const std::vector<std::string>& args) {
  CLI::App app;
  app.set_help_flag();
  // Parsing ends at the first argument that is neither a flag nor its value.
  app.prefix_command();
  std::vector<CLI::Option*> options;
  for (const Flag& flag : flags) {
    std::string names = Written(flag);
    if (flag.letter != 0) names += std::string(",-") + flag.letter;
    CLI::Option* option =
        flag.IsSwitch() ? app.add_flag(names) : app.add_option(names);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    options.push_back(option);
  }
  // CLI11 expects the arguments in reverse order.
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  for (std::string& arg : reversed) arg = Canonical(std::move(arg));
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch&) {
    // CLI11 throws ArgumentMismatch only if the last argument is a flag whose
    // value is missing.
    const std::string written = Canonical(args.back());
    for (const Flag& flag : flags) {
      if (written == Written(flag) ||
          written == std::string("-") + flag.letter) {
        return absl::InvalidArgumentError(
            absl::StrCat(Written(flag), ": its value is missing; write ",
                         Written(flag), "=", flag.value));
      }
    }
    return absl::InvalidArgumentError(
        absl::StrCat(args.back(), ": its value is missing"));
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }

  CommandLine line;
  std::vector<std::string> remaining = app.remaining();
  // The arguments that CLI11 has not parsed are the last ones of `args`. Copy
  // them from `args`, because Canonical may have changed them in `remaining`.
  for (size_t i = args.size() - remaining.size(); i < args.size(); ++i) {
    line.rest.push_back(args[i]);
  }
  if (!remaining.empty() && remaining[0] == "--") {
    line.rest.erase(line.rest.begin());
  } else if (!remaining.empty() && remaining[0].size() > 1 &&
             remaining[0][0] == '-') {
    return UnknownFlag(flags, remaining[0]);
  }
  for (size_t i = 0; i < flags.size(); ++i) {
    if (options[i]->count() == 0) continue;
    std::vector<std::string> values = options[i]->results();
    for (std::string& value : values) {
      if (value == kEmptyValue) value.clear();
      if (flags[i].IsSwitch() && value == "true") value = "1";
    }
    absl::Status status = CheckValues(flags[i], values);
    if (!status.ok()) return status;
    line.values[flags[i].name] = std::move(values);
  }
  return line;
}

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
    if (flag.variable != nullptr) {
      const auto other = NonEmptyEnvironmentValue(environment, flag.variable);
      if (other &&
          (flag.variable_text == nullptr || *other == flag.variable_text)) {
        value = {flag.variable, *other};
        continue;
      }
    }
    value = {"", flag.IsSwitch() ? "0" : flag.default_text};
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

bool FlagValues::IsOn(const std::string& name) const {
  return ReadSwitch(Text(name)).value_or(false);
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

rendezvous::TlsFiles ReadTlsFiles(const FlagValues& values) {
  return {.certificate = values.Text("tls-cert"),
          .key = values.Text("tls-key"),
          .authority = values.Text("tls-ca")};
}

}  // namespace muster::launcher
