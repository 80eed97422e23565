#include "agent/guardian/wire.h"

#include <csignal>

#include "absl/status/status.h"
#include "agent/guardian/wire_fields.h"

namespace muster::agent {
namespace {

enum Kind : uint8_t {
  kStart = 1,
  kSignal = 2,
  kRemove = 3,
  kTerminal = 4,
  kJobFiles = 5,
  kStarted = 16,
  kNotStarted = 17,
  kEnded = 18,
  kAllGone = 19,
  kAlive = 20,
};

constexpr int kNoMemoryNode = -1;
constexpr int kEveryWorker = -1;

std::string EncodeOne(const StartCommand& start) {
  FieldWriter out(kStart);
  out.I32(start.local_rank);
  out.Strings(start.argv);
  out.U32(static_cast<uint32_t>(start.environment.size()));
  for (const auto& [name, value] : start.environment) {
    out.String(name);
    out.String(value);
  }
  out.Strings(start.unset);
  out.String(start.working_directory);
  out.U32(static_cast<uint32_t>(start.cpus.size()));
  for (const int cpu : start.cpus) out.I32(cpu);
  out.I32(start.memory_node.value_or(kNoMemoryNode));
  out.U64(start.ignored_signals);
  out.U8(start.has_stdin ? 1 : 0);
  out.U8(start.has_stdout ? 1 : 0);
  out.U8(start.has_stderr ? 1 : 0);
  out.U8(start.has_key ? 1 : 0);
  out.U8(start.controls_terminal ? 1 : 0);
  return out.Take();
}

std::string EncodeOne(const SignalCommand& command) {
  FieldWriter out(kSignal);
  out.I32(command.signal);
  out.U8(command.everything ? 1 : 0);
  out.I32(command.local_rank.value_or(kEveryWorker));
  return out.Take();
}

std::string EncodeOne(const RemoveCommand& command) {
  FieldWriter out(kRemove);
  out.String(command.folder);
  return out.Take();
}

std::string EncodeOne(const JobFilesCommand& command) {
  FieldWriter out(kJobFiles);
  out.String(command.files.folder);
  out.Strings(command.files.names);
  out.String(command.files.job);
  return out.Take();
}

std::string EncodeOne(const TerminalCommand& command) {
  FieldWriter out(kTerminal);
  out.String(command.modes);
  return out.Take();
}

std::string EncodeOne(const StartedNotice& notice) {
  FieldWriter out(kStarted);
  out.I32(notice.local_rank);
  out.I32(notice.pid);
  return out.Take();
}

std::string EncodeOne(const NotStartedNotice& notice) {
  FieldWriter out(kNotStarted);
  out.I32(notice.local_rank);
  out.String(notice.step);
  out.String(notice.path);
  out.I32(notice.error);
  return out.Take();
}

std::string EncodeOne(const EndedNotice& notice) {
  FieldWriter out(kEnded);
  out.I32(notice.local_rank);
  out.I32(notice.pid);
  out.I32(notice.wait_status);
  out.U8(notice.signalled ? 1 : 0);
  return out.Take();
}

std::string EncodeOne(const AllGoneNotice& notice) {
  FieldWriter out(kAllGone);
  out.U64(notice.starts_taken);
  out.U32(static_cast<uint32_t>(notice.left_behind.size()));
  for (const LeftBehind& one : notice.left_behind) {
    out.I32(one.rank);
    out.String(one.name);
  }
  return out.Take();
}

std::string EncodeOne(const AliveNotice&) { return FieldWriter(kAlive).Take(); }

StartCommand ReadStart(FieldReader& in) {
  StartCommand start;
  start.local_rank = in.I32();
  start.argv = in.Strings();
  start.environment.resize(in.Count(8));
  for (auto& [name, value] : start.environment) {
    name = in.String();
    value = in.String();
  }
  start.unset = in.Strings();
  start.working_directory = in.String();
  start.cpus.resize(in.Count(4));
  for (int& cpu : start.cpus) cpu = in.I32();
  const int node = in.I32();
  if (node != kNoMemoryNode) start.memory_node = node;
  start.ignored_signals = in.U64();
  start.has_stdin = in.U8() != 0;
  start.has_stdout = in.U8() != 0;
  start.has_stderr = in.U8() != 0;
  start.has_key = in.U8() != 0;
  start.controls_terminal = in.U8() != 0;
  return start;
}

AllGoneNotice ReadAllGone(FieldReader& in) {
  AllGoneNotice gone;
  gone.starts_taken = in.U64();
  gone.left_behind.resize(in.Count(8));
  for (LeftBehind& one : gone.left_behind) {
    one.rank = in.I32();
    one.name = in.String();
  }
  return gone;
}

bool CanBeBound(const StartCommand& start) {
  for (size_t i = 0; i < start.cpus.size(); ++i) {
    const int least = i == 0 ? 0 : start.cpus[i - 1] + 1;
    if (start.cpus[i] < least || start.cpus[i] >= kMaxCpus) return false;
  }
  return !start.memory_node ||
         (*start.memory_node >= 0 && *start.memory_node < kMaxMemoryNodes);
}

absl::Status Unreadable(std::string_view what) {
  return absl::InvalidArgumentError("a message between agent and guardian " +
                                    std::string(what));
}

}  // namespace

std::string Encode(const Command& command) {
  return std::visit([](const auto& one) { return EncodeOne(one); }, command);
}

std::string Encode(const Notice& notice) {
  return std::visit([](const auto& one) { return EncodeOne(one); }, notice);
}

absl::StatusOr<Command> DecodeCommand(std::string_view payload) {
  FieldReader in(payload);
  Command command;
  switch (in.U8()) {
    case kStart: {
      StartCommand start = ReadStart(in);
      if (start.argv.empty()) return Unreadable("starts no program");
      if (!CanBeBound(start)) return Unreadable("binds to impossible CPUs");
      command = std::move(start);
      break;
    }
    case kSignal: {
      SignalCommand signal;
      signal.signal = in.I32();
      signal.everything = in.U8() != 0;
      const int local_rank = in.I32();
      if (local_rank != kEveryWorker) signal.local_rank = local_rank;
      if (signal.signal < 1 || signal.signal > SIGRTMAX) {
        return Unreadable("names no signal");
      }
      command = signal;
      break;
    }
    case kRemove: {
      RemoveCommand remove;
      remove.folder = in.String();
      command = std::move(remove);
      break;
    }
    case kJobFiles: {
      JobFilesCommand job;
      job.files.folder = in.String();
      job.files.names = in.Strings();
      job.files.job = in.String();
      command = std::move(job);
      break;
    }
    case kTerminal: {
      TerminalCommand terminal;
      terminal.modes = in.String();
      command = std::move(terminal);
      break;
    }
    default:
      return Unreadable("is of an unknown kind");
  }
  if (!in.complete()) return Unreadable("has the wrong length");
  return command;
}

absl::StatusOr<Notice> DecodeNotice(std::string_view payload) {
  FieldReader in(payload);
  Notice notice;
  switch (in.U8()) {
    case kStarted: {
      StartedNotice started;
      started.local_rank = in.I32();
      started.pid = in.I32();
      notice = started;
      break;
    }
    case kNotStarted: {
      NotStartedNotice not_started;
      not_started.local_rank = in.I32();
      not_started.step = in.String();
      not_started.path = in.String();
      not_started.error = in.I32();
      notice = std::move(not_started);
      break;
    }
    case kEnded: {
      EndedNotice ended;
      ended.local_rank = in.I32();
      ended.pid = in.I32();
      ended.wait_status = in.I32();
      ended.signalled = in.U8() != 0;
      notice = ended;
      break;
    }
    case kAllGone:
      notice = ReadAllGone(in);
      break;
    case kAlive:
      notice = AliveNotice{};
      break;
    default:
      return Unreadable("is of an unknown kind");
  }
  if (!in.complete()) return Unreadable("has the wrong length");
  return notice;
}

namespace {

bool HoldsNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

absl::Status Refuse(const WorkerSpec& spec, const std::string& why) {
  return absl::InvalidArgumentError("worker " +
                                    std::to_string(spec.local_rank) +
                                    " cannot be started: " + why);
}

absl::Status CheckName(const WorkerSpec& spec, const std::string& name) {
  if (!name.empty() && name.find('=') == std::string::npos && !HoldsNul(name)) {
    return absl::OkStatus();
  }
  return Refuse(spec, "\"" + name + "\" is no name of an environment variable");
}

absl::Status Check(const WorkerSpec& spec) {
  if (spec.argv.empty()) return Refuse(spec, "no program is given");
  for (size_t i = 0; i < spec.argv.size(); ++i) {
    if (HoldsNul(spec.argv[i])) {
      return Refuse(spec,
                    "argument " + std::to_string(i) + " holds a NUL character");
    }
  }
  for (const auto& [name, value] : spec.environment) {
    if (absl::Status good = CheckName(spec, name); !good.ok()) return good;
    if (HoldsNul(value)) {
      return Refuse(spec, "the variable " + name + " holds a NUL character");
    }
  }
  for (const std::string& name : spec.unset) {
    if (absl::Status good = CheckName(spec, name); !good.ok()) return good;
  }
  if (HoldsNul(spec.working_directory)) {
    return Refuse(spec, "the working directory holds a NUL character");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodeStart(const WorkerSpec& spec) {
  if (absl::Status good = Check(spec); !good.ok()) return good;
  StartCommand start;
  start.local_rank = spec.local_rank;
  start.argv = spec.argv;
  start.environment = spec.environment;
  start.unset = spec.unset;
  start.working_directory = spec.working_directory;
  start.cpus = spec.cpus;
  start.memory_node = spec.memory_node;
  start.ignored_signals = spec.ignored_signals;
  start.has_stdin = spec.stdin_fd >= 0;
  start.has_stdout = spec.stdout_fd >= 0;
  start.has_stderr = spec.stderr_fd >= 0;
  start.has_key = spec.key_fd >= 0;
  start.controls_terminal = spec.controls_terminal;
  std::string payload = Encode(Command(std::move(start)));
  if (payload.size() > kMaxMessageBytes) {
    return Refuse(spec, "its arguments and environment take " +
                            std::to_string(payload.size()) +
                            " bytes, more than " +
                            std::to_string(kMaxMessageBytes));
  }
  return payload;
}

}  // namespace muster::agent
