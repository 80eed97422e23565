#ifndef MUSTER_AGENT_LOGS_WORKER_STREAM_H_
#define MUSTER_AGENT_LOGS_WORKER_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/logs/line_assembler.h"
#include "agent/logs/open_line.h"
#include "agent/logs/stream_filter.h"
#include "agent/logs/tail_buffer.h"
#include "base/rotating_file.h"
#include "base/time.h"

namespace muster::agent {

enum class Remember { kNothing, kLastLines };

// Where one stream of one worker goes to. What is null or empty is left out.
struct StreamSinks {
  std::unique_ptr<RotatingFile> file;
  std::string prefix;  // before each line below
  // Whole lines, and parts of a line that is not complete yet. Both are set, or
  // none.
  std::function<void(std::string lines)> console;
  std::function<void(const LinePart& part)> console_part;
  uint64_t stream = 1;             // names this stream in its parts
  std::function<bool()> has_room;  // false: the console is full; null: never
  StreamFilter filter{{}};
  std::shared_ptr<RotatingFile> filtered_file;  // of all workers
  Remember remember = Remember::kNothing;       // for LastLines
};

// One stream (stdout or stderr) of one worker: takes what came from the pipe
// and shares it out. The file gets the bytes as they are; the filtered file
// gets whole lines. The console gets whole lines, a line that does not end
// within kPartialDelay as far as it is, and of a progress bar's states (text
// that "\r" draws over) one each kRedrawInterval, the newest. Not thread-safe.
class WorkerStream {
 public:
  static constexpr Duration kPartialDelay = std::chrono::milliseconds(300);
  static constexpr Duration kRedrawInterval = std::chrono::seconds(1);

  explicit WorkerStream(StreamSinks sinks) : sinks_(std::move(sinks)) {}

  void Take(std::string_view bytes, Instant now);

  // When the unfinished line is to be shown, if there is one to show.
  std::optional<Instant> NextDeadline() const;
  // Shows the unfinished line where that is due.
  void TimePassed(Instant now);
  // The unfinished line waits anew.
  void PutOff(Instant now) {
    if (partial_since_) partial_since_ = now;
  }

  // The stream has ended: shows an unterminated last line, closes the file.
  void End();

  // Whether the console takes more. Any thread.
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
  // Of the current line: how many bytes the console shows.
  size_t shown_ = 0;
  // The current line is drawn over a line that "\r" ended.
  bool redraws_ = false;
  std::optional<Instant> partial_since_;  // when its oldest unshown byte came
  std::optional<Instant> redrawn_;        // the newest shown state of a bar
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_WORKER_STREAM_H_
