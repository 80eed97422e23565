#ifndef MUSTER_LAUNCHER_OPTIONS_REMARKS_H_
#define MUSTER_LAUNCHER_OPTIONS_REMARKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/machine.h"
#include "launcher/options/worker_slots.h"

namespace muster::launcher {

// A sentence for a person about a node that has too few cores for its workers,
// with what to ask the cluster for: Slurm gives a task one core unless it is
// asked for more. Empty where there are enough: as many as workers where these
// use GPUs, a fourth of them elsewhere, where a small test shares its machine.
// Pure.
std::string CoreRemark(const WorkerSlots& slots, const MachineFacts& facts);

// Whether a Python script has an import statement of mpi4py. Pure.
bool ImportsMpi4py(std::string_view script);

// Whether an executable (ELF) names an MPI library among the shared libraries
// that it needs. Looks for the library's name only. Pure.
bool NamesMpiLibrary(std::string_view executable);

// One line for a person where the program of a worker's command uses MPI:
// outside of mpirun each worker's MPI_Init makes a world of its own, and the
// program succeeds with wrong results. Empty: it does not, or cannot be read.
// Reads the first *.py of `command`, or its first word where that has a slash.
std::string MpiRemark(const std::vector<std::string>& command);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_REMARKS_H_
