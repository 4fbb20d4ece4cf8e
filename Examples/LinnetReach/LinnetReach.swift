import ArgumentParser
import ExampleSupport
import LinnetReachability

/// Prints the path that packets take, then a line for each change.
@main
struct LinnetReach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet-reach",
        abstract: "Prints the path that packets take, then a line for each change.",
        discussion: """
            Without an option, the path is that of the default route. It says whether packets can leave the machine, not \
            whether a server answers.

            EXAMPLES:
              linnet-reach                                 the default route, until the program is interrupted
              linnet-reach --once --json                   its current state, for a script
              linnet-reach --wait 30 && ./synchronize      as soon as there is a network
              linnet-reach --address 10.8.0.1              the route to an address, such as one behind a VPN
              linnet-reach --host example.com:8443         whether a name resolves, and the route to its address

            Exit codes: 0 reachable; 1 not reachable, at the time of --once or within that of --wait; 2 the network cannot be \
            monitored; 64 usage error.
            """,
        version: ToolVersion.text)

    @OptionGroup var arguments: Arguments

    func run() async throws {
        do {
            let monitor = try makeMonitor()
            defer { monitor.stop() }
            let isReachable = try await watch(monitor)
            if !isReachable { throw ExitCode(1) }
        } catch let error as ReachabilityError {
            try StandardStream.error.write("linnet-reach: \(OneLine.text(error.message))\n")
            throw ExitCode(error.code == .invalidAddress ? ExitCode.validationFailure.rawValue : 2)
        }
    }

    private func makeMonitor() throws -> ReachabilityMonitor {
        if let address = arguments.address { return try ReachabilityMonitor(address: address) }
        guard let text = arguments.host else { return try ReachabilityMonitor() }
        guard let host = HostAndPort(text) else {
            throw ValidationError(
                "\"\(text)\" is not a valid host; use example.com, example.com:8443 or [2001:db8::1]:8443.")
        }
        return try ReachabilityMonitor(host: host.name, port: UInt16(clamping: host.port))
    }

    /// Prints the requested statuses, and returns whether the last one is reachable.
    private func watch(_ monitor: ReachabilityMonitor) async throws -> Bool {
        if let wait = arguments.wait {
            let status = try await self.status(of: monitor, within: .seconds(wait))
            try show(status)
            return status.isReachable
        }
        if arguments.once {
            // Until its name was looked up, a host has the status of the network.
            let status =
                await monitor.statuses.first { arguments.host == nil || $0.isResolved != nil } ?? monitor.status
            try show(status)
            return status.isReachable
        }
        for await status in monitor.statuses { try show(status) }
        return monitor.status.isReachable
    }

    /// The status once it is reachable, or when the time is over.
    private func status(
        of monitor: ReachabilityMonitor, within timeout: Duration
    ) async throws(ReachabilityError) -> ReachabilityStatus {
        do throws(ReachabilityError) {
            return try await monitor.waitUntilReachable(timeout: timeout)
        } catch {
            guard error.code == .notReachable else { throw error }
            return monitor.status
        }
    }

    private func show(_ status: ReachabilityStatus) throws {
        try StandardStream.output.write(StatusLine(status).text(isJSON: arguments.isJSON) + "\n")
    }
}
