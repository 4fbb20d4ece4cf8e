import Testing

@testable import LinnetReachability

/// Runs commands in a namespace, and compares each status of a monitor with the expected one and with the kernel's
/// view.
struct StatusScript {
    private let namespace: NetworkNamespace
    private let monitor: ReachabilityMonitor
    private let addresses: [String]
    private var statuses: StatusSequence.Iterator

    /// Addresses with default routes only. The monitor uses the first ones itself.
    private static let anywhere = ["192.0.2.1", "2001:db8::1"]

    /// Starts a monitor of an address, or of the network when it is nil.
    init(_ namespace: NetworkNamespace, address: String? = nil) async throws {
        self.namespace = namespace
        addresses = address.map { [$0] } ?? Self.anywhere
        monitor = try await namespace.perform {
            let configure: (inout ReachabilityMonitor.Configuration) -> Void = { $0.debounce = .milliseconds(20) }
            guard let address else { return try ReachabilityMonitor(configure) }
            return try ReachabilityMonitor(address: address, configure)
        }
        statuses = StatusSequence(hub: monitor.hub).makeAsyncIterator()
    }

    /// Runs commands of `ip`, and expects them to lead to one status with this description.
    @discardableResult
    mutating func expect(
        _ description: String, after commands: String..., at location: SourceLocation = #_sourceLocation
    ) async throws -> ReachabilityStatus {
        for command in commands { try namespace.ip(command) }
        let status = try #require(await statuses.next(), sourceLocation: location)
        #expect(status.description == description, sourceLocation: location)
        try KernelView(namespace: namespace).check(status, for: addresses, at: location)
        return status
    }

    /// Runs commands that change nothing for the monitor: the next status belongs to a later step.
    func run(_ commands: String...) throws {
        for command in commands { try namespace.ip(command) }
    }

    /// Stops the monitor, and expects no further status.
    mutating func end(at location: SourceLocation = #_sourceLocation) async {
        monitor.stop()
        let rest = await statuses.next()
        #expect(rest == nil, sourceLocation: location)
    }
}
