#include "launcher/options/job_command.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/word_split.h"
#include "rendezvous/protocol/job_spec.h"

namespace muster::launcher {
namespace {

// Room for "... (1048576 bytes, hash 0123456789abcdef)".
constexpr size_t kRemarkBytes = 64;

// FNV-1a, of 64 bits: the same on every node and in every version.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') ||
         std::string_view("@%_+=:,./-").find(c) != std::string_view::npos;
}

std::string Quoted(const std::string& word) {
  const bool is_plain =
      !word.empty() && std::all_of(word.begin(), word.end(), IsPlain);
  return is_plain ? word : ShellWord(word);
}

// A backslash is doubled in words that need it, so that two different commands
// never have one text.
std::string WithoutControls(const std::string& text) {
  std::string visible;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppend(&visible, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else if (c == '\\') {
      visible += "\\\\";
    } else {
      visible += c;
    }
  }
  return visible;
}

const char* InterpreterFlag(Interpreter interpreter) {
  switch (interpreter) {
    case Interpreter::kByName:
      return "";
    case Interpreter::kPython:
      return " --python";
    case Interpreter::kModule:
      return " --module";
    case Interpreter::kNoPython:
      return " --no-python";
    case Interpreter::kRunPath:
      return " --run-path";
  }
  return "";
}

// At most so many bytes, without half a character of UTF-8 at the end.
std::string_view Beginning(std::string_view text, size_t most) {
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) {
    --most;
  }
  return text.substr(0, most);
}

}  // namespace

std::string JobCommand(const RunOptions& options) {
  std::string command =
      absl::StrCat("--nproc-per-node=",
                   options.workers_asked.empty() ? options.workers_per_node
                                                 : options.workers_asked,
                   InterpreterFlag(options.interpreter));
  for (const std::string& word : options.program) {
    absl::StrAppend(&command, " ", WithoutControls(Quoted(word)));
  }
  if (command.size() <= rendezvous::kMaxCommandBytes) return command;
  return absl::StrCat(
      std::string(
          Beginning(command, rendezvous::kMaxCommandBytes - kRemarkBytes)),
      "... (", command.size(), " bytes, hash ",
      absl::Hex(HashOf(command), absl::kZeroPad16), ")");
}

}  // namespace muster::launcher
