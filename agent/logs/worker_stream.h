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
#include "agent/logs/stream_filter.h"
#include "agent/logs/tail_buffer.h"
#include "base/rotating_file.h"
#include "base/time.h"

namespace muster {

enum class Remember { kNothing, kLastLines };

// Where one stream of one worker goes to. What is null or empty is left out.
struct StreamSinks {
  std::unique_ptr<RotatingFile> file;
  std::string prefix;  // before each line below
  std::function<void(std::string line)> console;
  StreamFilter filter{{}};
  std::shared_ptr<RotatingFile> filtered_file;  // of all workers
  Remember remember = Remember::kNothing;       // for LastLines
};

// One stream (stdout or stderr) of one worker: takes what came from the pipe
// and shares it out. The file gets the bytes as they are; console and filtered
// file get whole lines. Not thread-safe.
class WorkerStream {
 public:
  explicit WorkerStream(StreamSinks sinks) : sinks_(std::move(sinks)) {}

  // `now` paces progress bars: of their states, one a second is shown.
  void Take(std::string_view bytes, Instant now);

  // The stream has ended: shows an unterminated last line, closes the file.
  void End();

  std::vector<std::string> LastLines() const { return tail_.Lines(); }

 private:
  void Show(const Line& line, Instant now);

  StreamSinks sinks_;
  LineAssembler assembler_;
  TailBuffer tail_;
  std::optional<Instant> progress_shown_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_LOGS_WORKER_STREAM_H_
