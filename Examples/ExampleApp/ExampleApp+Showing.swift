import ArgumentParser
import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetTesting

extension ExampleApp {
    /// Shows the timeline as the plan says.
    func show(_ plan: TimelinePlan, from url: URL, policy: SecurityPolicy) async throws {
        switch plan.output {
        case .screen where Terminal.isInteractive: try await showScreen(plan, from: url, policy: policy)
        case .page: try await showPage(plan, from: url, policy: policy)
        case .screen, .text:
            for line in TimelinePrinter.lines(try await fetch(plan, url, policy)) { print(line) }
        case .json: print(try TimelinePrinter.json(try await fetch(plan, url, policy)))
        }
    }

    private func fetch(
        _ plan: TimelinePlan, _ url: URL, _ policy: SecurityPolicy
    ) async throws(SessionError) -> SessionResponse<[Post]> {
        try await TimelineClient.fetch(plan.pageSize, from: url, policy: policy)
    }

    @MainActor
    private func showScreen(_ plan: TimelinePlan, from url: URL, policy: SecurityPolicy) async throws {
        let program = try await program(plan, from: url, policy: policy, size: Terminal.size)
        guard let screen = TimelineScreen(program) else {
            await program.end()
            throw UsageError("The terminal cannot be used for a full screen; specify --once.")
        }
        let code = await screen.run()
        await program.end()
        for file in program.downloadedFiles { print("Downloaded: \(OneLine.text(file.path))") }
        if program.download != nil { print("The download goes on when the app is next started.") }
        if code != 0 { throw ExitCode(code) }
    }

    @MainActor
    private func showPage(_ plan: TimelinePlan, from url: URL, policy: SecurityPolicy) async throws {
        let program = try await program(
            plan, from: url, policy: policy, size: TerminalSize(width: 80, height: 24))
        let page = TimelinePage(program)
        let server = try await page.startServer()
        try StandardStream.output.write("The timeline is at \(server.url.absoluteString)\nPress Ctrl-C to end.\n")
        program.send(.started)
        await TerminationSignal.wait()
        page.end()
        await server.shutdown()
        await program.end()
    }

    @MainActor
    private func program(
        _ plan: TimelinePlan, from url: URL, policy: SecurityPolicy, size: TerminalSize
    ) async throws -> TimelineProgram {
        let network = plan.misbehavior.contains(.offline) ? NetworkSource.fixed(.notReachable) : .machine()
        let client = try TimelineClient(baseURL: url, policy: policy, movesRequests: plan.source == .embedded)
        let name = plan.source == .embedded ? "embedded" : url.host() ?? ""
        let downloads = try await AttachmentDownloads(name, session: client.session)
        return TimelineProgram(
            client: client, downloads: downloads, server: url, pageSize: plan.pageSize, network: network, size: size)
    }
}
