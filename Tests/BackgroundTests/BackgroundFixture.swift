import FoundationEssentials
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

/// A folder for one test, removed with it.
func withFolder<Result>(_ perform: (URL) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "linnet-background-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await perform(url)
}

/// Opens a session in a folder, and shuts it down.
func withBackground<Result>(
    in folder: URL, _ configure: (inout BackgroundSession.Configuration) throws -> Void = { _ in },
    _ perform: (BackgroundSession) async throws -> Result
) async throws -> Result {
    let background = try await BackgroundSession("test", directory: sessionFolder(folder)) {
        $0.retryPolicy.backoff.first = .milliseconds(1)
        $0.retryPolicy.backoff.maximum = .milliseconds(5)
        try configure(&$0)
    }
    do {
        let result = try await perform(background)
        await background.shutdown()
        return result
    } catch {
        await background.shutdown()
        throw error
    }
}

func sessionFolder(_ folder: URL) -> URL { folder.appending(path: "session") }

extension BackgroundSession {
    /// A call for a path of a server.
    func get(_ server: MockServer, _ path: String = "/file") throws -> HTTPCall {
        try session.get(server.url(path).absoluteString)
    }

    /// Waits until a task has transferred some bytes.
    func progress(of id: BackgroundTask.ID, beyond bytes: Int64 = 0) async throws {
        for await event in events where event.task?.id == id {
            if let task = event.task, task.progress.completed > bytes || task.state.isEnd { return }
        }
    }

    /// Waits until a task has a state.
    func state(_ state: BackgroundTask.State, of id: BackgroundTask.ID) async throws {
        let events = events
        if try await task(id)?.state == state { return }
        for await event in events where event.task?.id == id && event.task?.state == state { return }
    }
}

/// Runs something that must fail, and returns its error.
func failure(_ perform: () async throws -> Void) async throws -> BackgroundError {
    do {
        try await perform()
    } catch let error as BackgroundError {
        return error
    }
    throw NoFailure()
}

struct NoFailure: Error {}

/// The names of the files in a folder, in order.
func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

/// Bytes that look random and are the same for a seed.
func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    var data = Data(capacity: count + 8)
    while data.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
    }
    return data.prefix(count)
}
