import ArgumentParser
import FoundationEssentials
import Linnet
import LinnetBackground

@testable import ExampleApp

extension TimelineModel {
    /// A model whose downloads are in a folder.
    static func make(
        _ client: TimelineClient, in folder: URL, pageSize: Int = 20, network: ReachabilityStatus = .unknown
    ) async throws -> TimelineModel {
        let downloads = try await BackgroundSession("test", directory: folder.appending(path: "session")) {
            $0.session = client.session
        }
        return TimelineModel(client, downloads: downloads, pageSize: pageSize, network: network)
    }

    /// A model for the embedded server.
    static func make(
        for server: EmbeddedServer, in folder: URL, network: ReachabilityStatus = .unknown
    ) async throws -> TimelineModel {
        let policy = try server.policy(for: TimelineOptions.parse([]))
        let client = try TimelineClient(baseURL: server.url, policy: policy, movesRequests: true)
        return try await make(client, in: folder, network: network)
    }

    /// Calls a function, and ends the model.
    func use(_ body: (TimelineModel) async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            try await body(self)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await end()
        try result.get()
    }

    /// Waits for a state that fulfils a condition.
    @discardableResult
    func first(where condition: (TimelineState) -> Bool) async throws -> TimelineState {
        for await state in states where condition(state) { return state }
        throw CancellationError()
    }
}

extension TimelineClient {
    /// Returns the newest posts with a temporary client.
    static func fetch(
        _ count: Int, from url: URL, policy: SecurityPolicy
    ) async throws(SessionError) -> SessionResponse<Timeline> {
        let client = try TimelineClient(baseURL: url, policy: policy)
        do {
            let response = try await client.posts(count)
            await client.session.shutdown()
            return response
        } catch {
            await client.session.shutdown(.immediate)
            throw error
        }
    }
}

/// A folder for one test, removed with it.
@MainActor
func withFolder<Result>(_ perform: (URL) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "linnet-example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await perform(url)
}
