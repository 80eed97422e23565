#ifndef MUSTER_LAUNCHER_RUN_REPORT_REPORT_RECORD_H_
#define MUSTER_LAUNCHER_RUN_REPORT_REPORT_RECORD_H_

#include "launcher/run_report/run_report.h"
#include "rendezvous/quarantine/node_memory.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::launcher {

// What the coordinator's journal says about a run, as a part of the report. All
// functions are pure.

// The report of a run of which nothing but its record is left.
RunReport ReportOf(const rendezvous::KeptJob& kept);

// Adds the record to the report of the same run id: RunReport::record, the
// round and the interruptions that the event log lacks and, if the record is
// newer than the newest event, the round, the restarts, the phase and the
// verdict. A record of an earlier or a later run with this id is not added;
// RunReport::missing says so.
void AddRecord(const rendezvous::KeptJob& kept, RunReport& report);

// Adds the machines of the coordinator's memory that concern the run: those of
// its nodes, and those with a fault in it. Of faults in other jobs only the
// number is added.
void AddMachines(const rendezvous::NodeMemory::Kept& memory, RunReport& report);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_REPORT_RECORD_H_
