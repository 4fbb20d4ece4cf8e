package import ArgumentParser
import ExampleSupport
import FoundationEssentials
import LinnetSecurity

/// Prints the public-key pins of servers and certificate files, and checks security policies.
package struct PinsCommand: AsyncParsableCommand {
    private static let program = ProgramName.inMessages(of: "pins")

    package static let configuration = CommandConfiguration(
        commandName: ProgramName.ofCommand("pins"),
        abstract: "Prints the public-key pins of servers and certificate files, and checks security policies.",
        discussion: """
            Only the certificates of a server are read: the TLS handshake ends before a request is sent. The chain is \
            printed whether or not it is trusted; confirm a pin from another source before you use it.

            EXAMPLES:
              \(program) example.com                          the chain of a server, on port 443
              \(program) '[2001:db8::1]:8443'                 an address, on another port
              \(program) server.pem backup-key.pem            certificates and keys, PEM or DER
              \(program) --check policy.json api.example.com  the decision of a policy about a server
              \(program) --check policy.json --as api.example.com chain.pem   the same for a chain in a file
              \(program) --lint policy.json                   the problems of a policy, including future ones

            Exit codes: 0 success; 1 a server or a file could not be read, the policy refuses a server, or --lint found \
            a problem; 64 usage error.
            """,
        version: ToolVersion.text)

    @OptionGroup var arguments: Arguments

    package init() {}

    package func run() async throws {
        let isWell: Bool
        do {
            isWell = try await perform(Job(arguments))
        } catch {
            let usage = error as? UsageError
            try? Output(isJSON: arguments.isJSON).fail(usage?.message ?? "\(error)")
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
