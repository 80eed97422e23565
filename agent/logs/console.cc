#include "agent/logs/console.h"

#include <cstring>
#include <utility>

#include "agent/logs/console_writer.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

constexpr std::chrono::seconds kGoodbye(1);
constexpr ConsoleWriter::WaitEnd kDone = ConsoleWriter::WaitEnd::kDone;

// Makes `other` print a message when a write to `failing` fails.
void TellErrorsOn(const std::shared_ptr<ConsoleWriter>& other,
                  const std::string& lead, ConsoleWriter& failing) {
  failing.SetOnError([weak = std::weak_ptr<ConsoleWriter>(other),
                      lead](int error) {
    const std::shared_ptr<ConsoleWriter> writer = weak.lock();
    if (writer == nullptr) return;
    writer->Write(lead + " cannot be written: " + std::strerror(error) + "\n");
  });
}

std::string LossText(const std::string& stream, const ConsoleWriter::Loss& loss,
                     const std::string& where) {
  std::string text;
  if (loss.failed > 0) {
    text = std::to_string(loss.failed) + " bytes could not be written to " +
           stream + ": " + std::strerror(loss.error);
  }
  if (loss.unread > 0) {
    if (!text.empty()) text += "; ";
    text += std::to_string(loss.unread) + " bytes were left out of " + stream +
            ", because its reader has stopped";
  }
  if (text.empty()) return "";
  return text + (where.empty()
                     ? "; no file has them"
                     : "; the workers' output is in the files of " + where);
}

}  // namespace

Console::Console(ConsoleFds fds, ConsoleWriter::Limits limits, std::string name)
    : fds_(fds),
      out_(std::make_shared<ConsoleWriter>(fds.out, limits)),
      err_(IsSameConsole(fds.out, fds.err)
               ? out_
               : std::make_shared<ConsoleWriter>(fds.err, limits)) {
  if (err_ == out_) return;
  TellErrorsOn(err_, name + ": stdout", *out_);
  TellErrorsOn(out_, name + ": stderr", *err_);
}

Console::~Console() { Flush(kGoodbye); }

std::vector<ConsoleWriter*> Console::Streams() const {
  if (err_ == out_) return {out_.get()};
  return {out_.get(), err_.get()};
}

std::vector<ConsoleWriter*> Console::StreamsToWaitFor() const {
  std::vector<ConsoleWriter*> streams = Streams();
  const Instant now = MonotonicNow();
  for (ConsoleWriter* stream : streams) stream->BeginWait(now);
  return streams;
}

void Console::SetOnRoom(const std::function<void()>& on_room) {
  for (ConsoleWriter* stream : Streams()) stream->SetOnRoom(on_room);
}

bool Console::HasRoom() {
  bool all = true;
  for (ConsoleWriter* stream : Streams()) all = stream->HasRoom() && all;
  return all;
}

bool Console::HasSpareRoom() const {
  bool all = true;
  for (ConsoleWriter* stream : Streams()) all = stream->HasSpareRoom() && all;
  return all;
}

int64_t Console::written() const {
  int64_t bytes = 0;
  for (ConsoleWriter* stream : Streams()) bytes += stream->written();
  return bytes;
}

int64_t Console::missing() const {
  int64_t bytes = 0;
  for (ConsoleWriter* stream : Streams()) {
    const ConsoleWriter::Loss loss = stream->loss();
    bytes += loss.unread + loss.dropped + loss.failed;
  }
  return bytes;
}

void Console::GiveUp() {
  for (ConsoleWriter* stream : Streams()) stream->GiveUp();
}

void Console::Tell(const std::string& line) {
  (err_->loss().failed > 0 ? out_ : err_)->Write(line);
}

bool Console::WaitForRoom(const ConsoleWriter::WaitLimits& limits) {
  bool all = true;
  for (ConsoleWriter* stream : StreamsToWaitFor()) {
    all = stream->WaitForRoom(limits) == kDone && all;
  }
  return all;
}

bool Console::Wait(const ConsoleWriter::WaitLimits& limits) {
  bool all = true;
  for (ConsoleWriter* stream : StreamsToWaitFor()) {
    all = stream->Wait(limits) == kDone && all;
  }
  return all;
}

void Console::MakeRoom(const ConsoleWriter::WaitLimits& limits) {
  for (ConsoleWriter* stream : StreamsToWaitFor()) {
    if (stream->WaitForRoom(limits) != kDone) stream->GiveUp();
  }
}

void Console::Finish(const ConsoleWriter::WaitLimits& limits) {
  for (ConsoleWriter* stream : StreamsToWaitFor()) {
    if (stream->Wait(limits) != kDone) stream->GiveUp();
  }
}

bool Console::Flush(Duration timeout) {
  const Instant deadline = MonotonicNow() + timeout;
  bool all = true;
  for (ConsoleWriter* stream : Streams()) {
    all = stream->Flush(deadline - MonotonicNow()) && all;
  }
  return all;
}

std::vector<std::string> Console::Losses(const std::string& where) const {
  std::vector<std::string> losses;
  for (ConsoleWriter* stream : Streams()) {
    const std::string name = err_ == out_           ? "the console"
                             : stream == out_.get() ? "stdout"
                                                    : "stderr";
    std::string text = LossText(name, stream->loss(), where);
    if (!text.empty()) losses.push_back(std::move(text));
  }
  return losses;
}

bool Console::Failed() const {
  for (ConsoleWriter* stream : Streams()) {
    if (stream->loss().failed > 0) return true;
  }
  return false;
}

bool Console::IsIncomplete() const {
  for (ConsoleWriter* stream : Streams()) {
    const ConsoleWriter::Loss loss = stream->loss();
    if (loss.failed > 0 || loss.unread > 0) return true;
  }
  return false;
}

}  // namespace muster::agent
