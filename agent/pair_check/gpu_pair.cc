#include "agent/pair_check/gpu_pair.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/commands/child_program.h"
#include "base/poll.h"
#include "nccl/unique_id.h"

namespace muster::agent {
namespace {

// The number of GPUs is sent as one byte.
constexpr int kMaxGpus = 255;

absl::Status Failed(absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("NCCL between the GPUs: ", why));
}

absl::Status Nonsense() {
  return Failed("the process that measures them spoke nonsense");
}

// Waits for the next line of the program, which must begin with `start`, and
// returns the rest of the line.
absl::StatusOr<std::string> Expect(ChildProgram& program,
                                   absl::string_view start, int cancel_fd,
                                   Instant deadline) {
  while (!program.Read().whole) {
    pollfd fds[] = {{.fd = program.fd(), .events = POLLIN, .revents = 0},
                    {.fd = cancel_fd, .events = POLLIN, .revents = 0}};
    if (PollUntil(fds, deadline) == 0) {
      return absl::DeadlineExceededError(
          "NCCL between the GPUs: it took too long");
    }
    if (fds[1].revents != 0) return absl::CancelledError("cancelled");
  }
  const std::string line = program.Read().text;
  program.Advance();
  absl::string_view rest = line;
  if (absl::ConsumePrefix(&rest, start)) return std::string(rest);
  if (absl::ConsumePrefix(&rest, kGpuPairFailed)) return Failed(rest);
  if (!line.empty()) return Nonsense();
  return Failed(absl::StrCat("the process that measures them ",
                             program.End().value_or("ended")));
}

absl::StatusOr<GpuPairValues> Values(absl::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  GpuPairValues values;
  if (words.size() != 2 || !absl::SimpleAtod(words[0], &values.bytes_per_s) ||
      !absl::SimpleAtod(words[1], &values.compute_s)) {
    return Nonsense();
  }
  return values;
}

// Returns the number of GPUs that `program` can measure, at most `most`. 0: it
// cannot measure any, or has ended.
int CountGpus(ChildProgram& program, int most, int cancel_fd,
              Instant deadline) {
  const absl::StatusOr<std::string> text =
      Expect(program, kGpuPairCount, cancel_fd, deadline);
  int count = 0;
  if (!text.ok() || !absl::SimpleAtoi(*text, &count)) return 0;
  return std::clamp(count, 0, std::min(most, kMaxGpus));
}

}  // namespace

absl::StatusOr<GpuPairValues> MeasureGpuPair(const rendezvous::PairCheck& check,
                                             const std::string& program_file,
                                             const GpuPairChannel& partner,
                                             int cancel_fd, Instant deadline) {
  std::unique_ptr<ChildProgram> program;
  if (!program_file.empty()) {
    auto started = ChildProgram::Start(program_file, kGpuPairArgument);
    if (started.ok()) program = *std::move(started);
  }
  const char own =
      static_cast<char>(program == nullptr ? 0
                                           : CountGpus(*program, check.gpus,
                                                       cancel_fd, deadline));
  char theirs = 0;
  absl::Status done = partner.send(&own, 1);
  if (done.ok()) done = partner.receive(&theirs, 1);
  if (!done.ok()) return done;
  const int gpus = std::min(static_cast<unsigned char>(own),
                            static_cast<unsigned char>(theirs));
  if (gpus == 0) return GpuPairValues();

  std::string id(size_t{2} * nccl::kNcclUniqueIdBytes, '\0');
  if (check.role == rendezvous::PairCheck::Role::kServe) {
    done = program->Write(absl::StrCat(kGpuPairRoot, " ", gpus));
    absl::StatusOr<std::string> made =
        done.ok() ? Expect(*program, kGpuPairId, cancel_fd, deadline)
                  : absl::StatusOr<std::string>(done);
    if (made.ok() && !nccl::NcclUniqueIdOf(*made).ok()) made = Nonsense();
    // If this node's program has made no valid id, zeros are sent instead, so
    // that the partner need not wait until the deadline.
    if (made.ok()) id = *made;
    done = partner.send(id.data(), id.size());
    if (!made.ok()) return made.status();
  } else {
    done = partner.receive(id.data(), id.size());
    if (done.ok() && !nccl::NcclUniqueIdOf(id).ok()) {
      return Failed("the partner makes no NCCL id");
    }
    if (done.ok()) {
      done = program->Write(absl::StrCat(kGpuPairJoin, " ", gpus, " ", id));
    }
  }
  if (!done.ok()) return done;
  const absl::StatusOr<std::string> values =
      Expect(*program, kGpuPairValues, cancel_fd, deadline);
  if (!values.ok()) return values.status();
  return Values(*values);
}

}  // namespace muster::agent
