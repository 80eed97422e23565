#ifndef MUSTER_LAUNCHER_OPTIONS_REMARKS_H_
#define MUSTER_LAUNCHER_OPTIONS_REMARKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/machine.h"
#include "launcher/options/worker_slots.h"

namespace muster::launcher {

// Returns a warning if this node has too few cores for its workers; empty:
// there are enough cores. A worker that uses GPUs needs a core of its own. Four
// workers without GPUs may share a core, as they do in small tests. The warning
// says how to get more cores: Slurm, for example, gives a task one core by
// default. Pure.
std::string CoreRemark(const WorkerSlots& slots, const MachineFacts& facts);

// Whether a Python script imports mpi4py. Pure.
bool ImportsMpi4py(std::string_view script);

// Whether an executable (ELF) lists an MPI library among the shared libraries
// that it needs. Searches only for the library's name. Pure.
bool NamesMpiLibrary(std::string_view executable);

// Returns a warning if the program of a worker's command uses MPI. Empty: the
// program does not use MPI, or cannot be read. The program is the first *.py
// file of `command`, or else the first word of `command` if that word contains
// a slash.
//
// Without mpirun, MPI_Init makes each worker the only process of its own MPI
// world. The program then seems to succeed, but its results are wrong.
std::string MpiRemark(const std::vector<std::string>& command);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_REMARKS_H_
