"""Whether other programs use the machine while something is measured."""

import os
import pathlib
import resource
import time

TICKS = os.sysconf("SC_CLK_TCK")
# The share of one core that others may use.
MOST = 0.1


def busy():
    """The processor time of all programs in seconds, with what a hypervisor gave to others. Interrupts are left out, since those
    of the measured traffic are not counted for its programs."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, steal = (int(fields[index]) for index in (0, 1, 2, 7))
    return (user + nice + system + steal) / TICKS


def of_process(process):
    """The processor time of a process in seconds; 0 if it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def own(servers):
    """The processor time of this program, of the programs that it has started and that have ended, and of servers."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usages) + sum(of_process(each) for each in servers)


class Watch:
    """The share of one core that others have used since its beginning."""

    def __init__(self, servers=()):
        self.servers = list(servers)
        self.begin = time.monotonic(), busy() - own(self.servers)

    def share(self):
        start, others = self.begin
        return max(0.0, busy() - own(self.servers) - others) / max(time.monotonic() - start, 1e-3)

    def is_disturbed(self):
        return self.share() > MOST


def warning():
    """What to say before a measurement on a machine that is in use; None on a quiet one."""
    watch = Watch()
    time.sleep(1)
    if not watch.is_disturbed():
        return None
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    return (f"the machine is not quiet: other programs use {watch.share():.0%} of a core, the load is {load}; "
            "the figures will say less")
