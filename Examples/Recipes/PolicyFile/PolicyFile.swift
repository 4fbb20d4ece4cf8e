import ArgumentParser
import FoundationEssentials
import Linnet

/// Requests a URL under the security policy of a file, after the file was checked.
@main
struct PolicyFile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-policy-file")

    @Argument(help: "The policy file.")
    var file: String

    @Argument(help: "The URL, with https.")
    var url: String

    func run() async throws {
        // An error has the file, the line and the place in it.
        let file = try SecurityPolicyFile(contentsOf: file)
        let findings = file.findings(at: Date())
        for finding in findings { print(finding) }
        // Warnings are for the author of the file. A rule with an error does not protect its hosts.
        if findings.contains(where: { $0.severity == .error }) { throw ExitCode.failure }

        let policy = try file.makePolicy()
        let session = try HTTPSession { $0.securityPolicy = policy }
        do {
            print(try await session.get(url).text())
        } catch {
            guard let refusal = error.trustRefusal else { throw error }
            print("refused: \(refusal.reason)")
            throw ExitCode.failure
        }
        await session.shutdown()
    }
}
