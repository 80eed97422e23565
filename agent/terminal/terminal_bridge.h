#ifndef MUSTER_AGENT_TERMINAL_TERMINAL_BRIDGE_H_
#define MUSTER_AGENT_TERMINAL_TERMINAL_BRIDGE_H_

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "agent/terminal/terminal_modes.h"
#include "base/owned_fd.h"

namespace muster::agent {

// The terminal that this process runs on, where one of its descriptors 0 to 2
// is its controlling terminal: carries keys from there to a worker's
// pseudo-terminal, and follows its size and its job control.
//
// Keys are read only while this process is in the terminal's foreground; in the
// background the shell reads them. Thread-safe but for the constructor; owns a
// thread while keys are forwarded.
class TerminalBridge {
 public:
  // `on_modes`: what another process shall restore on which terminal should
  // this one be killed; null: nothing any more. Called by Forward and Release.
  using OnModes = std::function<void(int fd, const TerminalModes* modes)>;
  explicit TerminalBridge(OnModes on_modes = nullptr);
  // As Release.
  ~TerminalBridge();

  TerminalBridge(const TerminalBridge&) = delete;
  TerminalBridge& operator=(const TerminalBridge&) = delete;

  // The signals that a terminal's job control needs this process to catch: none
  // without a terminal. To be blocked in every thread.
  static std::vector<int> Signals();

  // What descriptor 0 is: the terminal that this process runs on, in whose
  // foreground or background it is, or anything else.
  enum class Stdin { kOther, kForeground, kBackground };
  static Stdin LookAtStdin();

  // Gives a worker's pseudo-terminals the terminal's size from now on. Either
  // may be closed. `controlling`: the one that may be the worker's controlling
  // terminal. It is sized after `other`: its SIGWINCH is the only one that the
  // worker gets, and a worker that reads the size of any of its descriptors in
  // the handler has to find the new one.
  void FollowSize(OwnedFd controlling, OwnedFd other);
  // Carries the keys of descriptor 0 to `master` from now on.
  void Forward(OwnedFd master);
  // Ends both, and gives the terminal its modes back.
  void Release();

  // SIGWINCH has come.
  void Resized();
  // SIGCONT has come: a shell may have changed the terminal's modes meanwhile.
  void Continued();
  // Gives the terminal its modes back and stops this process, as Ctrl-Z does.
  // Returns when it goes on (SIGCONT), or at once where nobody could let it go
  // on: no process of its session is outside of its group.
  void Stop();

 private:
  void Run(int master);
  void Wake();
  bool IsEnding();
  // Whether keys are to be read now; sets the terminal's modes for it.
  bool TakeForeground();
  // Makes the bytes that were typed before the modes were set what they were
  // when they were typed. For the first bytes that are read afterwards.
  void RestoreTypedBefore(std::string& typed);
  void RestoreLocked();
  void ResizeLocked();

  const OnModes on_modes_;
  const int terminal_;  // one of 0 to 2; -1: there is none
  OwnedFd wake_;        // readable when Run is to look at what changed
  std::thread thread_;

  std::mutex mutex_;  // guards what follows
  bool ending_ = false;
  bool stopped_ = false;
  bool forwarding_ = false;          // modes_->forwarding is set
  std::optional<termios> typed_in_;  // bytes typed in these modes may be unread
  std::optional<TerminalModes> modes_;  // once this was in the foreground
  std::vector<OwnedFd> sized_;  // masters, a controlling terminal after others
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_TERMINAL_BRIDGE_H_
