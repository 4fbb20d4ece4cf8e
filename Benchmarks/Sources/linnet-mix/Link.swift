import BenchMemory
import Foundation

/// A network namespace for a server, with a link that loses packets and can go down. It requires root and iproute2.
struct Link: Sendable {
    let namespace: String
    /// The address of the server, from the block for benchmarks (RFC 2544). Other runs have others.
    let address: String
    private let device: String
    /// How packets are lost, or that they are not.
    let loss: String

    /// Creates the namespace; nil if this process may not.
    init?() {
        namespace = Self.name
        device = "lmix\(getpid() % 100_000)"
        let peer = "\(device)p"
        let network = "198.18.\(getpid() / 64 % 256)."
        let own = network + "\(getpid() % 64 * 4 + 1)"
        address = network + "\(getpid() % 64 * 4 + 2)"
        let enter = "ip netns exec \(namespace)"
        guard geteuid() == 0,
            Spawn.run(
                """
                ip netns add \(namespace) && ip link add \(device) type veth peer name \(peer) netns \(namespace) \
                && ip address add \(own)/30 dev \(device) && ip link set \(device) up && \(enter) sh -c '\
                ip link set lo up && ip address add \(address)/30 dev \(peer) && ip link set \(peer) up'
                """)
        else {
            Self.remove()
            return nil
        }
        if Spawn.run("\(enter) tc qdisc add dev \(peer) root netem delay 5ms 2ms loss 1%") {
            loss = "netem: 5 ms of delay, 1 % of packets lost"
        } else if Spawn.run(
            """
            \(enter) nft 'table ip mix { chain input { type filter hook input priority 0; iifname "\(peer)" \
            numgen random mod 100 < 1 drop; }; chain output { type filter hook output priority 0; \
            oifname "\(peer)" numgen random mod 100 < 1 drop; }; }'
            """)
        {
            loss = "nft: 1 % of packets lost in each direction; the kernel has no netem"
        } else {
            loss = "no loss: skipped, the kernel has no netem, and nft is missing"
        }
    }

    func set(up isUp: Bool) {
        // Of the peer, so that the client's route stays, as when a cable is pulled at the other end.
        _ = Spawn.run("ip -n \(namespace) link set \(device)p \(isUp ? "up" : "down")")
    }

    /// Removes the namespace of this process, and with it the link.
    static func remove() { _ = Spawn.run("ip netns del \(name)") }

    private static var name: String { "linnet-mix-\(getpid())" }
}
