#ifndef MUSTER_AGENT_LOGS_RECENT_OUTPUT_H_
#define MUSTER_AGENT_LOGS_RECENT_OUTPUT_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/logs/stream_lines.h"
#include "base/time.h"
#include "rendezvous/protocol/inquiry.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace muster::agent {

// The newest output of this node's workers, with its times of arrival, in
// memory. `launch logs` reads this output, even in a job without log files, and
// waits for no file system.
//
// Keeps kMaxBytesPerWorker of each local rank, over all rounds. Thread-safe.
class RecentOutput {
 public:
  using Stream = rendezvous::OutputLine::Stream;

  static constexpr size_t kMaxBytesPerWorker = 128 << 10;

  struct Worker {
    int local_rank = 0;
    int rank = 0;
    int round = 0;
  };
  // A piece of the output of one stream of one worker.
  struct Block {
    // number of the piece in the order of arrival, among the pieces of all
    // workers
    uint64_t number = 0;
    // number of bytes that the workers with this local rank, in all rounds,
    // wrote before this piece of output
    uint64_t offset = 0;
    Worker worker;
    Stream stream = Stream::kOut;
    Instant time;
    std::string bytes;
    bool ends = false;  // whether the stream ends with this piece
  };

  // Numbers of bytes since the construction.
  struct Sums {
    int64_t written = 0;  // output of all workers, kept or not
    // output that readers who follow the output (`launch logs -f`, the
    // dashboard) did not get, because it came faster than they read; counted
    // for each reader
    int64_t skipped = 0;
  };

  // Begin must be called once before a stream's first Append, and End once
  // after its last one. RecentStream makes both calls.
  void Begin();
  void Append(const Worker& worker, Stream stream, std::string_view bytes,
              Instant now);
  void End(const Worker& worker, Stream stream);

  // Waits until every stream has ended, but at most until `deadline`.
  void WaitUntilEnded(Instant deadline);
  // Records that no more output will come, and wakes waiting readers.
  void Close();

  // Returns the pieces of output of the worker with `local_rank`, from the byte
  // offset `from` on. If the piece at `from` is no longer kept, returns all
  // pieces that are kept.
  std::vector<Block> Read(int local_rank, uint64_t from);
  std::set<int> local_ranks();
  Sums sums();
  // Counts bytes that a reader has missed.
  void NoteSkipped(int64_t bytes);
  // A number that increases with every change of the output, and with every
  // call of Wake.
  uint64_t version();
  bool closed();
  // Waits until version() differs from `version`, or until Close was called,
  // but at most until `deadline`. A call of Wake changes version().
  void WaitForMore(uint64_t version, Instant deadline);
  void Wake();

 private:
  struct Kept {
    std::deque<Block> blocks;
    size_t bytes = 0;  // bytes of memory that `blocks` uses
    // number of bytes that this local rank has written so far, kept or not
    uint64_t offset = 0;
  };

  enum class Ends { kNo, kYes };
  void AppendLocked(const Worker& worker, Stream stream, std::string_view bytes,
                    Instant now, Ends ends);

  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  std::map<int, Kept> kept_;  // output by local rank
  Sums sums_;
  uint64_t next_number_ = 1;
  uint64_t version_ = 0;
  int open_streams_ = 0;
  bool closed_ = false;
};

// One stream of one worker in RecentOutput; the stream ends with this object.
class RecentStream {
 public:
  RecentStream(std::shared_ptr<RecentOutput> output,
               const RecentOutput::Worker& worker, RecentOutput::Stream stream)
      : output_(std::move(output)), worker_(worker), stream_(stream) {
    output_->Begin();
  }
  ~RecentStream() { output_->End(worker_, stream_); }
  RecentStream(const RecentStream&) = delete;
  RecentStream& operator=(const RecentStream&) = delete;

  void Append(std::string_view bytes, Instant now) {
    output_->Append(worker_, stream_, bytes, now);
  }

 private:
  const std::shared_ptr<RecentOutput> output_;
  const RecentOutput::Worker worker_;
  const RecentOutput::Stream stream_;
};

// Reads RecentOutput as lines, to answer one request of a user for output
// (rendezvous::Inquiry). Not thread-safe.
class OutputReader {
 public:
  static constexpr Duration kUnfinishedAfter = std::chrono::seconds(1);

  // If the pattern of `question` is invalid, Take returns a note that says so.
  OutputReader(std::shared_ptr<RecentOutput> output,
               const rendezvous::Inquiry& question, Instant now);
  ~OutputReader();

  // Returns the lines since the last call in the order of their arrival, and
  // notes about output that is not kept any more. The first call returns as
  // many of the newest lines of each rank as the inquiry demands. If the
  // inquiry follows the output, an unfinished line, such as a prompt, is
  // returned after a pause of kUnfinishedAfter; otherwise at once. The rest of
  // such a line is returned later, as a line of its own.
  rendezvous::AnswerPart Take(Instant now);

 private:
  struct StreamState {
    LineAssembler lines;
    // time at which a progress bar's state was last returned
    Instant shown_state;
    RecentOutput::Block newest;  // the newest block read, without its bytes
    size_t ended = 0;  // number of lines that ended in the block `newest`
    // Whether the beginning of the current line was already returned, as a line
    // of its own.
    bool is_rest = false;
  };
  struct Source {
    // offset, in the output of this local rank, of the next byte to read
    uint64_t next = 0;
    std::map<RecentOutput::Stream, StreamState> streams;
  };
  struct Found {
    uint64_t number = 0;
    Instant time;
    rendezvous::OutputLine line;
  };

  bool Wants(int rank) const;
  // Adds the line if the inquiry asks for its rank and its text matches the
  // pattern. `index`: number of the line among the lines that end in `block`,
  // from 0. The line's position (OutputLine::position) is computed from
  // `block.offset` and `index`. Positions increase, because each line ends at a
  // later byte.
  void Add(const RecentOutput::Block& block, size_t index, Line line,
           std::vector<Found>* found) const;
  // Adds the unfinished line of a stream, if there is one and it must be
  // returned now (see Take).
  void AddUnfinished(StreamState& stream, Instant now,
                     std::vector<Found>* found) const;
  void ReadSource(int local_rank, Instant now, std::vector<Found>* found,
                  std::vector<std::string>* notes);
  void KeepNewest(std::vector<Found>* found) const;

  const std::shared_ptr<RecentOutput> output_;
  const rendezvous::Inquiry question_;
  const Instant begin_;
  // pattern that a line must match; null: every line matches
  std::unique_ptr<re2::RE2> pattern_;
  bool first_ = true;
  // read positions in the output of each local rank
  std::map<int, Source> sources_;
};

// Splits an answer into parts within the limits of
// rendezvous/protocol/inquiry.h. The last part gets the is_last of `part`; in
// the other parts is_last is false. Pure.
std::vector<rendezvous::AnswerPart> SplitAnswer(rendezvous::AnswerPart part);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_RECENT_OUTPUT_H_
