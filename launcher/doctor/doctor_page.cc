#include "launcher/doctor/doctor_page.h"

#include "absl/strings/str_cat.h"
#include "agent/health/finding.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/options/flag.h"

namespace muster::launcher {
namespace {

constexpr char kHead[] = R"(# launch doctor

*This page is generated from the table of findings
(`agent/health/finding_table.cc`): do not edit it, run
`bazel run //launcher/doctor:doctor_page_tool > docs/DOCTOR.md`.*

`launch doctor` examines this node and prints one page of findings: each names a
fault that stops training or makes it slow, and its remedy. The command changes
nothing, needs no special rights (as root it also sees the kernel's log and the PCIe
bridges), and every step has a deadline: a driver that hangs is a finding.

```
launch doctor                          this node
launch doctor --endpoint node1         also: does this coordinator answer?
launch doctor --folders /ckpt          also: do checkpoints fit there?
srun launch doctor --nodes             all nodes of a Slurm allocation
launch doctor --nodes --hostfile hosts all hosts of a file, over ssh
launch doctor --nodes --nnodes 2 --rdzv-endpoint node1     the same on both
```

)";

constexpr char kMiddle[] = R"(
## Exit status

| Code | Meaning |
|---|---|
| 0 | nothing worse than a note |
| 2 | the command line is wrong |
| 3 | warnings: training works, but is slow or fails sometimes |
| 4 | errors: training fails or gives wrong results |
| 1 | this node met no other node, or the page could not be printed |

With `--nodes` every node exits with the code of the worst finding on any node.

## All nodes

`launch doctor --nodes` accepts the flags of a run, because it is a job: one worker on
each node, which meet as the nodes of a job with the same flags. It begins when all
nodes have joined, or one minute after the first node joined with those that are there
(`--rdzv-conf` changes the time). Each missing node is a finding, with its name if it
is known. With `--hostfile` the job does not wait for a host that failed, and the
finding gives the reason. With `--nnodes=MIN:MAX` at least MIN nodes must join. A node
that joins later is refused, and says so. The run's own checks (`--health-command`,
`--health-checks`) refuse no node.

Each worker examines its node, asks the coordinator for the node's address as seen from
there (a finding, if peers use another address), and listens on a new port. Up to 32
nodes connect each to every other. With more nodes, each connects to the nodes at
distances of 1, 2, 4, … and to rank 0, so that several nodes name one that cannot be
reached. Each connection also compares the clocks. Rank 0, or the `launch` with
`--hostfile` or `--slurm`, prints the findings between the nodes and those of each node;
equal findings of several nodes are printed once.

## Before every round

`--health-checks gpu,disk,memory,shm` (or `all`) of a run performs the same checks before
every round. A node stays out while it has an error that is marked below with the name
of the check. The other errors of this page depend on how a job is started, and stop no
round.

## By pairs before a round

`--network-check=start` of a run checks the nodes by pairs before the first round;
`--network-check=suspicion` also before each round after a suspicion:

* a node was lost, or workers failed with an error of communication;
* a rank was [persistently slow](METRICS.md#slow-ranks) by its work or its network, but
  not by its data, which the check does not measure;
* the NVIDIA driver reported a hardware error of a GPU (an XID, among them those of
  uncorrectable ECC errors).

No round is stopped for a check: the suspicion waits until the round ends by itself or
its node is evicted. The next coordinator finds slow ranks again, but may not know earlier
errors of GPUs.

When enough nodes are there for a round, each measures with a partner: a compute kernel
on each of its cores, then the round trip and
the rate of a TCP connection in each direction, to the address that other nodes get
(encrypted with `--encrypt=workers`). Neighbours are paired first; in the second round
each node of a bad pair has a partner from a good one, and the other pairs change. A
third round follows only if a node has met no good one, or was measured once and not
found good. A node that is good with any partner is good.

| A node is | if |
|---|---|
| unreachable | no pair of it could be measured, with two partners or more, although one of its partners is good with another node; or it does not answer |
| slow | with two partners or more, its best rate is below a third of the median of the nodes' best rates; or its best round trip is above 3 times the median and at least 2 ms longer; or its compute kernel takes more than twice the median and at least 0.1 ms longer |

GPUs are judged in addition: a compute kernel on each GPU, one for each worker, and an
all-reduce of 64 MiB by NCCL over the GPUs of both nodes, if they are of one kind (number
and model of GPUs, version of NCCL). A node is slow if its best rate is below a third of
the median of its kind, or if the kernel takes more than twice the median on its slowest
GPU. It is unreachable if CUDA or NCCL fails with two partners that are good with others.
Fewer than three nodes of a kind are not compared, and if NCCL fails everywhere, no node
is blamed.

Such a node gets no place while at least MIN other nodes can: it stays a spare, and
`launch status`, the event `unhealthy` and the node itself say what was measured, and
with which partners. It counts as one [fault](QUARANTINE.md) of the machine, until the
machine is good again. Without enough others, quarantined ones included, it takes part,
with a warning in the event log: a check never ends a job. Two nodes that cannot reach
each other are both let in with a warning, because only a third node shows which of them
is bad; so start spares together with the other nodes. A spare that comes after the check
is not checked. A new coordinator repeats the check before the first round only.

The event `check` has the medians and the time that the check took: 0.6 s for 2 nodes, 1.8 s for 8 and
3.8 s for 32, all on one machine of 2 cores. A node waits up to 4 s in each round for a
partner that it cannot reach, and the job up to 10 s for a node that gives no answer.

GPUs are measured if the NVIDIA driver shows some to the agent, and NCCL is found as
`libnccl.so.2` or as the file in `MUSTER_NCCL_LIBRARY`; not with `--encrypt=workers`,
because NCCL cannot encrypt. A process of its own does it on each node. The job may then
wait up to 60 s instead of 10 s for a silent node. For a job that does not use the GPUs,
set `CUDA_VISIBLE_DEVICES` to the empty text. This was tested with simulated versions of
NVIDIA's libraries, never on a GPU; `tests/gpu/run` does it where there is one.

## JSON

`--json` prints one line. For one node:

```
{"schema": 1, "host": "node1", "severity": "warning",
 "versions": {"driver": "550.54.15", ...}, "hardware": {"GPUs": "8 x ...", ...},
 "findings": [{"severity": "ok|note|warning|error", "id": "shm-small",
               "group": "Machine", "what": "...", "remedy": "..."}, ...]}
```

For several nodes: `{"schema": 1, "severity": ..., "expected": the number of nodes
that should join, "between": {an object as above, with the findings between the
nodes}, "nodes":
[one such object for each node that joined]}`. There each node also has `"node"`,
its name in the job, `"node_rank"` if it has an explicit one, and `"addresses":
{"advertised": the address that peers use, "seen": the address that the coordinator
sees}`. Severities, ids and names are stable; new ones may be added. `schema` changes
if one must be removed.

## Environment

| Variable | Meaning |
|---|---|
| `MUSTER_COORDINATOR` | default of `--endpoint` |
| `MUSTER_NVML_LIBRARY` | the file of NVIDIA's management library, if it is not `libnvidia-ml.so.1` |
| `CUDA_VISIBLE_DEVICES`, `NCCL_*`, `GLOO_SOCKET_IFNAME` | checked |
| `VIRTUAL_ENV`, `CONDA_PREFIX`, `PATH` | where PyTorch is searched |
| `TMPDIR` | checked |
)";

void AppendKind(const agent::FindingKind& kind, std::string& page) {
  absl::StrAppend(&page, "\n### ", kind.id, "\n\n*",
                  agent::SeverityText(kind.severity),
                  *kind.check == '\0'
                      ? ""
                      : absl::StrCat(", `--health-checks ", kind.check, "`"),
                  "*\n\n", Filled(kind.meaning, 0, 80));
  if (*kind.remedy != '\0') {
    absl::StrAppend(&page, "\n",
                    Filled(absl::StrCat("**Do:** ", kind.remedy), 0, 80));
  }
}

}  // namespace

std::string DoctorPage() {
  std::string page = kHead;
  absl::StrAppend(&page, "| Flag | Meaning |\n|---|---|\n");
  for (const Flag& flag : DoctorFlags()) {
    absl::StrAppend(&page, "| `", FlagUsage(flag), "` | ", flag.help, " |\n");
  }
  absl::StrAppend(&page, kMiddle);
  const agent::FindingKind* last = nullptr;
  for (const agent::FindingKind& kind : agent::FindingKinds()) {
    if (last == nullptr || last->group != kind.group) {
      absl::StrAppend(&page, "\n## Findings: ", GroupTitle(kind.group), "\n");
    }
    last = &kind;
    AppendKind(kind, page);
  }
  return page;
}

}  // namespace muster::launcher
