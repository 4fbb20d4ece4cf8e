import ArgumentParser
import ExampleSupport
import Linnet

/// Shows a timeline that it fetches through Linnet.
@main
struct ExampleApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ExampleApp",
        abstract: "Shows a timeline, fetched over pinned HTTPS.",
        discussion: """
            Without --url it starts a server of its own on a free port of the loopback address, with a certificate made \
            for this run, and pins the server's key. The posts go to standard output, one a line, then a summary of the \
            connection. The chain is verified and the host name checked whatever the options say.

            Exit codes: 0 all is well; 1 the timeline could not be fetched; 64 the command line is wrong.
            """,
        version: "0.1.0")

    @OptionGroup var options: TimelineOptions

    func run() async throws {
        do {
            try await show(TimelinePlan(options))
        } catch {
            let line = ErrorLine(error)
            try? StandardStream.error.write(line.text + "\n")
            throw ExitCode(line.exitCode)
        }
    }

    private func show(_ plan: TimelinePlan) async throws {
        switch plan.source {
        case .server(let url):
            try await show(plan, from: url, policy: plan.policy(anchors: .system))
        case .embedded:
            let server = try await EmbeddedServer.start()
            do {
                try await show(plan, from: server.url, policy: server.policy(for: plan))
                await server.shutdown()
            } catch {
                await server.shutdown()
                throw error
            }
        }
    }
}
