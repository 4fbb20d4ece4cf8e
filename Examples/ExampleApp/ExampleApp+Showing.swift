import ExampleSupport
import FoundationEssentials
import Linnet

extension ExampleApp {
    /// Fetches and prints the timeline. In a terminal, it also prints the reachability and a spinner to standard error.
    func show(_ plan: TimelinePlan, from url: URL, policy: SecurityPolicy) async throws {
        let isLively = Terminal.isInteractive && !plan.printsOnce
        if isLively { try? StandardStream.error.write(ReachabilityLine.current() + "\n") }
        let spinner =
            isLively ? await ActivitySpinner("Fetching the timeline") { try? StandardStream.error.write($0) } : nil
        do {
            let response = try await TimelineClient.fetch(plan.pageSize, from: url, policy: policy) {
                await spinner?.follow($0)
            }
            await spinner?.end()
            for line in TimelinePrinter.lines(response) { print(line) }
        } catch {
            await spinner?.end()
            throw error
        }
    }
}
