import FoundationEssentials
import Linnet

extension ExampleApp {
    /// Fetches and prints; in a terminal, with a word on the network and a spinner on standard error.
    func show(_ plan: TimelinePlan, from url: URL, policy: SecurityPolicy) async throws {
        let isLively = Terminal.isInteractive && !plan.printsOnce
        if isLively { Terminal.writeError(ReachabilityLine.current() + "\n") }
        let response = try await withSpinner(isLively) {
            try await TimelineClient.fetch(plan.pageSize, from: url, policy: policy)
        }
        for line in TimelinePrinter.lines(response) { print(line) }
    }

    private func withSpinner<Result: Sendable>(
        _ isShown: Bool, _ work: () async throws -> Result
    ) async throws -> Result {
        guard isShown else { return try await work() }
        let spinner = await Spinner("Fetching the timeline") { Terminal.writeError($0) }
        await spinner.show()
        do {
            let result = try await work()
            await spinner.hide()
            return result
        } catch {
            await spinner.hide()
            throw error
        }
    }
}
