#include "trainer_sdk/timeline/trace_events.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster {
namespace {

constexpr int kComputing = 0;
constexpr int kCommunicating = 1;

// Returns `text` as a JSON string: escapes quotes and backslashes, and replaces
// control characters, which are invalid in JSON.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

class TraceWriter {
 public:
  TraceWriter(const Timeline& timeline, std::ostream& out)
      : timeline_(timeline), out_(out) {
    first_ = std::numeric_limits<int64_t>::max();
    for (const auto& spans : timeline.ranks) {
      for (const TimelineSpan& span : spans) {
        first_ = std::min(first_, span.begin);
      }
    }
  }

  void Write() {
    out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    for (size_t rank = 0; rank < timeline_.ranks.size(); ++rank) {
      rank_ = static_cast<int>(rank);
      WriteNames();
      for (const TimelineSpan& span : timeline_.ranks[rank]) WriteSpan(span);
    }
    out_ << "\n]}\n";
  }

 private:
  // Writes one event of the current rank. `rest`: the text of the JSON members
  // after "ph", "pid" and "tid".
  void Event(const char* phase, int thread, const std::string& rest) {
    out_ << (written_ ? ",\n" : "\n");
    written_ = true;
    out_ << "{\"ph\":\"" << phase << "\",\"pid\":" << rank_
         << ",\"tid\":" << thread << "," << rest << "}";
  }

  void WriteNames() {
    Event("M", kComputing,
          absl::StrCat("\"name\":\"process_name\",\"args\":{\"name\":\"rank ",
                       rank_, "\"}"));
    // The sort index makes the viewer Perfetto order the ranks by number.
    // Without a sort index, Perfetto orders the ranks by their first events.
    Event("M", kComputing,
          absl::StrCat(
              "\"name\":\"process_sort_index\",\"args\":{\"sort_index\":",
              rank_, "}"));
    Event("M", kComputing,
          "\"name\":\"thread_name\",\"args\":{\"name\":\"computing\"}");
    Event("M", kCommunicating,
          "\"name\":\"thread_name\",\"args\":{\"name\":\"communication\"}");
  }

  std::string At(int64_t time) const {
    return absl::StrFormat("\"ts\":%.3f",
                           static_cast<double>(time - first_) / 1e3);
  }

  std::string NameOf(const TimelineSpan& span) const {
    switch (span.kind) {
      case SpanKind::kStep:
        // Steps are numbered from 1 here, as in the lines of training progress.
        return absl::StrCat("step ", span.step + 1);
      case SpanKind::kForward:
        return "forward";
      case SpanKind::kBackward:
        return "backward";
      case SpanKind::kPart:
        if (span.number >= 0 &&
            span.number < static_cast<int64_t>(timeline_.parts.size())) {
          return timeline_.parts[static_cast<size_t>(span.number)];
        }
        return absl::StrCat("part ", span.number);
      case SpanKind::kReduce:
        return span.number < 0 ? "which were used"
                               : absl::StrCat("bucket ", span.number);
      case SpanKind::kWait:
        return "wait for gradients";
      case SpanKind::kUpdate:
        return "update";
    }
    return "?";
  }

  std::string ArgumentsOf(const TimelineSpan& span) const {
    std::string arguments = absl::StrCat("{\"step\":", span.step + 1);
    switch (span.kind) {
      case SpanKind::kStep:
        if (span.number > 0) {
          absl::StrAppend(&arguments, ",\"left_out\":", span.number);
        }
        break;
      case SpanKind::kForward:
      case SpanKind::kBackward:
        absl::StrAppend(&arguments, ",\"micro_batch\":", span.number);
        break;
      case SpanKind::kReduce:
        absl::StrAppendFormat(
            &arguments, ",\"bytes\":%d,\"waited_us\":%.3f", span.bytes,
            static_cast<double>(span.begin - span.asked) / 1e3);
        break;
      default:
        break;
    }
    return arguments + "}";
  }

  void WriteSpan(const TimelineSpan& span) {
    const bool reduces = span.kind == SpanKind::kReduce;
    const int thread = reduces ? kCommunicating : kComputing;
    Event("X", thread,
          absl::StrCat(
              At(span.begin),
              absl::StrFormat(",\"dur\":%.3f",
                              static_cast<double>(span.end - span.begin) / 1e3),
              ",\"name\":", Quoted(NameOf(span)),
              ",\"cat\":", reduces ? "\"communication\"" : "\"computing\"",
              ",\"args\":", ArgumentsOf(span)));
    if (!reduces) return;
    // The viewer draws an arrow between two events with the same name, category
    // and id.
    const std::string which = absl::StrCat(
        ",\"name\":\"full\",\"cat\":\"bucket\",\"id\":", ++arrows_);
    Event("s", kComputing, At(span.asked) + which);
    Event("f", kCommunicating,
          absl::StrCat(At(span.begin), which, R"(,"bp":"e")"));
  }

  const Timeline& timeline_;
  std::ostream& out_;
  int64_t first_ = 0;
  int64_t arrows_ = 0;
  int rank_ = 0;
  bool written_ = false;
};

}  // namespace

void WriteTraceEvents(const Timeline& timeline, std::ostream& out) {
  TraceWriter(timeline, out).Write();
}

}  // namespace muster
