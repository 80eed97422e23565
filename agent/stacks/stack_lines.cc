#include "agent/stacks/stack_lines.h"

#include <algorithm>
#include <string_view>

#include "agent/logs/terminal_text.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxPythonFrames = 12;
// The number of outermost frames that are shown if a stack has too many frames
// to show all. Most of the user's own frames are among the outermost ones.
constexpr size_t kOutermostFrames = 4;
constexpr size_t kMaxNativeFrames = 8;
static_assert(kMaxPythonFrames + kMaxNativeFrames + 3 <=
              rendezvous::kMaxStackLines);
// The maximum length of a frame's line in bytes: native frames list every
// argument.
constexpr size_t kMaxFrameBytes = 160;

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    lines.push_back(line);
  }
  return lines;
}

// Whether a thread begins at this line of py-spy's dump, such as `Thread 23
// (idle): "MainThread"`. The quoted name is missing if py-spy finds none.
bool BeginsPythonThread(std::string_view line) {
  return line.starts_with("Thread ");
}

// Reads the thread number of the main thread, which equals the process id.
// `line` is the first line of a py-spy dump: "Process 23: python3 train.py".
std::string MainThreadOf(std::string_view line) {
  constexpr std::string_view kProcess = "Process ";
  if (!line.starts_with(kProcess)) return "";
  line.remove_prefix(kProcess.size());
  return "Thread " + std::string(line.substr(0, line.find(':'))) + " ";
}

// The frames of the main thread: the thread named MainThread, else the thread
// with the process's number, else the first thread.
std::vector<std::string> PythonFrames(std::string_view dump) {
  const std::string main_thread = MainThreadOf(dump.substr(0, dump.find('\n')));
  std::vector<std::string_view> frames;
  // how the thread of `frames` was recognised: 3 by its name, 2 by its number,
  // 1 as the first thread; 0: no thread found yet
  int best = 0;
  bool taken = false;
  for (const std::string_view line : LinesOf(dump)) {
    if (BeginsPythonThread(line)) {
      const bool named = line.find("\"MainThread\"") != std::string_view::npos;
      const bool numbered =
          !main_thread.empty() && line.starts_with(main_thread);
      const int sure = named ? 3 : numbered ? 2 : 1;
      taken = sure > best;
      if (taken) frames.clear();
      best = std::max(best, sure);
    } else if (taken && line.starts_with("  ")) {
      // A blank line is no frame; it may come from a line end in a thread's
      // name.
      const size_t begin = line.find_first_not_of(' ');
      if (begin != std::string_view::npos) frames.push_back(line.substr(begin));
    }
  }
  std::vector<std::string> shown(frames.begin(), frames.end());
  if (shown.size() <= kMaxPythonFrames) return shown;
  const auto first = shown.begin() + (kMaxPythonFrames - kOutermostFrames - 1);
  const auto last = shown.end() - kOutermostFrames;
  *first = "(" + std::to_string(last - first) + " frames are not shown)";
  shown.erase(first + 1, last);
  return shown;
}

// Removes the address and arguments of a native frame: "#3  0x00007f83015a6ee2
// in call (func=0x7f, args=<optimized out>) at a.c:7" becomes "#3  call at
// a.c:7".
std::string NativeFrame(std::string_view line) {
  std::string frame(line);
  const size_t address = frame.find(" 0x");
  const size_t in = frame.find(" in ");
  if (address != std::string::npos && in != std::string::npos && in < 30) {
    frame.erase(address, in + 4 - address - 1);
  }
  const size_t arguments = frame.find(" (");
  const size_t end = frame.rfind(") ");
  if (arguments != std::string::npos && end != std::string::npos &&
      arguments < end) {
    frame.erase(arguments, end + 1 - arguments);
  }
  return frame;
}

// The frames of the main thread, which GdbCommand makes gdb print first.
std::vector<std::string> NativeFrames(std::string_view backtraces) {
  std::vector<std::string> frames;
  for (const std::string_view line : LinesOf(backtraces)) {
    if (!line.starts_with("#")) {
      if (!frames.empty()) break;
      continue;
    }
    if (frames.size() == kMaxNativeFrames) break;
    frames.push_back(NativeFrame(line));
  }
  return frames;
}

void Add(std::string_view line, size_t max_bytes,
         std::vector<std::string>& lines) {
  lines.push_back(BoundedIndentedLine(line, max_bytes));
}

}  // namespace

std::string WholeText(const StackTexts& texts) {
  std::string whole;
  const auto add = [&whole](const char* heading, const std::string& text) {
    if (text.empty()) return;
    whole += std::string("=== ") + heading + "\n" + text;
    if (whole.back() != '\n') whole += '\n';
  };
  add("Python", texts.python.empty() ? texts.why_no_python : texts.python);
  add("native", texts.native);
  add("kernel", texts.kernel);
  return whole;
}

std::vector<std::string> MostInformativeLines(const StackTexts& texts) {
  std::vector<std::string> lines;
  const auto python = PythonFrames(texts.python);
  if (!python.empty()) lines.emplace_back("Python, main thread:");
  for (const std::string& frame : python) {
    Add("  " + frame, rendezvous::kMaxLineBytes, lines);
  }
  if (python.empty() && !texts.why_no_python.empty()) {
    Add(texts.why_no_python, rendezvous::kMaxLineBytes, lines);
  }
  const auto native = NativeFrames(texts.native);
  if (!native.empty()) lines.emplace_back("native, main thread:");
  for (const std::string& frame : native) {
    Add("  " + frame, kMaxFrameBytes, lines);
  }
  const bool has_frames = !python.empty() || !native.empty();
  const size_t max_threads =
      has_frames ? 1 : rendezvous::kMaxStackLines - lines.size();
  size_t threads = 0;
  for (const std::string_view line : LinesOf(texts.kernel)) {
    // Skip indented lines, which are the kernel stack, and all lines after the
    // first max_threads threads.
    if (line.starts_with(" ") || threads == max_threads) continue;
    ++threads;
    Add(line, kMaxFrameBytes, lines);
  }
  return lines;
}

}  // namespace muster::agent
