#ifndef MUSTER_AGENT_GPUS_JOB_FILES_H_
#define MUSTER_AGENT_GPUS_JOB_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/gpus/gpu_list.h"

namespace muster::agent {

// The files that tell NVIDIA's dcgm-exporter which job uses a GPU. The exporter
// adds the job to the GPU's metrics as the label hpc_job. The exporter reads
// the files at each scrape (internal/pkg/transformation/hpc.go of
// github.com/NVIDIA/dcgm-exporter, option --hpc-job-mapping-dir, variable
// DCGM_HPC_JOB_MAPPING_DIR).
//
// There is one file for each GPU or MIG instance. A GPU's file has DCGM's
// number of the GPU as its name. A MIG instance's file has the name
// NUMBER.INSTANCE, which only newer versions of the exporter know. The exporter
// skips files with other names. Each line of a file is the id of a job, and the
// exporter repeats all metrics of the GPU for each line. If one file cannot be
// read, the exporter drops the labels of all GPUs. Therefore each file has one
// line, appears as a whole and can be read by every user.
struct JobFiles {
  std::string folder;  // folder of the files; empty: no files are written
  // names of the files in `folder`, from JobFileNames
  std::vector<std::string> names;
  std::string job;  // the job's run id

  bool operator==(const JobFiles&) const = default;
};

// The names of the job files for the GPUs in `visible`. A file is named by the
// GPU's index in `machine`, which is DCGM's number of the GPU. If `machine`
// lacks the GPU, its index in `gpus` is used. Pure.
//
// `visible`: GPUs in the notation of CUDA_VISIBLE_DEVICES.
// `gpus`: the GPUs that this process sees; in a container or a Slurm job these
// may be only some of the machine's GPUs.
// `machine`: the PCI addresses of all GPUs of the machine, ascending.
std::vector<std::string> JobFileNames(const std::vector<std::string>& visible,
                                      const std::vector<Gpu>& gpus,
                                      const std::vector<std::string>& machine);

// The PCI addresses of the GPUs that use NVIDIA's driver, ascending. `root`:
// the folder that contains "sys"; empty: /. Returns an empty list if the
// addresses are unknown.
std::vector<std::string> MachineGpuAddresses(const std::string& root = "");

// Writes the job files. Each file replaces an existing file or link with its
// name. A link is never followed. The folder must exist. If a file cannot be
// written, the others are written nevertheless, and the result is Unavailable,
// with the path of the file and the reason. Blocks for as long as the file
// system does.
absl::Status WriteJobFiles(const JobFiles& files);

// Removes the files in `files` whose content is the run id `files.job`. Keeps
// the files of other jobs, links and folders.
void RemoveJobFiles(const JobFiles& files);

// Removes the files of this node's GPUs, whatever job they name. Such files
// remain if an agent was killed together with its guardian, the process that
// removes the files after the agent's death.
void RemoveStaleJobFiles(const JobFiles& files);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_JOB_FILES_H_
