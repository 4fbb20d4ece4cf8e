import FoundationEssentials
import Linnet

@testable import ExampleApp

extension TimelineProgram {
    /// A program whose downloads are in a folder.
    static func make(
        _ client: TimelineClient, server: URL, in folder: URL, network: ReachabilityStatus = .unknown
    ) async throws -> TimelineProgram {
        let downloads = try await AttachmentDownloads(
            "test", session: client.session, directory: folder.appending(path: "session"))
        return TimelineProgram(
            client: client, downloads: downloads, server: server, pageSize: 20, network: .fixed(network),
            size: TerminalSize(width: 80, height: 24))
    }

    /// A program for the embedded server.
    static func make(
        for server: EmbeddedServer, in folder: URL, network: ReachabilityStatus = .unknown
    ) async throws -> TimelineProgram {
        let policy = try server.policy(for: TimelinePlan(arguments: []))
        let client = try TimelineClient(baseURL: server.url, policy: policy, movesRequests: true)
        return try await make(client, server: server.url, in: folder, network: network)
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
