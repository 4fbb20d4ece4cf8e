import Linnet

/// One line about the reachability of the network.
enum ReachabilityLine {
    static func current() -> String {
        do {
            let monitor = try ReachabilityMonitor()
            defer { monitor.stop() }
            return text(monitor.status)
        } catch {
            return "Network: \(ReachabilityStatus.unknown) (\(error.message))"
        }
    }

    static func text(_ status: ReachabilityStatus) -> String { "Network: \(status)" }
}
