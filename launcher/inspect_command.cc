#include "launcher/inspect_command.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/report/text_style.h"
#include "launcher/inspect_text.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/flight_files.h"

namespace muster {
namespace {

int Print(const std::string& text, int code) {
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return printed ? code : 1;
}

}  // namespace

int InspectCommand(const std::vector<std::string>& arguments,
                   const Voice& voice) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h")
      return Print(InspectHelp(), 0);
    if (absl::StartsWith(argument, "-")) {
      return voice.Refuse(absl::InvalidArgumentError(
          absl::StrCat("inspect: ", argument, ": unknown flag")));
    }
  }
  if (arguments.empty()) {
    return voice.Refuse(absl::InvalidArgumentError(
        "inspect: name the dumps, or the directory that holds them"));
  }
  const auto flight = ReadFlight(arguments);
  if (!flight.ok()) {
    return voice.Refuse(absl::InvalidArgumentError(
        absl::StrCat("inspect: ", std::string(flight.status().message()))));
  }
  const FlightAnalysis analysis = AnalyseFlight(flight->logs, flight->ends);
  return Print(InspectText(analysis, static_cast<int>(flight->logs.size()),
                           TargetOf(STDOUT_FILENO)),
               analysis.findings.empty() ? 0 : 1);
}

}  // namespace muster
