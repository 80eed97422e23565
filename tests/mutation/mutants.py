"""All mutants: each changes one guard of the pure cores.

Every mutant must make a unit test or the simulation fail: a guard whose change
goes unnoticed is untested or not needed. A mutant names its statement by
folder, function, keyword and words (mutant.py) and quotes no code, so the
statement may be edited and moved between the files of its folder.
"""

import bounds_mutants
import cluster_mutants
import connection_mutants
import dashboard_mutants
import etcd_mutants
import file_mutants
import gpu_mutants
import inquiry_mutants
import inspect_mutants
import job_mutants
import journal_mutants
import lifecycle_mutants
import network_check_mutants
import placement_mutants
import quarantine_mutants
import relay_mutants
import report_mutants
import speaker_mutants
import ssh_mutants
import store_mutants
import straggler_mutants
import takeover_mutants
import time_mutants
import training_mutants

ALL = (job_mutants.ALL + speaker_mutants.ALL + lifecycle_mutants.ALL
       + cluster_mutants.ALL + placement_mutants.ALL + training_mutants.ALL
       + store_mutants.ALL + relay_mutants.ALL + inspect_mutants.ALL
       + inquiry_mutants.ALL
       + bounds_mutants.ALL + file_mutants.ALL + connection_mutants.ALL
       + journal_mutants.ALL + etcd_mutants.ALL
       + dashboard_mutants.ALL + takeover_mutants.ALL + time_mutants.ALL
       + straggler_mutants.ALL + quarantine_mutants.ALL + gpu_mutants.ALL
       + report_mutants.ALL + network_check_mutants.ALL + ssh_mutants.ALL)
