// Fuzzes the code by which an agent, `launch inspect` and `launch doctor` read
// the output of workers and their tools. The first byte of the input selects
// the kind: progress datagrams, error files, output lines, stacks, messages
// between agent and guardian, reports of a doctor's nodes, texts of the kernel
// (/proc/PID/stat, kernel log lines about NVIDIA GPUs), or flight records. The
// rest is the bytes themselves, or edits (edited_bytes.h) of valid ones.
//
// Aborts in four cases: a result is out of its bounds; a text for people has
// control characters; a stream's lines depend on the pieces in which the stream
// arrives; accepted input changes when it is written and read again.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/failures/error_file.h"
#include "agent/failures/round_records.h"
#include "agent/guardian/descendants.h"
#include "agent/guardian/wire.h"
#include "agent/health/read_surroundings.h"
#include "agent/logs/stream_lines.h"
#include "agent/logs/terminal_text.h"
#include "agent/progress/progress_message.h"
#include "agent/stacks/stack_lines.h"
#include "base/check.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/node_report.h"
#include "launcher/doctor/worker_outcome.h"
#include "launcher/inspect_text.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/progress.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/flight_files.h"
#include "trainer_sdk/flight_recorder/flight_ring.h"
#include "trainer_sdk/flight_recorder/torch_flight.h"

namespace muster {
namespace {

// Aborts unless `text` is printable UTF-8. Tabs and line ends are allowed.
void CheckPrintable(const std::string& text) {
  MUSTER_CHECK(std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
  })) << text;
  MUSTER_CHECK(agent::ValidUtf8(text) == text) << text;
  // Find the C1 control characters (0x80 to 0x9f) in UTF-8. A terminal may take
  // them for the beginning of an escape sequence.
  for (size_t at = 0; (at = text.find('\xc2', at)) != std::string::npos; ++at) {
    MUSTER_CHECK(static_cast<unsigned char>(text[at + 1]) > 0x9f) << text;
  }
}

void FuzzProgress(std::string_view datagram) {
  agent::ProgressMessage message = agent::ParseProgress(datagram);
  MUSTER_CHECK(message.step.value_or(0) >= 0);
  const double rate = message.tokens_per_s.value_or(0);
  MUSTER_CHECK(std::isfinite(rate) && rate >= 0);
  const std::string status = message.status.value_or("");
  MUSTER_CHECK(status.size() <= rendezvous::kMaxStatusBytes);
  MUSTER_CHECK(status.find('\n') == std::string::npos);
  CheckPrintable(status);
  const Duration watchdog = message.watchdog.value_or(Duration::zero());
  MUSTER_CHECK(watchdog == Duration::zero() ||
               (watchdog >= agent::kShortestWatchdog &&
                watchdog <= std::chrono::hours(24 * 365)));
  MUSTER_CHECK(message.alive || !message.step.has_value());
  constexpr Duration kTenYears = std::chrono::hours(10 * 365 * 24);
  for (const auto& time : {message.own, message.blocked, message.data}) {
    const Duration value = time.value_or(Duration::zero());
    MUSTER_CHECK(value >= Duration::zero() && value <= kTenYears);
  }
  MUSTER_CHECK(message.sent.value_or(0) >= 0);
  if (message.links.has_value()) {
    const std::vector<rendezvous::LinkTime>& links = *message.links;
    MUSTER_CHECK(!links.empty() &&
                 links.size() <= rendezvous::kMaxLinksPerRank);
    std::set<int> peers;
    for (const rendezvous::LinkTime& link : links) {
      MUSTER_CHECK(link.peer >= 0 && peers.insert(link.peer).second);
      MUSTER_CHECK(link.limited >= Duration::zero() &&
                   link.limited <= kTenYears);
    }
  }
  // The SDK sends OWN_NS, LINKS_NS and SENT_BYTES by itself, without a call by
  // the program. So these lines must not count as progress of the program
  // (`alive`).
  agent::ProgressMessage measured = message;
  measured.alive = false;
  agent::Append(agent::ParseProgress("OWN_NS=1\nLINKS_NS=3:7\nSENT_BYTES=9"),
                &measured);
  MUSTER_CHECK(!measured.alive && measured.own == Duration(1) &&
               measured.links->size() == 1 && measured.sent == 9);
  agent::Append(agent::ParseProgress("STEP=7"), &message);
  MUSTER_CHECK(message.alive && message.step == 7);
}

void FuzzErrorFile(std::string_view json) {
  const auto file = agent::ParseErrorFile(json);
  if (!file.ok()) return;
  MUSTER_CHECK(!file->message.empty() || !file->traceback.empty());
  MUSTER_CHECK(std::isfinite(file->unix_time) && file->unix_time >= 0);
  const std::string message = agent::BoundedLine(file->message, 80);
  MUSTER_CHECK(message.size() <= 80 && message.find('\n') == std::string::npos);
  CheckPrintable(message);
  MUSTER_CHECK(agent::BoundedTail(file->traceback, 100).size() <= 100);
}

std::vector<agent::Line> LinesOf(std::string_view stream, size_t cut) {
  agent::LineAssembler assembler(64);
  std::vector<agent::Line> lines = assembler.Append(stream.substr(0, cut));
  MUSTER_CHECK(assembler.Partial().size() <= 64);
  for (agent::Line& line : assembler.Append(stream.substr(cut))) {
    lines.push_back(std::move(line));
  }
  if (auto last = assembler.Finish()) lines.push_back(*std::move(last));
  return lines;
}

void FuzzOutput(std::string_view stream) {
  if (stream.empty()) return;
  const size_t cut = static_cast<unsigned char>(stream[0]);
  stream.remove_prefix(1);
  const std::vector<agent::Line> lines = LinesOf(stream, stream.size());
  MUSTER_CHECK(LinesOf(stream, std::min(cut, stream.size())) == lines);
  for (const agent::Line& line : lines) {
    MUSTER_CHECK(line.text.size() <= 64 &&
                 line.text.find('\n') == std::string::npos);
    const std::string plain =
        agent::WithoutControls(line.text, agent::Colours::kDrop);
    MUSTER_CHECK(plain.find('\x1b') == std::string::npos);
    MUSTER_CHECK(agent::WithoutControls(plain, agent::Colours::kDrop) == plain);
  }
  const std::string shown = agent::ForTerminal(stream);
  CheckPrintable(shown);
  agent::TailBuffer tail;
  tail.Append(stream.substr(0, std::min(cut, stream.size())));
  tail.Append(stream.substr(std::min(cut, stream.size())));
  const std::vector<std::string> last = tail.Lines();
  MUSTER_CHECK(last.size() <= rendezvous::kMaxStderrLines);
  for (const std::string& line : last) {
    MUSTER_CHECK(line.size() <= rendezvous::kMaxLineBytes);
    CheckPrintable(line);
  }
}

void FuzzStacks(std::string_view input) {
  const std::string text(input);
  const std::string python = EditedBytes(
      "Process 7: python3 train.py\nPython v3.11\n\nThread 7 (idle): "
      "\"MainThread\"\n    step (train.py:3)\n    <module> (train.py:9)\n",
      input);
  const std::string native = EditedBytes(
      "Thread 1 (LWP 7):\n#0  0x00007f in read () from libc.so.6\n#1  main ()",
      input);
  for (const agent::StackTexts& texts :
       {agent::StackTexts{.python = python},
        agent::StackTexts{.native = native},
        agent::StackTexts{.kernel = text, .why_no_python = text}}) {
    for (const std::string& line : agent::MostInformativeLines(texts)) {
      MUSTER_CHECK(line.size() <= rendezvous::kMaxLineBytes);
      CheckPrintable(line);
    }
    agent::WholeText(texts);
  }
}

void FuzzGuardian(std::string_view input) {
  agent::StartCommand start;
  start.argv = {"python3", "train.py"};
  start.environment = {{"A", "1"}};
  start.unset = {"B"};
  start.working_directory = "/d";
  start.cpus = {0, 2};
  start.memory_node = 1;
  start.has_stdout = true;
  for (const agent::Command& sound :
       {agent::Command(start),
        agent::Command(agent::SignalCommand{15, true, 1}),
        agent::Command(agent::TerminalCommand{"modes"})}) {
    const auto command =
        agent::DecodeCommand(EditedBytes(agent::Encode(sound), input));
    if (!command.ok()) continue;
    const std::string bytes = agent::Encode(*command);
    const auto again = agent::DecodeCommand(bytes);
    MUSTER_CHECK(again.ok() && agent::Encode(*again) == bytes);
  }
  for (const agent::Notice& sound :
       {agent::Notice(agent::NotStartedNotice{1, "chdir", "/d", 2}),
        agent::Notice(agent::EndedNotice{1, 77, 256, true}),
        agent::Notice(agent::AllGoneNotice{2, {{1, "python3"}}})}) {
    const auto notice =
        agent::DecodeNotice(EditedBytes(agent::Encode(sound), input));
    if (!notice.ok()) continue;
    const std::string bytes = agent::Encode(*notice);
    const auto again = agent::DecodeNotice(bytes);
    MUSTER_CHECK(again.ok() && agent::Encode(*again) == bytes);
  }
}

void FuzzDoctor(std::string_view input) {
  launcher::NodeReport report;
  report.host = "node7";
  report.node = "n7";
  report.node_rank = 7;
  report.addresses = {{"advertised", "10.0.0.7"}};
  report.findings = {
      {agent::Severity::kError, "gpu-lost", "GPU 3 is lost", "reset it"}};
  report.versions = {{"driver", "550"}};
  report.hardware = {{"cores", "64"}};
  const std::string one = EditedBytes(launcher::NodeReportJson(report), input);
  if (const auto read = launcher::ParseNodeReport(one); read.ok()) {
    const std::string json = launcher::NodeReportJson(*read);
    const auto again = launcher::ParseNodeReport(json);
    MUSTER_CHECK(again.ok() && launcher::NodeReportJson(*again) == json);
    CheckPrintable(launcher::DoctorText(*read, launcher::Detail::kAll, {}));
  }
  const std::string page = EditedBytes(
      launcher::NodesJson({{report, report}, report.findings, 2}), input);
  if (const auto read = launcher::ParseNodesJson(page); read.ok()) {
    const std::string json = launcher::NodesJson(*read);
    const auto again = launcher::ParseNodesJson(json);
    MUSTER_CHECK(again.ok() && launcher::NodesJson(*again) == json);
    CheckPrintable(launcher::NodesText(*read, launcher::Detail::kAll, {}));
  }
  const std::string text(input);
  const launcher::ReadOutcome outcome = launcher::ReadOutcomeLines(
      "other output\n" + launcher::OutcomeLines(text));
  MUSTER_CHECK(outcome.text == text && outcome.rest == "other output\n");
  launcher::ReadOutcomeLines(
      EditedBytes(launcher::OutcomeLines("text of a page"), input));
}

FlightLog SoundLog() {
  FlightLog log;
  log.rank = 1;
  log.world_size = 4;
  log.host = "node1";
  log.pid = 77;
  log.reason = "broken";
  log.written = 12.5;
  log.groups = {{"world", 1, 4, {0, 1, 2, 3}, 5, 1}, {"pair", 0, 2, {1, 3}, 6}};
  FlightRecord record;
  record.number = 1;
  record.signature.sequence = 3;
  record.signature.kind = OperationKind::kAllReduce;
  record.signature.count = 1024;
  record.bytes = 4096;
  record.queued = 2;
  record.started = 3;
  log.records = {record, record};
  log.records[1].group = 1;
  log.records[1].signature.kind = OperationKind::kBatch;
  log.records[1].peers = {1};
  return log;
}

void CheckFlight(FlightLog log) {
  MUSTER_CHECK(log.rank >= 0 && log.rank < log.world_size);
  for (const FlightRecord& record : log.records) {
    MUSTER_CHECK(record.group >= 0 &&
                 static_cast<size_t>(record.group) < log.groups.size());
  }
  FlightLog other = SoundLog();
  other.rank = log.rank == 0 ? 1 : 0;
  other.world_size = log.world_size = std::max(log.world_size, 2);
  const FlightAnalysis analysis = AnalyseFlight({log, other});
  CheckPrintable(launcher::InspectText(analysis, 2, {}));
}

void FuzzFlightJson(std::string_view input) {
  auto log = ParseFlight(EditedBytes(FlightJson(SoundLog()), input));
  if (!log.ok()) {
    MUSTER_CHECK(log.status().message().find('\n') == std::string::npos);
    return;
  }
  CheckFlight(*std::move(log));
}

// Returns a valid file of a flight recorder: the bytes of a RingImage, as a
// process writes them.
const std::string& SoundRing() {
  static const std::string& ring = *[] {
    auto* bytes = new std::string(sizeof(RingImage), '\0');
    auto image = std::make_unique<RingImage>();
    std::memcpy(image->magic, kRingMagic, sizeof(kRingMagic));
    image->rank = 1;
    image->world_size = 4;
    image->pid = 77;
    std::strcpy(image->host, "node1");
    std::strcpy(image->reason, "broken");
    image->failed = 1;
    image->groups[0].id = 1;
    image->groups[0].rank = 1;
    image->groups[0].size = 4;
    std::strcpy(image->groups[0].name, "world");
    std::strcpy(image->groups[0].members, "0-3");
    for (int i = 0; i < 2; ++i) {
      RingSlot& slot = image->slots[i];
      slot.number = static_cast<uint64_t>(i) + 1;
      slot.sequence = 3;
      slot.what = uint64_t{1} << 32 |
                  static_cast<uint64_t>(i == 0 ? OperationKind::kAllReduce
                                               : OperationKind::kBatch)
                      << 24;
      slot.count = 1024;
      slot.queued = 5;
      slot.peers[0] = 2;
    }
    std::memcpy(bytes->data(), static_cast<const void*>(image.get()),
                sizeof(RingImage));
    return bytes;
  }();
  return ring;
}

void FuzzFlightRing(std::string_view input) {
  // Resize the edited bytes to the size of a RingImage, because edits may
  // insert or remove bytes. ParseFlight reads a file as a ring only if it has
  // exactly this size.
  std::string bytes = EditedBytes(SoundRing(), input);
  bytes.resize(sizeof(RingImage));
  auto log = ParseFlight(bytes);
  if (log.ok()) CheckFlight(*std::move(log));
}

// A dump of PyTorch's flight recorder with one operation: a Python pickle with
// protocol number 2. The length of each string is stored in one byte.
const std::string& SoundTorchDump() {
  static const std::string& dump = *[] {
    const auto text = [](std::string_view value) {
      return absl::StrCat("\x8c",
                          std::string(1, static_cast<char>(value.size())),
                          absl::string_view(value.data(), value.size()));
    };
    const std::string record = absl::StrCat(
        "}(", text("record_id"), "K\x07", text("collective_seq_id"), "K\x03",
        text("process_group"), text("0"), text("default_pg"), "\x86",
        text("profiling_name"), text("nccl:all_reduce"), text("state"),
        text("started"), text("input_sizes"),
        "](](K\x08K\x02"
        "ee",
        text("input_dtypes"), "](", text("Float"), "e", text("output_sizes"),
        "]", text("output_dtypes"), "]", text("retired"), "\x89",
        text("time_created_ns"), "J\x01\x02\x03\x04u");
    return new std::string(absl::StrCat(
        "\x80\x02}(", text("version"), text("2.10"), text("pg_config"), "}(",
        text("0"), "}(", text("ranks"), text("[0, 1]"), "uu", text("entries"),
        "](", record, "eu."));
  }();
  return dump;
}

void FuzzTorchFlight(std::string_view input) {
  auto log = ParseTorchFlight(EditedBytes(SoundTorchDump(), input), 0);
  if (!log.ok()) {
    MUSTER_CHECK(log.status().message().find('\n') == std::string::npos);
    return;
  }
  CheckFlight(*std::move(log));
}

rendezvous::Failure SoundEnd() {
  rendezvous::Failure end;
  end.rank = 1;
  end.host = "node1";
  end.pid = 77;
  end.unix_time = 12.5;
  end.message = "killed by SIGKILL (9)";
  return end;
}

void FuzzFlightEnds(std::string_view input) {
  const auto ends = ParseFlightEnds(EditedBytes(
      agent::WorkerEndsJson({.round = 2, .world_size = 4}, {SoundEnd()}),
      input));
  if (!ends.ok()) {
    MUSTER_CHECK(ends.status().message().find('\n') == std::string::npos);
    return;
  }
  const FlightAnalysis analysis = AnalyseFlight({SoundLog()}, ends->ends);
  CheckPrintable(launcher::InspectText(analysis, 1, {}));
}

void FuzzKernel(std::string_view input) {
  const auto process = agent::ParseProcessStat(EditedBytes(
      "77 (python3) x) S 1 77 77 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 4 0 12345 "
      "1 2 3",
      input));
  MUSTER_CHECK(!process.has_value() || process->pid > 0);
  const auto xids = agent::ParseXids(
      EditedBytes("4,1,5678901,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n",
                  input),
      std::chrono::hours(1));
  for (const agent::XidEvent& event : xids) {
    MUSTER_CHECK(event.xid > 0 && event.pci_address.size() <= 32);
  }
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const int kind = static_cast<unsigned char>(input[0]) % 14;
  input.remove_prefix(1);
  switch (kind) {
    case 0:
      return FuzzProgress(input);
    case 1:
      return FuzzProgress(EditedBytes(
          "STEP=1200\nLOSS=2.31\nTOKENS_PER_S=51000\nSTATUS=warming "
          "up\nWATCHDOG_S=30\nWATCHDOG=1\nCHECKPOINT=1\nOWN_NS=81000000\n"
          "BLOCKED_NS=9000000\nDATA_NS=2000000\nLINKS_NS=3:70,11:0\n"
          "SENT_BYTES=900\n",
          input));
    case 2:
      return FuzzErrorFile(input);
    case 3:
      return FuzzErrorFile(EditedBytes(
          R"({"message": {"message": "ValueError: no", "extraInfo": )"
          R"({"py_callstack": "Traceback\n  x", "timestamp": "1700000000"}}})",
          input));
    case 4:
    case 5:
      return FuzzOutput(input);
    case 6:
      return FuzzStacks(input);
    case 7:
      return FuzzGuardian(input);
    case 8:
      return FuzzDoctor(input);
    case 9:
      return FuzzFlightJson(input);
    case 10:
      return FuzzFlightRing(input);
    case 11:
      return FuzzKernel(input);
    case 12:
      return FuzzTorchFlight(input);
    default:
      return FuzzFlightEnds(input);
  }
}

}  // namespace muster
