#include "agent/pair_check/gpu_pair.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/commands/child_program.h"
#include "agent/logs/terminal_text.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "nccl/nccl_library.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

// Maximum length in bytes of the text that describes this node's GPUs. The
// partner gets the text's length as one byte, then the text.
constexpr size_t kMaxKindBytes = 200;
constexpr size_t kIdBytes = size_t{2} * nccl::kNcclUniqueIdBytes;

// The child program that measures this node's GPUs. Each wait for its output
// ends at `deadline`, or when `cancel_fd` becomes readable.
class Program {
 public:
  Program(std::unique_ptr<ChildProgram> child, int cancel_fd, Instant deadline)
      : child_(std::move(child)), cancel_fd_(cancel_fd), deadline_(deadline) {}
  ~Program() { child_->Stop(kGpuPairEnd); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  absl::Status Order(const std::string& order) { return child_->Write(order); }

  // Waits for the program's next line, which must begin with `start`, for at
  // most `limit`. Returns the rest of the line. Internal: the program has ended
  // or has printed another line. Unavailable: the program says that it has
  // failed.
  absl::StatusOr<std::string> Expect(absl::string_view start, Duration limit) {
    const Instant until = std::min(deadline_, MonotonicNow() + limit);
    while (!child_->Read().whole) {
      pollfd fds[] = {{.fd = child_->fd(), .events = POLLIN, .revents = 0},
                      {.fd = cancel_fd_, .events = POLLIN, .revents = 0}};
      if (PollUntil(fds, until) == 0) {
        return absl::DeadlineExceededError(
            "CUDA or NCCL did not answer in time");
      }
      if (fds[1].revents != 0) return absl::CancelledError("cancelled");
    }
    const std::string line = child_->Read().text;
    child_->Advance();
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, start)) return std::string(rest);
    if (absl::ConsumePrefix(&rest, kGpuPairFailed)) {
      return absl::UnavailableError(rest);
    }
    return absl::InternalError(absl::StrCat(
        "the process that measures the GPUs ",
        line.empty() ? child_->End().value_or("ended") : "spoke nonsense"));
  }

 private:
  const std::unique_ptr<ChildProgram> child_;
  const int cancel_fd_;
  const Instant deadline_;
};

struct Gpus {
  int count = 0;
  std::string kind;
};

// Waits for the program's line "gpus N KIND". Stores in `gpus` the number of
// GPUs to measure (N, but at most `most`) and their kind.
absl::Status CountGpus(Program& program, int most, Gpus& gpus) {
  const absl::StatusOr<std::string> text =
      program.Expect(kGpuPairCount, kGpuPairStart);
  if (!text.ok()) return text.status();
  const std::pair<absl::string_view, absl::string_view> words =
      absl::StrSplit(*text, absl::MaxSplits(' ', 1));
  int count = 0;
  if (!absl::SimpleAtoi(words.first, &count) || count < 0) {
    return absl::InternalError(
        "the process that measures the GPUs spoke nonsense");
  }
  if (count == 0) return absl::OkStatus();
  gpus.count = std::min(count, most);
  gpus.kind =
      BoundedLine(absl::StrCat(gpus.count, " x ", words.second), kMaxKindBytes);
  return absl::OkStatus();
}

absl::Status ParseValues(absl::string_view text, GpuPairValues& values) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  if (words.size() == 2 && absl::SimpleAtod(words[0], &values.bytes_per_s) &&
      absl::SimpleAtod(words[1], &values.compute_s)) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      "the process that measures the GPUs spoke nonsense");
}

// Sends this node's kind of GPUs, and returns the partner's.
absl::StatusOr<std::string> ExchangeKinds(const std::string& own,
                                          const GpuPairChannel& partner) {
  const std::string sent =
      absl::StrCat(std::string(1, static_cast<char>(own.size())), own);
  absl::Status done = partner.send(sent.data(), sent.size());
  char size = 0;
  if (done.ok()) done = partner.receive(&size, 1);
  std::string theirs(static_cast<unsigned char>(size), '\0');
  if (done.ok() && !theirs.empty()) {
    done = partner.receive(theirs.data(), theirs.size());
  }
  if (!done.ok()) return done;
  return theirs;
}

// Called on the root, the node of the pair that makes the NCCL id. Lets the
// child program make the id, and sends the id to the partner. If the program
// makes none, sends zeros, so that the partner does not wait in vain. Stores
// the program's status in `made`, and returns the connection's status.
absl::Status SendId(Program& program, int count, const GpuPairChannel& partner,
                    absl::Status& made) {
  std::string id(kIdBytes, '\0');
  made = program.Order(absl::StrCat(kGpuPairRoot, " ", count));
  if (made.ok()) {
    const absl::StatusOr<std::string> text =
        program.Expect(kGpuPairId, kGpuPairTimeout);
    made = text.status();
    if (text.ok() && nccl::NcclUniqueIdOf(*text).ok()) id = *text;
  }
  return partner.send(id.data(), id.size());
}

// Receives the root's NCCL id from the partner, and orders this node's program
// to join the communicator with this id. Stores in `joined` why the program
// cannot join, and returns the connection's status.
absl::Status ReceiveId(Program& program, int count,
                       const GpuPairChannel& partner, absl::Status& joined) {
  std::string id(kIdBytes, '\0');
  absl::Status done = partner.receive(id.data(), id.size());
  if (!done.ok()) return done;
  joined = nccl::NcclUniqueIdOf(id).ok()
               ? program.Order(absl::StrCat(kGpuPairJoin, " ", count, " ", id))
               : absl::UnavailableError("the partner makes no NCCL id");
  return done;
}

}  // namespace

absl::StatusOr<GpuPairValues> MeasureGpuPair(const rendezvous::PairCheck& check,
                                             const GpuPairProgram& program_plan,
                                             const GpuPairChannel& partner,
                                             int cancel_fd, Instant deadline) {
  GpuPairValues values;
  const auto keep = [&](const absl::Status& failed) {
    values.failure =
        BoundedLine(std::string(failed.message()), rendezvous::kMaxLineBytes);
  };
  std::optional<Program> program;
  Gpus gpus;
  if (!program_plan.path.empty()) {
    absl::StatusOr<std::unique_ptr<ChildProgram>> child = ChildProgram::Start(
        program_plan.path, kGpuPairArgument, program_plan.environment);
    absl::Status counted = child.status();
    if (child.ok()) {
      program.emplace(*std::move(child), cancel_fd, deadline);
      counted = CountGpus(*program, check.gpus, gpus);
    }
    if (absl::IsCancelled(counted)) return counted;
    if (!counted.ok()) keep(counted);
  }
  values.kind = gpus.kind;
  const absl::StatusOr<std::string> theirs = ExchangeKinds(gpus.kind, partner);
  if (!theirs.ok()) return theirs.status();
  if (gpus.count == 0) return values;

  absl::Status ordered;
  absl::Status connected;
  if (*theirs != gpus.kind) {
    ordered = program->Order(absl::StrCat(kGpuPairAlone, " ", gpus.count));
  } else if (check.role == rendezvous::PairCheck::Role::kServe) {
    connected = SendId(*program, gpus.count, partner, ordered);
  } else {
    connected = ReceiveId(*program, gpus.count, partner, ordered);
  }
  if (!connected.ok()) return connected;
  if (ordered.ok()) {
    const absl::StatusOr<std::string> text = program->Expect(
        kGpuPairValues, kGpuPairTimeout + std::chrono::seconds(1));
    ordered = text.ok() ? ParseValues(*text, values) : text.status();
  }
  if (absl::IsCancelled(ordered)) return ordered;
  if (!ordered.ok()) keep(ordered);
  return values;
}

}  // namespace muster::agent
