import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetTesting

/// Shows a timeline fetched with Linnet.
@main
struct ExampleApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ExampleApp",
        abstract: "Shows a timeline, fetched over pinned HTTPS.",
        discussion: """
            Without --url, the app starts a server on the loopback address, with a new certificate, and pins its \
            key. In a terminal, the timeline fills the screen. Otherwise, the posts are printed, one per line, \
            followed by a summary of the connection. The chain and the host name are always verified.

            Exit codes: 0 success; 1 the timeline could not be fetched; 64 usage error.
            """,
        version: ToolVersion.text)

    /// How the timeline is shown instead of on the screen.
    enum Output: String, EnumerableFlag {
        case once, json, serve
    }

    @OptionGroup var options: TimelineOptions

    @Flag(exclusivity: .exclusive, help: "Print the posts, print them as JSON, or serve a web page.")
    var output: Output?

    func run() async throws {
        do {
            try await options.withClient(show)
        } catch let error as SessionError {
            try? StandardStream.error.write(ErrorLine.text(error) + "\n")
            throw ExitCode(1)
        }
    }

    /// Shows the timeline of a server as the options say.
    private func show(_ client: TimelineClient) async throws {
        switch output {
        case .serve: try await showPage(client)
        case nil where Terminal.isInteractive: try await showScreen(client)
        case .json: print(try TimelinePrinter.json(try await client.posts(options.pageSize)))
        case .once, nil:
            for line in TimelinePrinter.lines(try await client.posts(options.pageSize)) { print(line) }
        }
        await client.session.shutdown()
    }

    @MainActor
    private func showScreen(_ client: TimelineClient) async throws {
        let model = try await options.model(client)
        let code = await TimelineScreen(model)?.run()
        await model.end()
        guard let code else { throw ValidationError("The terminal cannot be used for a full screen; use --once.") }
        for file in model.downloadedFiles { print("Downloaded: \(OneLine.text(file.path))") }
        if model.download != nil { print("The download goes on when the app is next started.") }
        throw ExitCode(code)
    }

    @MainActor
    private func showPage(_ client: TimelineClient) async throws {
        let model = try await options.model(client)
        let server = try await TimelinePage(model).startServer()
        try StandardStream.output.write("The timeline is at \(server.url.absoluteString)\nPress Ctrl-C to end.\n")
        model.perform(.refresh, on: nil)
        await Signals.termination()
        await model.end()
        await server.shutdown()
    }
}
