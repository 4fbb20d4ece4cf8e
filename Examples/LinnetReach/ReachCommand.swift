package import ArgumentParser
import ExampleSupport
import LinnetReachability

/// Prints the path that packets take, then a line for each change.
package struct ReachCommand: AsyncParsableCommand {
    private static let program = ProgramName.inMessages(of: "reach")

    package static let configuration = CommandConfiguration(
        commandName: ProgramName.ofCommand("reach"),
        abstract: "Prints the path that packets take, then a line for each change.",
        discussion: """
            Without an option, the path is that of the default route. It says whether packets can leave the machine, not \
            whether a server answers. --host resolves the name and looks up the route to its address, which is not \
            connecting: only --probe connects.

            EXAMPLES:
              \(program)                                 the default route, until the program is interrupted
              \(program) --once --json                   its current state, for a script
              \(program) --wait 30 && ./synchronize      as soon as there is a network
              \(program) --address 10.8.0.1              the route to an address, such as one behind a VPN
              \(program) --host example.com:8443         whether a name resolves, and the route to its address
              \(program) --host example.com --probe --once     whether a connection can be opened too

            Exit codes: 0 reachable, and with --probe connected; 1 not reachable, at the time of --once or within the time of \
            --wait; 2 the network cannot be \
            monitored; 64 usage error.
            """,
        version: ToolVersion.text)

    @OptionGroup var arguments: Arguments

    package init() {}

    package func run() async throws {
        do {
            let monitor = try makeMonitor()
            defer { monitor.stop() }
            let isReachable = try await watch(monitor)
            if !isReachable { throw ExitCode(1) }
        } catch let error as ReachabilityError {
            try StandardStream.error.write("\(ProgramName.inMessages(of: "reach")): \(OneLine.text(error.message))\n")
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
        let port = UInt16(clamping: host.port)
        return try ReachabilityMonitor(host: host.name, port: port) {
            if arguments.probe { $0.probe = .connection(to: host.name, port: port) }
        }
    }

    /// Prints the requested statuses, and returns whether the last one is reachable.
    private func watch(_ monitor: ReachabilityMonitor) async throws -> Bool {
        if let wait = arguments.wait {
            let status = try await self.status(of: monitor, within: .seconds(wait))
            try show(status)
            return status.isReachable
        }
        if arguments.once {
            let status = await monitor.statuses.first(where: isFinal) ?? monitor.status
            try show(status)
            return status.isReachable && status.isConfirmed != false
        }
        for await status in monitor.statuses { try show(status) }
        return monitor.status.isReachable
    }

    /// Whether the status answers the question: until its name was looked up, a host has the status of the network.
    private func isFinal(_ status: ReachabilityStatus) -> Bool {
        guard arguments.host == nil || status.isResolved != nil else { return false }
        return !arguments.probe || !status.isReachable || status.isConfirmed != nil
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
        try StandardStream.output.write(line(status) + "\n")
    }

    private func line(_ status: ReachabilityStatus) throws -> String {
        let line = try StatusLine(status).text(isJSON: arguments.isJSON)
        let isRouteOnly = arguments.host != nil && !arguments.probe && !arguments.isJSON && status.isReachable
        return isRouteOnly ? line + "; resolved and routed, not connected (--probe connects)" : line
    }
}
