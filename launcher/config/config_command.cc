#include "launcher/config/config_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "base/write_all.h"
#include "launcher/config/config_defaults.h"
#include "launcher/config/config_file.h"
#include "launcher/config/config_questions.h"
#include "launcher/config/config_view.h"
#include "launcher/options/command_line.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

constexpr char kHelp[] = R"(launch config: write and explain configuration files

Usage:
  launch config [FILE] [--force]   write FILE (muster.yaml) by questions
  launch config show FILE [--json] say what launch --config FILE would do

FILE may be our own form, Accelerate's default_config.yaml, or InstructLab's
config.yaml with its train: section. An empty answer, or the end of input,
takes what is proposed in brackets. --force replaces a file that is there.
)";

using Environment = std::map<std::string, std::string>;

int Refuse(const Voice& voice, const absl::Status& why) {
  return voice.Refuse(why, "config");
}

absl::StatusOr<ConfigView> View(const std::string& path,
                                const std::vector<Flag>& flags,
                                const Environment& environment) {
  const absl::StatusOr<std::string> text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<ConfigMeaning> meaning =
      ReadConfig(*text, flags, SurroundingsOf(path, environment));
  if (!meaning.ok()) return meaning.status();
  // Parse the file as a run would, so that the errors of a run are reported
  // here.
  std::vector<std::string> args = {absl::StrCat("--config=", path)};
  if (meaning->defaults.program.empty()) args.emplace_back("program");
  absl::StatusOr<FlagValues> held = absl::InternalError("");
  std::vector<std::string>& remarks = meaning->defaults.remarks;
  const DefaultsSource defaults = LaunchDefaults(flags, environment);
  const absl::Status parsed =
      ParseRunOptions(flags, args, environment, [&](const FlagValues& given) {
        absl::StatusOr<Defaults> found = defaults(given);
        held = given;
        if (found.ok()) {
          held->TakeDefaults(found->flags);
          remarks = found->remarks;
        }
        return found;
      }).status();
  if (!parsed.ok()) return parsed;
  ConfigView view{
      .file_name = path, .meaning = *std::move(meaning), .flags = {}};
  for (const Flag& flag : flags) {
    if (flag.name == std::string("config") || !held->IsGiven(flag.name)) {
      continue;
    }
    view.flags.push_back(
        {flag.name, held->Text(flag.name), held->Origin(flag.name)});
  }
  return view;
}

int Show(const std::vector<std::string>& arguments,
         const std::vector<Flag>& flags, const Environment& environment,
         const Voice& voice) {
  std::string path;
  bool json = false;
  for (const std::string& argument : arguments) {
    if (argument == "--json") {
      json = true;
    } else if (argument.rfind('-', 0) == 0 || !path.empty()) {
      return Refuse(voice, absl::InvalidArgumentError(absl::StrCat(
                               "config show: ", argument,
                               ": name one file, and --json at most")));
    } else {
      path = argument;
    }
  }
  if (path.empty()) {
    return Refuse(voice,
                  absl::InvalidArgumentError("config show: name the file"));
  }
  const absl::StatusOr<ConfigView> view = View(path, flags, environment);
  if (!view.ok()) return Refuse(voice, view.status());
  return Print(json ? ConfigJson(*view) : ConfigText(*view));
}

absl::StatusOr<std::string> Ask(const std::vector<Flag>& flags) {
  std::map<std::string, std::string> answers;
  bool ended = false;
  while (const std::optional<ConfigQuestion> question = NextQuestion(answers)) {
    std::cerr << question->text << " [" << question->fallback << "]: ";
    std::string answer;
    ended = ended || !std::getline(std::cin, answer);
    if (ended) std::cerr << "\n";
    if (answer.empty()) answer = question->fallback;
    const absl::Status good = CheckAnswer(*question, answer, flags);
    if (good.ok()) {
      answers[question->key] = answer;
    } else if (ended || !isatty(STDIN_FILENO)) {
      return good;
    } else {
      std::cerr << "  " << good.message() << "\n";
    }
  }
  return ConfigOf(answers, flags);
}

enum class Overwrite { kNo, kYes };

absl::Status WriteFile(const std::string& path, const std::string& text,
                       Overwrite overwrite) {
  const int how = overwrite == Overwrite::kYes ? O_TRUNC : O_EXCL;
  const OwnedFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666));
  if (!file.open()) {
    return errno == EEXIST
               ? absl::InvalidArgumentError(absl::StrCat(
                     path, ": is there already; --force replaces it"))
               : absl::InvalidArgumentError(
                     absl::StrCat(path, ": ", std::strerror(errno)));
  }
  if (!WriteAll(file.get(), text)) {
    return absl::UnavailableError(
        absl::StrCat(path, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

// Checks whether WriteFile can succeed. Leaves no file behind.
absl::Status CheckWritable(const std::string& path, Overwrite overwrite) {
  const OwnedFd created(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (created.open()) {
    unlink(path.c_str());
    return absl::OkStatus();
  }
  if (errno == EEXIST && overwrite == Overwrite::kYes) {
    // With O_NONBLOCK, open() fails for a FIFO without a reader instead of
    // waiting for a reader.
    const OwnedFd there(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (there.open()) return absl::OkStatus();
  } else if (errno == EEXIST) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is there already; --force replaces it"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", std::strerror(errno)));
}

int Write(const std::vector<std::string>& arguments,
          const std::vector<Flag>& flags, const Voice& voice) {
  std::string path;
  Overwrite overwrite = Overwrite::kNo;
  for (const std::string& argument : arguments) {
    if (argument.empty()) {
      return Refuse(voice, absl::InvalidArgumentError(
                               "config: the file's name is empty"));
    }
    if (argument == "--force") {
      overwrite = Overwrite::kYes;
    } else if (argument.rfind('-', 0) == 0 || !path.empty()) {
      return Refuse(
          voice,
          absl::InvalidArgumentError(absl::StrCat(
              "config: ", argument,
              ": write launch config [FILE] [--force], or launch config show "
              "FILE")));
    } else {
      path = argument;
    }
  }
  if (path.empty()) path = "muster.yaml";
  // Check that the file can be written before asking the questions, so that the
  // user's answers are not lost.
  const absl::Status writable = CheckWritable(path, overwrite);
  if (!writable.ok()) return Refuse(voice, writable);
  const absl::StatusOr<std::string> text = Ask(flags);
  if (!text.ok()) return Refuse(voice, text.status());
  const absl::Status written = WriteFile(path, *text, overwrite);
  if (!written.ok()) return Refuse(voice, written);
  voice.Notice(
      absl::StrCat(path, " is written; start it with launch --config ", path));
  return 0;
}

}  // namespace

int ConfigCommand(const std::vector<std::string>& arguments,
                  const std::vector<Flag>& flags,
                  const Environment& environment, const Voice& voice) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") return Print(kHelp);
  }
  if (!arguments.empty() && arguments[0] == "show") {
    return Show({arguments.begin() + 1, arguments.end()}, flags, environment,
                voice);
  }
  return Write(arguments, flags, voice);
}

}  // namespace muster::launcher
