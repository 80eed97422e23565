#include "launcher/top_screen.h"

#include <curses.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/time.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/top_view.h"
#include "rendezvous/protocol/output_tail.h"

namespace muster::launcher {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
constexpr int kIntervalMs = 1000;
constexpr Duration kRetryPause = std::chrono::seconds(2);
constexpr int kCtrlC = 3;
constexpr int kCtrlZ = 26;
constexpr int kEscape = 27;
constexpr int kCtrlBackslash = 28;

// The terminal, in ncurses' mode until the destructor. ncurses itself restores
// the terminal when a signal ends the process.
class Terminal {
 public:
  Terminal() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return;
    // ncurses draws UTF-8 only in a locale with that encoding. If the locale of
    // the environment is not installed, setlocale fails and changes nothing.
    std::setlocale(LC_CTYPE, "");
    screen_ = newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) return;
    // Ctrl-C and Ctrl-\ arrive as keys instead of signals, so that this program
    // can restore the terminal before it exits.
    raw();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    timeout(kIntervalMs);
  }
  ~Terminal() {
    if (screen_ == nullptr) return;
    endwin();
    delscreen(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool is_usable() const { return screen_ != nullptr; }

  void Show(const TopScreen& screen) {
    erase();
    for (size_t i = 0; i < screen.lines.size(); ++i) {
      const bool is_chosen = i == screen.chosen;
      if (is_chosen) attron(A_REVERSE);
      // Clear the row first: a line with wide characters above it may have
      // wrapped into this row.
      move(static_cast<int>(i), 0);
      clrtoeol();
      addstr(screen.lines[i].c_str());
      if (is_chosen) attroff(A_REVERSE);
    }
    refresh();
  }

 private:
  SCREEN* screen_ = nullptr;
};

std::optional<TopKey> KeyOf(int code) {
  switch (code) {
    case KEY_UP:
      return TopKey::kUp;
    case KEY_DOWN:
      return TopKey::kDown;
    case KEY_PPAGE:
      return TopKey::kPageUp;
    case KEY_NPAGE:
      return TopKey::kPageDown;
    case '\n':
    case '\r':
    case KEY_ENTER:
    case kEscape:
      return TopKey::kOpen;
    case 'f':
      return TopKey::kFollow;
    case 'r':
      return TopKey::kRank;
    case 's':
      return TopKey::kStep;
    case 'h':
      return TopKey::kSilent;
    case 't':
      return TopKey::kRate;
    default:
      return std::nullopt;
  }
}

}  // namespace

absl::Status ShowTop(
    const std::function<absl::StatusOr<rendezvous::JobStatus>()>& read,
    RankOutput::Inquire inquire) {
  absl::StatusOr<rendezvous::JobStatus> job = read();
  if (!job.ok()) return job.status();
  Terminal terminal;
  if (!terminal.is_usable()) {
    return absl::FailedPreconditionError("stdout is no usable terminal");
  }
  Instant newest = MonotonicNow();
  std::string trouble;
  TopChoice choice;
  RankOutput output(std::move(inquire), kRetryPause);
  rendezvous::OutputTail shown;
  while (true) {
    output.Follow(RankWithOutput(choice, *job));
    if (choice.follows) shown = output.Look();
    TopScreen screen =
        ScreenOf(*job, choice, shown, static_cast<size_t>(LINES), COLS);
    if (!trouble.empty() && !screen.lines.empty()) {
      screen.lines[0] = Shorten("not up to date: " + trouble, COLS);
    }
    terminal.Show(screen);
    const int code = getch();
    if (code == 'q' || code == 'Q' || code == kCtrlC ||
        code == kCtrlBackslash) {
      return absl::OkStatus();
    }
    // Ctrl-Z stops this process. ncurses handles the signal: it restores the
    // terminal before the process stops.
    if (code == kCtrlZ) raise(SIGTSTP);
    if (const std::optional<TopKey> key = KeyOf(code)) {
      choice = AfterKey(choice, *key, *job, static_cast<size_t>(LINES));
    }
    if (MonotonicNow() - newest < kInterval) continue;
    absl::StatusOr<rendezvous::JobStatus> now = read();
    newest = MonotonicNow();
    trouble =
        now.ok() ? "" : PrintableLine(std::string(now.status().message()));
    if (now.ok()) job = std::move(now);
  }
}

}  // namespace muster::launcher
