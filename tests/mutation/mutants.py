"""The guards of the pure cores, each with what it is replaced by.

Every one of these changes must make a unit test or the simulation fail; a
guard that can go unnoticed is either not tested or not needed.
"""

import cluster_mutants
import inspect_mutants
import job_mutants
import lifecycle_mutants
import placement_mutants
import relay_mutants
import speaker_mutants
import store_mutants
import training_mutants

ALL = (job_mutants.ALL + speaker_mutants.ALL + lifecycle_mutants.ALL
       + cluster_mutants.ALL + placement_mutants.ALL + training_mutants.ALL
       + store_mutants.ALL + relay_mutants.ALL + inspect_mutants.ALL)
