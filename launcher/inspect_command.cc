#include "launcher/inspect_command.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/unix_time.h"
#include "launcher/inspect_text.h"
#include "launcher/report/text_layout.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/flight_files.h"

namespace muster::launcher {
namespace {

// The exit code that Voice::Refuse returns for wrong arguments.
constexpr int kWrongUsage = 2;

int Refuse(const std::string& why, const Voice& voice) {
  voice.Error(absl::StrCat("inspect: ", why, " (see launch inspect --help)"));
  return kWrongUsage;
}

}  // namespace

int InspectCommand(const std::vector<std::string>& arguments,
                   const Voice& voice) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      return Print(InspectHelp(), 0);
    }
    if (absl::StartsWith(argument, "-")) {
      return Refuse(absl::StrCat(argument, ": unknown flag"), voice);
    }
  }
  if (arguments.empty()) {
    return Refuse("name the dumps, or the directory that holds them", voice);
  }
  const double clock = UnixSeconds();
  const auto flight = ReadFlight(arguments);
  if (!flight.ok()) {
    return Refuse(std::string(flight.status().message()), voice);
  }
  for (const std::string& line : flight->unreadable) {
    voice.Error(absl::StrCat("inspect: left out: ", line));
  }
  const FlightAnalysis analysis =
      AnalyseFlight(flight->logs, flight->ends,
                    flight->running ? std::optional(clock) : flight->dumped);
  return Print(InspectText(analysis, static_cast<int>(flight->logs.size()),
                           TargetOf(STDOUT_FILENO)),
               analysis.findings.empty() ? 0 : 1);
}

}  // namespace muster::launcher
