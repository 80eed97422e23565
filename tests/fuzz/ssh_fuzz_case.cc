// Fuzzes all parsers of a start over ssh: host files and filters,
// .deepspeed_env, --ssh-args, and the messages of both sides. They get `input`
// itself, and valid texts to which the edits in `input` were applied
// (EditedBytes). Accepted input must be valid, and must stay the same when it
// is written and read again.

#include <string>
#include <string_view>

#include "base/check.h"
#include "base/word_split.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/remote_environment.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

void CheckOneLine(const absl::Status& error) {
  MUSTER_CHECK(error.ok() ||
               error.message().find('\n') == absl::string_view::npos)
      << error;
}

void FuzzHosts(std::string_view text) {
  const absl::StatusOr<std::vector<launcher::Host>> hosts =
      launcher::ParseHostFile(text);
  CheckOneLine(hosts.status());
  if (hosts.ok()) {
    MUSTER_CHECK(!hosts->empty());
    for (const launcher::Host& host : *hosts) {
      MUSTER_CHECK(launcher::IsHostName(host.name) &&
                   host.Destination()[0] != '-');
      MUSTER_CHECK(!host.slots ||
                   (*host.slots > 0 && *host.slots <= launcher::kMaxSlots));
    }
  }
  const std::vector<launcher::Host> known = {{"a", "", 4, {}},
                                             {"::1", "", {}, {}}};
  for (const bool include : {true, false}) {
    const absl::StatusOr<std::vector<launcher::Host>> kept =
        launcher::FilterHosts(known, include ? std::string(text) : "",
                              include ? "" : std::string(text));
    MUSTER_CHECK(!kept.ok() || !kept->empty());
  }
}

void FuzzMessages(std::string_view bytes) {
  for (const launcher::Greeting greeting :
       {launcher::Greeting::kExpected, launcher::Greeting::kNone}) {
    launcher::FrameReader reader(greeting);
    // Append the bytes to the reader in two pieces, which the reader must join.
    const size_t cut = bytes.empty() ? 0 : bytes.size() * 2 / 3;
    for (const std::string_view piece :
         {bytes.substr(0, cut), bytes.substr(cut)}) {
      reader.Append(piece);
      while (const auto frame = reader.Next()) {
        if (const auto down = launcher::DecodeDown(*frame)) {
          MUSTER_CHECK(
              launcher::DecodeDown(
                  std::string_view(launcher::Encode(*down)).substr(4)) == down);
        }
        if (const auto up = launcher::DecodeUp(*frame)) {
          MUSTER_CHECK(launcher::DecodeUp(
                           std::string_view(launcher::Encode(*up)).substr(4)) ==
                       up);
        }
      }
    }
  }
}

void FuzzVariables(std::string_view text) {
  const absl::StatusOr<launcher::Environment> variables =
      launcher::ParseEnvironmentFile(text);
  CheckOneLine(variables.status());
  if (!variables.ok()) return;
  for (const auto& [name, value] : *variables) {
    MUSTER_CHECK(launcher::IsVariableName(name));
    MUSTER_CHECK(value.find('\0') == std::string::npos);
  }
}

void FuzzWords(std::string_view text) {
  const absl::StatusOr<std::vector<std::string>> words = SplitWords(text);
  if (!words.ok()) return;
  std::string again;
  for (const std::string& word : *words) again += ShellWord(word) + " ";
  MUSTER_CHECK(*SplitWords(again) == *words);
}

std::string SoundMessages() {
  launcher::BeNode node;
  node.working_directory = "/d";
  node.environment = {{"A", "1"}};
  node.flags = {"--nnodes=2"};
  node.program = {"train.py"};
  node.ssh = {{"-p", "1"}, 1000, 2, "/l"};
  node.hosts = {{0, "a", "u@a", {"--node-rank=0"}, {{"B", "0,2"}}},
                {1, "b", "b", {}, {}}};
  return launcher::Encode(launcher::DownMessage(node)) +
         launcher::Encode(
             launcher::DownMessage(launcher::StartAgent{1, {"--quiet"}})) +
         launcher::Encode(launcher::DownMessage(launcher::SignalAgents{1, 2})) +
         launcher::Encode(
             launcher::UpMessage(launcher::HostUp{1, "10.0.0.1", ""})) +
         launcher::Encode(launcher::UpMessage(
             launcher::OutputCame{0, launcher::OutputStream::kStdout, "x\n"})) +
         launcher::Encode(launcher::UpMessage(launcher::AgentEnded{0, 1, "v"}));
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  FuzzHosts(input);
  FuzzHosts(EditedBytes("a slots=4 max_slots=8\nu@b:2\n[::1]:3 # c\n", input));
  FuzzHosts(EditedBytes("a:0,2@[::1]:1", input));
  FuzzMessages(EditedBytes(SoundMessages(), input));
  FuzzMessages(EditedBytes(launcher::GreetingLine() + SoundMessages(), input));
  FuzzVariables(input);
  FuzzVariables(EditedBytes("A=1\nB = x\n# c\n", input));
  FuzzWords(input);
}

}  // namespace muster
