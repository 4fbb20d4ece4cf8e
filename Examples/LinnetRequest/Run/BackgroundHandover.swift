import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetBackground

/// Adds a download to the journal of `linnet transfers`.
struct BackgroundHandover {
    let plan: RequestPlan

    func add() async throws -> HTTPResponse.Status {
        guard let file = plan.output.file else { throw UsageError("--background needs -o or -O.") }
        let background = try await BackgroundSession("transfers") { $0.role = .observer }
        do {
            let task = try await background.download(background.session.call(plan.request), to: file)
            await background.shutdown()
            let hint = "\"linnet transfers run\" transfers it, or an agent"
            try StandardStream.error.write("linnet: task \(task.id) is \(task.state.rawValue); \(hint).\n")
            return .accepted
        } catch {
            await background.shutdown()
            throw error
        }
    }
}
