#ifndef MUSTER_BASE_FILE_SIZE_SIGNAL_H_
#define MUSTER_BASE_FILE_SIZE_SIGNAL_H_

namespace muster {

// Ignores SIGXFSZ in this process. A write beyond `ulimit -f` then fails with
// EFBIG instead of killing the process. Call first in main, before any thread
// writes to a file.
void IgnoreFileSizeSignal();

// Whether SIGXFSZ was ignored before the first call of IgnoreFileSizeSignal. A
// program that this process starts must get the original action back, because
// an ignored signal stays ignored after exec.
bool FileSizeSignalWasIgnored();

// Gives SIGXFSZ the action that it had before IgnoreFileSizeSignal. For a
// process that is about to execute a program; async-signal-safe.
void RestoreFileSizeSignal();

}  // namespace muster

#endif  // MUSTER_BASE_FILE_SIZE_SIGNAL_H_
