import ArgumentParser
import ExampleSupport
import FoundationEssentials
import LinnetSecurity

/// Prints the pins of servers and of certificate files, and tries security policies out.
@main
struct LinnetPins: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "linnet-pins",
        abstract: "Prints the public-key pins of servers and of certificate files, and tries security policies out.",
        discussion: """
            A server is asked for its certificates only: the handshake ends before anything is sent to it. What it presents \
            is printed whether or not it is trusted; a pin is worth what the way on which you got it is worth.

            EXAMPLES:
              linnet-pins example.com                          the chain of a server, on port 443
              linnet-pins '[2001:db8::1]:8443'                 an address, on another port
              linnet-pins server.pem backup-key.pem            certificates and keys, PEM or DER
              linnet-pins --check policy.json api.example.com  what a policy makes of a server
              linnet-pins --check policy.json --as api.example.com chain.pem   the same for a chain in a file
              linnet-pins --lint policy.json                   what is wrong with a policy, or soon will be

            Exit codes: 0 all is well; 1 a server could not be asked, a file could not be read, the policy refuses, or \
            --lint found something; 64 the command line is wrong.
            """,
        version: "0.1.0")

    @OptionGroup var arguments: Arguments

    func run() async throws {
        let isWell: Bool
        do {
            isWell = try await perform(Job(arguments))
        } catch {
            let usage = error as? UsageError
            let text = usage?.message ?? (error as? SecurityError).map { "\($0)" } ?? "\(error)"
            try? StandardStream.error.write("linnet-pins: \(text)\n")
            throw ExitCode(usage == nil ? 1 : ExitCode.validationFailure.rawValue)
        }
        if !isWell { throw ExitCode(1) }
    }

    private func perform(_ job: Job) async throws -> Bool {
        let output = Output(isJSON: arguments.isJSON)
        switch job {
        case .list(let targets, let anchors, let timeout):
            return try await ChainListing(anchors: anchors, timeout: timeout, output: output).list(targets)
        case .check(let path, let targets, let host, let timeout):
            return try await PolicyCheck(path: path, host: host, timeout: timeout, output: output).check(targets)
        case .lint(let path, let notice):
            return try PolicyLint(path: path, notice: notice, output: output).lint()
        }
    }
}
