#ifndef MUSTER_AGENT_LOGS_WORKER_STREAM_H_
#define MUSTER_AGENT_LOGS_WORKER_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/logs/open_line.h"
#include "agent/logs/recent_output.h"
#include "agent/logs/stream_lines.h"
#include "base/file_queue.h"
#include "base/time.h"

namespace muster::agent {

enum class Remember { kNothing, kLastLines };

// The destinations of one stream of one worker; a null or empty destination is
// not used.
struct StreamSinks {
  std::unique_ptr<QueuedFile> file;
  std::unique_ptr<RecentStream> recent;  // the stream's newest output in memory
  // prefix of each line on the console and in `filtered_file`
  std::string prefix;
  // Callbacks that write to the console: `console` gets whole lines,
  // `console_part` gets parts of unfinished lines. Both are set, or neither is
  // set.
  std::function<void(std::string lines)> console;
  std::function<void(const LinePart& part)> console_part;
  uint64_t stream = 1;  // identifier of this stream in each LinePart
  // Returns false while the console, or the queue of writes to the log files,
  // is full. Null: neither is ever full.
  std::function<bool()> has_room;
  StreamFilter filter{{}};
  // file with the filtered lines of all workers
  std::shared_ptr<QueuedFile> filtered_file;
  // kLastLines: the stream keeps its last lines, which LastLines returns.
  // kNothing: LastLines returns no lines.
  Remember remember = Remember::kNothing;
};

// One stream (stdout or stderr) of one worker: distributes the bytes of its
// pipe. The file gets all bytes; the filtered file gets whole lines. The
// console gets whole lines, an unfinished line after kPartialDelay, and the
// newest state of a progress bar (text ended by "\r") every kRedrawInterval.
// Not thread-safe.
class WorkerStream {
 public:
  static constexpr Duration kPartialDelay = std::chrono::milliseconds(300);
  static constexpr Duration kRedrawInterval = std::chrono::seconds(1);

  explicit WorkerStream(StreamSinks sinks) : sinks_(std::move(sinks)) {}

  void Take(std::string_view bytes, Instant now);

  // The time at which the unfinished line must be shown; nullopt: there is no
  // unfinished line.
  std::optional<Instant> NextDeadline() const;
  // Shows the unfinished line if its deadline has passed.
  void TimePassed(Instant now);
  // Restarts the delay after which the unfinished line is shown.
  void PutOff(Instant now) {
    if (partial_since_) partial_since_ = now;
  }

  // Ends the stream: shows an unterminated last line and closes the file.
  void End();

  // Whether the console and the files accept more output. Callable from any
  // thread.
  bool HasRoom() const { return !sinks_.has_room || sinks_.has_room(); }

  std::vector<std::string> LastLines() const { return tail_.Lines(); }

 private:
  void Show(const Line& line, Instant now, std::string* lines);
  enum class Ends { kNo, kYes };
  void ShowPart(std::string_view text, Ends ends);
  bool IsShown(std::string_view text) const { return shown_ >= text.size(); }

  StreamSinks sinks_;
  LineAssembler assembler_;
  TailBuffer tail_;
  // The number of bytes of the current line that the console shows.
  size_t shown_ = 0;
  // Whether the current line replaces the line before it, which ended with
  // "\r". The replaced line is an earlier state of a progress bar.
  bool redraws_ = false;
  // arrival time of the oldest byte that is not shown
  std::optional<Instant> partial_since_;
  // time at which a progress bar's state was last shown
  std::optional<Instant> redrawn_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_WORKER_STREAM_H_
