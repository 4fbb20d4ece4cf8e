"""A network namespace for a server, behind a router that loses packets. It requires root, iproute2 and nftables.

The router is a namespace, too. It drops the packets that it forwards, so that their sender cannot know; a sender is told what its
own firewall drops. Kernels without netem can do this.
"""

import os
import pathlib
import shutil
import subprocess

FOLDER = pathlib.Path("/run/netns")
LOST = 5  # of 100 packets in each direction

SETUP = """
ip netns add {name}
ip netns add {router}
ip link add {device} type veth peer name client netns {router}
ip -n {router} link add server type veth peer name router netns {name}
ip address add {network}.{host1}/30 dev {device}
ip link set {device} up
ip -n {router} address add {network}.{host2}/30 dev client
ip -n {router} address add {network}.{host5}/30 dev server
ip -n {router} link set client up
ip -n {router} link set server up
ip netns exec {router} sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
ip -n {name} address add {network}.{host6}/30 dev router
ip -n {name} link set lo up
ip -n {name} link set router up
ip -n {name} route add default via {network}.{host5}
ip route add {network}.{host4}/30 via {network}.{host2}
ip netns exec {router} nft "table ip loss {{ chain forward {{ type filter hook forward priority 0; \
numgen random mod 100 < {lost} drop; }}; }}"
"""


class Unavailable(Exception):
    """Why this machine has no such link."""


class Link:
    def __init__(self, name):
        """Makes the namespace with this name."""
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        missing = [program for program in ("ip", "nft") if shutil.which(program, path=path) is None]
        if os.geteuid() != 0 or missing:
            raise Unavailable("a link that loses packets requires root, iproute2 and nftables")
        self.name = name
        # From the block for benchmarks (RFC 2544). Other runs have others.
        number = os.getpid() % 8192 * 8
        network, host = f"198.19.{number // 256}", number % 256
        self.address = f"{network}.{host + 6}"
        hosts = {f"host{offset}": host + offset for offset in (1, 2, 4, 5, 6)}
        script = SETUP.format(
            name=name, router=router(name), device="b" + name[-8:], network=network, lost=LOST, **hosts)
        done = subprocess.run(["sh", "-e", "-c", script], env=os.environ | {"PATH": path}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if done.returncode != 0:
            remove(name)
            raise Unavailable(f"no link that loses packets can be made: {done.stderr.strip()}")
        self.enter = ["ip", "netns", "exec", name]


def router(name):
    return f"{name}-router"


def remove(name):
    """Removes the namespaces of a link, if there are any."""
    for each in (router(name), name):
        if (FOLDER / each).exists():
            subprocess.run(["ip", "netns", "del", each], stdin=subprocess.DEVNULL, capture_output=True)
