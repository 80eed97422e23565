#ifndef MUSTER_LAUNCHER_RUN_REPORT_REPORT_RECORD_H_
#define MUSTER_LAUNCHER_RUN_REPORT_REPORT_RECORD_H_

#include "launcher/run_report/run_report.h"
#include "rendezvous/quarantine/node_memory.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::launcher {

// These functions add the content of the coordinator's journal to the report of
// a run. All are pure. A record is the state of one job in the journal.

// Makes the report of a run from its record alone, without an event log.
RunReport ReportOf(const rendezvous::KeptJob& kept);

// Adds a job's record to a report that was made from the event log of a run
// with the same run id. Adds:
//   - RunReport::record, and the interruptions that the log lacks;
//   - the round, the restarts and the phase, if the record was written after
//     the last event of the log;
//   - the verdict, if the log lacks the end of the job, or if the record was
//     written after the last event.
// A job that was started again has the same run id. If the record and the log
// are of different runs, adds only a sentence to RunReport::missing.
void AddRecord(const rendezvous::KeptJob& kept, RunReport& report);

// Adds those machines that the coordinator remembers and that concern the run:
// the machines of the run's nodes, and machines that had a fault in this run.
// For faults in other jobs, only their number is added.
void AddMachines(const rendezvous::NodeMemory::Kept& memory, RunReport& report);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_REPORT_RECORD_H_
