from voirdire.examining.probing.effects import ProbeEffect as ProbeEffect
from voirdire.examining.probing.effects import Probing as Probing
from voirdire.examining.probing.effects import measure_probes as measure_probes
from voirdire.examining.probing.effects import probing_values as probing_values
from voirdire.examining.probing.sections import probe_sections as probe_sections
from voirdire.examining.probing.suite import Suite as Suite
from voirdire.examining.probing.suite import chosen_probes as chosen_probes
from voirdire.examining.probing.suite import make_suite as make_suite
