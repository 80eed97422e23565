#include "launcher/ssh/messages.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/guardian/wire_fields.h"
#include "base/check.h"

namespace muster::launcher {
namespace {

enum Kind : uint8_t {
  kBeNode = 1,
  kStartAgent,
  kSignalAgents,
  kStillThere,
  kHostUp = 64,
  kHostFailed,
  kCoordinatorUp,
  kOutputCame,
  kAgentEnded,
  kHostLost,
  kAgentKilled,
  kAgentWaits,
};

constexpr uint32_t kEveryHost = std::numeric_limits<uint32_t>::max();

std::string Framed(agent::FieldWriter writer) {
  std::string payload = writer.Take();
  std::string frame;
  const auto size = static_cast<uint32_t>(payload.size());
  for (int i = 0; i < 4; ++i) {
    frame.push_back(static_cast<char>(size >> (8 * i) & 0xff));
  }
  return frame += payload;
}

using Variables = std::map<std::string, std::string>;

void WriteVariables(agent::FieldWriter& w, const Variables& variables) {
  w.U32(static_cast<uint32_t>(variables.size()));
  for (const auto& [name, value] : variables) {
    w.String(name);
    w.String(value);
  }
}

Variables ReadVariables(agent::FieldReader& r) {
  Variables variables;
  for (uint32_t left = r.Count(8); left > 0; --left) {
    std::string name = r.String();
    variables[std::move(name)] = r.String();
  }
  return variables;
}

std::string Write(const BeNode& m) {
  agent::FieldWriter w(kBeNode);
  w.U32(m.protocol);
  w.String(m.version);
  w.String(m.run);
  w.String(m.working_directory);
  WriteVariables(w, m.environment);
  w.Strings(m.flags);
  w.Strings(m.program);
  w.U64(m.stop_timeout_ms);
  w.Strings(m.ssh.arguments);
  w.U64(m.ssh.timeout_ms);
  w.U32(m.ssh.fan_out);
  w.String(m.ssh.launch);
  w.U32(static_cast<uint32_t>(m.hosts.size()));
  for (const RemoteHost& host : m.hosts) {
    w.U32(host.index);
    w.String(host.name);
    w.String(host.destination);
    w.Strings(host.flags);
    WriteVariables(w, host.environment);
  }
  return Framed(std::move(w));
}

BeNode ReadBeNode(agent::FieldReader& r) {
  BeNode m;
  m.protocol = r.U32();
  m.version = r.String();
  m.run = r.String();
  m.working_directory = r.String();
  m.environment = ReadVariables(r);
  m.flags = r.Strings();
  m.program = r.Strings();
  m.stop_timeout_ms = r.U64();
  m.ssh.arguments = r.Strings();
  m.ssh.timeout_ms = r.U64();
  m.ssh.fan_out = r.U32();
  m.ssh.launch = r.String();
  m.hosts.resize(r.Count(20));
  for (RemoteHost& host : m.hosts) {
    host.index = r.U32();
    host.name = r.String();
    host.destination = r.String();
    host.flags = r.Strings();
    host.environment = ReadVariables(r);
  }
  return m;
}

std::string Write(const StartAgent& m) {
  agent::FieldWriter w(kStartAgent);
  w.U32(m.host);
  w.Strings(m.flags);
  w.U8(static_cast<uint8_t>(m.job_messages));
  return Framed(std::move(w));
}

std::string Write(const SignalAgents& m) {
  agent::FieldWriter w(kSignalAgents);
  w.U32(m.host.value_or(kEveryHost));
  w.I32(m.signal);
  return Framed(std::move(w));
}

std::string Write(const StillThere&) {
  return Framed(agent::FieldWriter(kStillThere));
}

std::string Write(const HostUp& m) {
  agent::FieldWriter w(kHostUp);
  w.U32(m.host);
  w.String(m.reached_address);
  w.String(m.outward_address);
  return Framed(std::move(w));
}

std::string Write(const HostFailed& m) {
  agent::FieldWriter w(kHostFailed);
  w.U32(m.host);
  w.String(m.why);
  w.I32(m.exit_code);
  return Framed(std::move(w));
}

std::string Write(const CoordinatorUp& m) {
  agent::FieldWriter w(kCoordinatorUp);
  w.U32(m.host);
  w.String(m.address);
  w.U32(m.port);
  return Framed(std::move(w));
}

std::string Write(const OutputCame& m) {
  agent::FieldWriter w(kOutputCame);
  w.U32(m.host);
  w.U8(static_cast<uint8_t>(m.stream));
  w.String(m.lines);
  return Framed(std::move(w));
}

std::string Write(const AgentWaits& m) {
  agent::FieldWriter w(kAgentWaits);
  w.U32(m.host);
  return Framed(std::move(w));
}

std::string Write(const AgentKilled& m) {
  agent::FieldWriter w(kAgentKilled);
  w.U32(m.host);
  w.I32(m.exit_code);
  return Framed(std::move(w));
}

std::string Write(const AgentEnded& m) {
  agent::FieldWriter w(kAgentEnded);
  w.U32(m.host);
  w.I32(m.exit_code);
  w.String(m.verdict);
  return Framed(std::move(w));
}

std::string Write(const HostLost& m) {
  agent::FieldWriter w(kHostLost);
  w.U32(m.host);
  w.String(m.why);
  return Framed(std::move(w));
}

}  // namespace

std::string Encode(const DownMessage& message) {
  return std::visit([](const auto& m) { return Write(m); }, message);
}

std::string Encode(const UpMessage& message) {
  return std::visit([](const auto& m) { return Write(m); }, message);
}

std::optional<DownMessage> DecodeDown(std::string_view payload) {
  agent::FieldReader r(payload);
  std::optional<DownMessage> message;
  switch (r.U8()) {
    case kBeNode: {
      message = ReadBeNode(r);
      break;
    }
    case kStartAgent: {
      StartAgent m;
      m.host = r.U32();
      m.flags = r.Strings();
      const uint8_t job_messages = r.U8();
      if (job_messages > static_cast<uint8_t>(agent::JobMessages::kAssigned)) {
        return std::nullopt;
      }
      m.job_messages = static_cast<agent::JobMessages>(job_messages);
      message = std::move(m);
      break;
    }
    case kSignalAgents: {
      SignalAgents m;
      const uint32_t host = r.U32();
      if (host != kEveryHost) m.host = host;
      m.signal = r.I32();
      if (m.signal < 1 || m.signal > 64) return std::nullopt;
      message = m;
      break;
    }
    case kStillThere:
      message = StillThere();
      break;
    default:
      return std::nullopt;
  }
  if (!r.complete()) return std::nullopt;
  return message;
}

std::optional<UpMessage> DecodeUp(std::string_view payload) {
  agent::FieldReader r(payload);
  std::optional<UpMessage> message;
  switch (r.U8()) {
    case kHostUp: {
      HostUp m;
      m.host = r.U32();
      m.reached_address = r.String();
      m.outward_address = r.String();
      message = std::move(m);
      break;
    }
    case kHostFailed: {
      HostFailed m;
      m.host = r.U32();
      m.why = r.String();
      m.exit_code = r.I32();
      message = std::move(m);
      break;
    }
    case kCoordinatorUp: {
      CoordinatorUp m;
      m.host = r.U32();
      m.address = r.String();
      m.port = r.U32();
      if (m.port == 0 || m.port > 65535) return std::nullopt;
      message = std::move(m);
      break;
    }
    case kOutputCame: {
      OutputCame m;
      m.host = r.U32();
      const uint8_t stream = r.U8();
      if (stream != 1 && stream != 2) return std::nullopt;
      m.stream = static_cast<OutputStream>(stream);
      m.lines = r.String();
      message = std::move(m);
      break;
    }
    case kAgentWaits: {
      AgentWaits m;
      m.host = r.U32();
      message = m;
      break;
    }
    case kAgentKilled: {
      AgentKilled m;
      m.host = r.U32();
      m.exit_code = r.I32();
      if (m.exit_code < 0 || m.exit_code > 255) return std::nullopt;
      message = m;
      break;
    }
    case kAgentEnded: {
      AgentEnded m;
      m.host = r.U32();
      m.exit_code = r.I32();
      m.verdict = r.String();
      message = std::move(m);
      break;
    }
    case kHostLost: {
      HostLost m;
      m.host = r.U32();
      m.why = r.String();
      message = std::move(m);
      break;
    }
    default:
      return std::nullopt;
  }
  if (!r.complete()) return std::nullopt;
  return message;
}

namespace {

constexpr size_t kMaxBefore = 64 << 10;
constexpr size_t kLengthBytes = 4;

}  // namespace

std::string GreetingLine() {
  return absl::StrCat(kGreeting, kSshProtocol, "\n");
}

void FrameReader::Append(std::string_view bytes) {
  if (!error_.empty()) return;
  buffer_.erase(0, used_);
  used_ = 0;
  buffer_.append(bytes);
  if (!greeted_) LookForGreeting();
}

void FrameReader::LookForGreeting() {
  const size_t at = buffer_.find(kGreeting);
  const size_t end = at == std::string::npos ? at : buffer_.find('\n', at);
  if (end != std::string::npos) {
    const std::string expected = GreetingLine();
    if (buffer_.compare(at, end + 1 - at, expected) != 0) {
      error_ = "another version of launch runs there; install this one";
      return;
    }
    greeted_ = true;
    buffer_.erase(0, end + 1);
    return;
  }
  if (buffer_.size() > kMaxBefore) {
    buffer_.erase(0, buffer_.size() - kMaxBefore / 2);
  }
}

std::string_view FrameReader::before_greeting() const {
  return greeted_ ? std::string_view() : std::string_view(buffer_);
}

std::optional<std::string_view> FrameReader::Next() {
  if (!greeted_ || !error_.empty()) return std::nullopt;
  if (buffer_.size() - used_ < kLengthBytes) return std::nullopt;
  size_t size = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    size |= static_cast<size_t>(static_cast<unsigned char>(buffer_[used_ + i]))
            << (8 * i);
  }
  if (size > kMaxFrameBytes) {
    error_ = "what came is no message of ours";
    return std::nullopt;
  }
  if (buffer_.size() - used_ - kLengthBytes < size) return std::nullopt;
  const std::string_view payload(buffer_.data() + used_ + kLengthBytes, size);
  used_ += kLengthBytes + size;
  return payload;
}

std::vector<std::vector<RemoteHost>> PartHosts(std::vector<RemoteHost> hosts,
                                               size_t fan_out) {
  MUSTER_CHECK(fan_out > 0);
  const size_t groups = std::min(fan_out, hosts.size());
  std::vector<std::vector<RemoteHost>> parts(groups);
  auto next = hosts.begin();
  for (size_t i = 0; i < groups; ++i) {
    const size_t left = static_cast<size_t>(hosts.end() - next);
    const size_t size = (left + groups - i - 1) / (groups - i);
    const auto end = next + static_cast<std::ptrdiff_t>(size);
    parts[i].assign(std::make_move_iterator(next),
                    std::make_move_iterator(end));
    next = end;
  }
  return parts;
}

}  // namespace muster::launcher
