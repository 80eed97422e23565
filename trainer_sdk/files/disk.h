#ifndef MUSTER_TRAINER_SDK_FILES_DISK_H_
#define MUSTER_TRAINER_SDK_FILES_DISK_H_

#include "trainer_sdk/files/file_system.h"

namespace muster {

// The machine's file systems. Files beyond the process's limit of size are an
// error, not a signal, if the calling thread blocks SIGXFSZ.
FileSystem& Disk();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_DISK_H_
