#include "launcher/doctor/doctor_page.h"

#include "absl/strings/str_cat.h"
#include "agent/fitness/finding.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/options/help_text.h"

namespace muster {
namespace {

constexpr char kHead[] = R"(# launch doctor

*This page is generated from the table of findings
(`agent/fitness/finding_table.cc`): do not edit it, run
`bazel run //launcher/doctor:doctor_page_tool > docs/DOCTOR.md`.*

`launch doctor` looks at this node and says on one page what keeps it from
training or slows it down, each with what to do. It changes nothing, needs no
rights (root sees the kernel's log and the PCIe bridges, too), and waits for
nothing for longer than a deadline: a driver that hangs is a finding.

```
launch doctor                          this node
launch doctor --endpoint node1         and whether that coordinator answers
launch doctor --folders /ckpt          and whether checkpoints fit there
srun launch doctor --nodes             all nodes of a Slurm allocation
launch doctor --nodes --hostfile hosts all hosts of a file, over ssh
launch doctor --nodes --nnodes 2 --rdzv-endpoint node1     the same on both
```

)";

constexpr char kMiddle[] = R"(
## Exit status

| code | meaning |
|---|---|
| 0 | nothing worse than a note |
| 2 | the command line is wrong |
| 3 | warnings: it trains, but slowly, or fails now and then |
| 4 | errors: training fails, or gives wrong results |
| 1 | this node met no other, or nothing could be printed |

With `--nodes` every node exits with the code of the worst finding of all.

## All nodes

`launch doctor --nodes` takes the flags of a run, and is one: a job with one
worker on each node, which meets as a job of the same flags would. It begins at
once when all nodes are there, and with those that are a minute after the first
one came (`--rdzv-conf` says otherwise): each node that is absent is a finding,
named as far as it is known. With `--hostfile` the job waits for no host that
failed, and the finding says why; of `--nnodes=MIN:MAX` MIN nodes must come. A
node that comes later is not let in, and says so. The run's own checks
(`--health-check`, `--node-checks`) keep nobody out.

Each worker looks at its node, asks the coordinator which address it sees (a
finding, where that is not the one at which peers dial the node), and listens on
a fresh port. Of up to 32 nodes each connects to every other; of more, to those
at distances of 1, 2, 4, … and to rank 0, so that a node that cannot be reached
is named by several. Each connection also compares the clocks. Rank 0, or the
`launch` with `--hostfile` or `--slurm`, prints what lies between the nodes, and
what each has found; equal findings of several nodes are told once.

## Before every round

`--node-checks gpu,disk,memory,shm` (or `all`) of a run looks at the same things
before every round and keeps a node out while it has an error of those marked
with the check's name below. The page's other errors depend on how a job is
started, and stop no round.

## JSON

`--json` prints one line. Of one node:

```
{"schema": 1, "host": "node1", "severity": "warning",
 "versions": {"driver": "550.54.15", ...}, "hardware": {"GPUs": "8 x ...", ...},
 "findings": [{"severity": "ok|note|warning|error", "id": "shm-small",
               "group": "Machine", "what": "...", "remedy": "..."}, ...]}
```

Of several: `{"schema": 1, "severity": ..., "expected": nodes that should come,
"between": {an object as above, with the findings between the nodes}, "nodes":
[one such object for each node that came]}`. There each node also has `"node"`,
its name in the job, `"node_rank"` where somebody gave it one, and `"addresses":
{"advertised": where peers dial it, "seen": whom the coordinator sees}`.
Severities, ids and names stay; more may come. `schema` changes if one must go.

## Environment read

| variable | meaning |
|---|---|
| `MUSTER_COORDINATOR` | default of `--endpoint` |
| `MUSTER_NVML_LIBRARY` | NVIDIA's management library, where `libnvidia-ml.so.1` is not it |
| `CUDA_VISIBLE_DEVICES`, `NCCL_*`, `GLOO_SOCKET_IFNAME` | looked at |
| `VIRTUAL_ENV`, `CONDA_PREFIX`, `PATH` | where PyTorch is looked for |
| `TMPDIR` | looked at |
)";

void AppendKind(const FindingKind& kind, std::string& page) {
  absl::StrAppend(
      &page, "\n### ", kind.id, "\n\n*", SeverityText(kind.severity),
      *kind.check == '\0' ? ""
                          : absl::StrCat(", `--node-checks ", kind.check, "`"),
      "*\n\n", Filled(kind.meaning, 0, 80));
  if (*kind.remedy != '\0') {
    absl::StrAppend(&page, "\n",
                    Filled(absl::StrCat("**Do:** ", kind.remedy), 0, 80));
  }
}

}  // namespace

std::string DoctorPage() {
  std::string page = kHead;
  absl::StrAppend(&page, "| flag | meaning |\n|---|---|\n");
  for (const Flag& flag : DoctorFlags()) {
    absl::StrAppend(&page, "| `", FlagUsage(flag), "` | ", flag.help, " |\n");
  }
  absl::StrAppend(&page, kMiddle);
  const FindingKind* last = nullptr;
  for (const FindingKind& kind : FindingKinds()) {
    if (last == nullptr || last->group != kind.group) {
      absl::StrAppend(&page, "\n## Findings: ", GroupTitle(kind.group), "\n");
    }
    last = &kind;
    AppendKind(kind, page);
  }
  return page;
}

}  // namespace muster
