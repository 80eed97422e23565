#ifndef MUSTER_TRAINER_SDK_FILES_DISK_H_
#define MUSTER_TRAINER_SDK_FILES_DISK_H_

#include "trainer_sdk/files/file_system.h"

namespace muster {

// The machine's file systems. A write beyond the process's file size limit
// fails if the calling thread blocks SIGXFSZ; otherwise the signal kills the
// process.
FileSystem& Disk();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_DISK_H_
