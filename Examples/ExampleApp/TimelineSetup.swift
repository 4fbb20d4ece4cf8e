import FoundationEssentials
import Linnet
import LinnetBackground

// The way from the command line to a model, which is the same in each face of the app.
extension TimelineOptions {
    /// Calls a function with a client of the server that the options name, or of an embedded one, which ends after it.
    func withClient(_ body: (TimelineClient) async throws -> Void) async throws {
        guard let url else {
            let server = try await EmbeddedServer.start(misbehavior)
            try await body(TimelineClient(baseURL: server.url, policy: server.policy(for: self), movesRequests: true))
            return await server.shutdown()
        }
        try await body(TimelineClient(baseURL: url, policy: policy(anchors: .system)))
    }

    /// Makes the model of a client.
    @MainActor
    func model(_ client: TimelineClient) async throws -> TimelineModel {
        // Each server has a background session of its own, since its policy may pin its key.
        let name = "example-app-\(url?.host() ?? "embedded")"
        let downloads = try await BackgroundSession(name) { $0.session = client.session }
        let isOffline = misbehavior.contains(.offline)
        let model = TimelineModel(
            client, downloads: downloads, pageSize: pageSize,
            network: isOffline ? .notReachable : .unknown, monitor: isOffline ? nil : try? ReachabilityMonitor())
        if misbehavior.contains(.chaos) { model.refresh(every: .seconds(2)) }
        return model
    }
}
