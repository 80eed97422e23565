#include "launcher/completion.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/options/flag.h"
#include "launcher/options/flag_table.h"
#include "launcher/subcommands.h"

namespace muster::launcher {
namespace {

enum class Which { kAll, kWithValue };
// Joins the names of all `flags`. With kWithValue, joins only the names of
// flags that need a value. Puts a space before and after each name, so that a
// shell script can search for " --name ".
std::string Words(const std::vector<Flag>& flags, Which which) {
  std::string words = " ";
  for (const Flag& flag : flags) {
    if (which == Which::kWithValue && flag.IsSwitch()) continue;
    absl::StrAppend(&words, "--", flag.name, " ");
    if (flag.letter != 0) {
      absl::StrAppend(&words, "-", std::string(1, flag.letter), " ");
    }
  }
  return words;
}

std::string SubcommandWords() {
  std::string words;
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppend(&words, words.empty() ? "" : " ", subcommand.name);
  }
  return words;
}

// Joins the names of the subcommands whose Subcommand::flags has the value
// `flags`: "status|watch|top|cancel|drain". The argument kNone is special: it
// selects every subcommand that has flags of any kind.
std::string NamesWith(SubcommandFlags flags, const char* separator) {
  std::string names;
  for (const Subcommand& subcommand : Subcommands()) {
    const bool wanted = flags == SubcommandFlags::kNone
                            ? subcommand.flags != SubcommandFlags::kNone
                            : subcommand.flags == flags;
    if (!wanted) continue;
    absl::StrAppend(&names, names.empty() ? "" : separator, subcommand.name);
  }
  return names;
}

std::string FirstSentence(const std::string& help) {
  const size_t end = help.find(". ");
  std::string sentence = help.substr(0, end);
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  return sentence;
}

// Escapes `text` for use inside single quotes of a POSIX shell or fish. Also
// puts a backslash before each character of `special`, because a second parser,
// which needs these backslashes, reads the text after the shell.
std::string Quoted(const std::string& text, const std::string& special) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (special.find(c) != std::string::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

const char* Name(CompletedCommand command) {
  return command == CompletedCommand::kLaunch ? "launch" : "torchrun";
}

constexpr char kBashHead[] = R"(# bash completion for @name@
_@name@() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag= name i
  local flags='@flags@'
  local values='@values@'
  COMPREPLY=()
)";

constexpr char kBashWords[] = R"(  # bash splits --name=value into three words.
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -*)
        name=${COMP_WORDS[i]//_/-}
        if [[ ${COMP_WORDS[i + 1]} == '=' ]]; then
          ((i += 2))
        elif [[ $values == *" $name "* ]]; then
          ((i += 1))
        fi
        ((i >= COMP_CWORD)) && flag=$name ;;
@subcommand@      # The program has been named: later words are its arguments.
      *) return ;;
    esac
  done
  [[ $cur == '=' ]] && cur=
  case $flag in
)";

constexpr char kBashTail[] = R"(    ?*)
      compopt +o default +o bashdefault 2>/dev/null
      return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "${cur//_/-}"))
  elif ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '@subcommands@' -- "$cur"; compgen -f -- "$cur"))
  fi
}
complete -o bashdefault -o default -F _@name@ @name@
)";

std::string Replaced(std::string text, const std::string& mark,
                     const std::string& with) {
  for (size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
  }
  return text;
}

std::string BashCompletions(const std::string& completions) {
  if (completions == "<file>") return "compgen -f";
  if (completions == "<directory>") return "compgen -d";
  return absl::StrCat("compgen -W '", completions, "'");
}

std::string BashSubcommands() {
  std::string script = "  case ${COMP_WORDS[1]} in\n";
  const auto append = [&](SubcommandFlags which,
                          const std::vector<Flag>& flags) {
    absl::StrAppend(&script, "    ", NamesWith(which, "|"), ")\n      flags='",
                    Words(flags, Which::kAll), "' values='",
                    Words(flags, Which::kWithValue), "' ;;\n");
  };
  append(SubcommandFlags::kAdmin, AdminFlags());
  append(SubcommandFlags::kDoctor, DoctorAndRunFlags());
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.completions[0] == '\0') continue;
    absl::StrAppend(&script, "    ", subcommand.name, ")\n      COMPREPLY=($(",
                    BashCompletions(subcommand.completions),
                    " -- \"$cur\"))\n      return ;;\n");
  }
  return script + "  esac\n";
}

std::string Bash(CompletedCommand command) {
  const bool is_launch = command == CompletedCommand::kLaunch;
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  std::string script = kBashHead;
  script = Replaced(script, "@flags@", Words(flags, Which::kAll));
  script = Replaced(script, "@values@", Words(flags, Which::kWithValue));
  if (is_launch) script += BashSubcommands();
  script += Replaced(
      kBashWords, "@subcommand@",
      is_launch ? absl::StrCat("      ", NamesWith(SubcommandFlags::kNone, "|"),
                               ")\n        ((i == 1)) || return ;;\n")
                : std::string());
  for (const Flag& flag : is_launch ? DoctorAndRunFlags() : flags) {
    const std::string completions = flag.completions;
    if (completions.empty()) continue;
    const std::string action = BashCompletions(completions);
    absl::StrAppend(&script, "    --", flag.name);
    if (flag.letter != 0) {
      absl::StrAppend(&script, "|-", std::string(1, flag.letter));
    }
    absl::StrAppend(&script, ")\n      COMPREPLY=($(", action,
                    " -- \"$cur\"))\n      return ;;\n");
  }
  script +=
      Replaced(kBashTail, "@subcommands@", is_launch ? SubcommandWords() : "");
  return Replaced(script, "@name@", Name(command));
}

std::string ZshAction(const std::string& completions) {
  if (completions == "<file>") return "_files";
  if (completions == "<directory>") return "_files -/";
  return completions.empty() ? " " : absl::StrCat("(", completions, ")");
}

void AppendZshFlags(const std::vector<Flag>& flags, std::string& script) {
  for (const Flag& flag : flags) {
    const std::string help = Quoted(FirstSentence(flag.help), "[]:");
    const std::string value =
        flag.IsSwitch() ? ""
                        : absl::StrCat(":", Quoted(flag.value, ":"), ":",
                                       ZshAction(flag.completions));
    absl::StrAppend(&script, "    '--", flag.name, flag.IsSwitch() ? "" : "=",
                    "[", help, "]", value, "' \\\n");
    if (flag.letter != 0) {
      absl::StrAppend(&script, "    '-", std::string(1, flag.letter), "[", help,
                      "]", value, "' \\\n");
    }
  }
}

void AppendZshSubcommands(std::string& script) {
  script +=
      "  if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then\n"
      "    local -a subcommands=(\n";
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppend(&script, "      '", subcommand.name, ":",
                    Quoted(subcommand.summary, ":"), "'\n");
  }
  absl::StrAppend(&script,
                  "    )\n    _describe subcommand subcommands\n    _files\n"
                  "    return\n  fi\n  case $words[2] in\n");
  for (const Subcommand& subcommand : Subcommands()) {
    const std::string completions = subcommand.completions;
    if (completions.empty()) continue;
    absl::StrAppend(&script, "    ", subcommand.name, ")\n      ",
                    completions == "<file>"
                        ? std::string("_files")
                        : absl::StrCat("_values argument ", completions),
                    "\n      return ;;\n");
  }
  constexpr char kShift[] = ")\n      shift words\n      ((CURRENT--))";
  absl::StrAppend(&script, "    ", NamesWith(SubcommandFlags::kRun, "|"),
                  kShift, " ;;\n    ", NamesWith(SubcommandFlags::kAdmin, "|"),
                  kShift, "\n      _arguments \\\n");
  AppendZshFlags(AdminFlags(), script);
  absl::StrAppend(&script, "    ':argument: '\n      return ;;\n    ",
                  NamesWith(SubcommandFlags::kDoctor, "|"), kShift,
                  "\n      _arguments \\\n");
  AppendZshFlags(DoctorAndRunFlags(), script);
  absl::StrAppend(&script, "    && return\n      return ;;\n  esac\n");
}

std::string Zsh(CompletedCommand command) {
  std::string script =
      "#compdef @name@\n# zsh completion for @name@\n_@name@() {\n";
  if (command == CompletedCommand::kLaunch) AppendZshSubcommands(script);
  absl::StrAppend(&script, "  _arguments -A '-*' \\\n");
  AppendZshFlags(FlagsOf(FlagUser::kLaunchOnly), script);
  absl::StrAppend(&script,
                  "    '1:program:_files' '*::argument:_files'\n}\n"
                  "compdef _@name@ @name@\n");
  return Replaced(script, "@name@", Name(command));
}

void AppendFishFlags(const std::vector<Flag>& flags,
                     const std::string& condition, std::string& script) {
  for (const Flag& flag : flags) {
    const std::string completions = flag.completions;
    absl::StrAppend(&script, "complete -c @name@ -n '", condition, "' -l ",
                    flag.name);
    if (flag.letter != 0) {
      absl::StrAppend(&script, " -s ", std::string(1, flag.letter));
    }
    if (completions == "<file>") {
      absl::StrAppend(&script, " -r -F");
    } else if (completions == "<directory>") {
      absl::StrAppend(&script, " -x -a '(__fish_complete_directories)'");
    } else if (!flag.IsSwitch()) {
      absl::StrAppend(&script, " -x");
      if (!completions.empty()) {
        absl::StrAppend(&script, " -a '", completions, "'");
      }
    }
    absl::StrAppend(&script, " -d '", Quoted(FirstSentence(flag.help), ""),
                    "'\n");
  }
}

// Appends the completions of the subcommands of `launch` to `script`, a script
// for fish. Returns the condition, in the syntax of fish, under which the flags
// of `launch PROGRAM` are completed.
std::string AppendFishSubcommands(std::string& script) {
  const std::string in_admin = absl::StrCat(
      "__fish_seen_subcommand_from ", NamesWith(SubcommandFlags::kAdmin, " "));
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppend(&script, "complete -c launch -n __fish_use_subcommand -a ",
                    subcommand.name, " -d '", Quoted(subcommand.summary, ""),
                    "'\n");
  }
  for (const Subcommand& subcommand : Subcommands()) {
    const std::string completions = subcommand.completions;
    if (completions.empty()) continue;
    absl::StrAppend(
        &script, "complete -c launch -n '__fish_seen_subcommand_from ",
        subcommand.name, "'",
        completions == "<file>" ? std::string(" -F")
                                : absl::StrCat(" -x -a '", completions, "'"),
        "\n");
  }
  AppendFishFlags(AdminFlags(), in_admin, script);
  const std::vector<Flag> run_flags = FlagsOf(FlagUser::kLaunchOnly);
  std::vector<Flag> doctors_own;
  for (const Flag& flag : DoctorFlags()) {
    if (FindFlag(run_flags, flag.name) == nullptr) doctors_own.push_back(flag);
  }
  AppendFishFlags(doctors_own,
                  absl::StrCat("__fish_seen_subcommand_from ",
                               NamesWith(SubcommandFlags::kDoctor, " ")),
                  script);
  return "not " + in_admin;
}

std::string Fish(CompletedCommand command) {
  std::string script = "# fish completion for @name@\n";
  const std::string condition = command == CompletedCommand::kLaunch
                                    ? AppendFishSubcommands(script)
                                    : "true";
  AppendFishFlags(FlagsOf(FlagUser::kLaunchOnly), condition, script);
  return Replaced(script, "@name@", Name(command));
}

}  // namespace

absl::StatusOr<std::string> CompletionScript(const std::string& shell,
                                             CompletedCommand command) {
  if (shell == "bash") return Bash(command);
  if (shell == "zsh") return Zsh(command);
  if (shell == "fish") return Fish(command);
  return absl::InvalidArgumentError(
      absl::StrCat(shell.empty() ? "names no shell" : "unknown shell ", shell,
                   "; write bash, zsh or fish"));
}

}  // namespace muster::launcher
