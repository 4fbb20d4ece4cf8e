import ArgumentParser
import ExampleSupport
import Linnet

/// Shows a timeline fetched with Linnet.
@main
struct ExampleApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ExampleApp",
        abstract: "Shows a timeline, fetched over pinned HTTPS.",
        discussion: """
            Without --url, the app starts a server on a free port of the loopback address, with a certificate that is \
            created for this run, and pins the server's key. In a terminal, the timeline fills the screen; ? shows the keys. \
            Otherwise, the posts are printed to standard output, one per line, followed by a summary of the connection. \
            The certificate chain and the host name are always verified.

            Exit codes: 0 success; 1 the timeline could not be fetched; 64 usage error.
            """,
        version: ToolVersion.text)

    @OptionGroup var options: TimelineOptions

    func run() async throws {
        do {
            try await show(TimelinePlan(options))
        } catch let code as ExitCode {
            // A signal has ended the app: there is nothing to say.
            throw code
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
            let server = try await EmbeddedServer.start(plan.misbehavior)
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
