import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetBackground

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A process that dies at each step of the journal and of the file protocol, and the next one.
@Suite(.timeLimit(.minutes(5)))
struct FaultPointTests {
    @Test(arguments: FaultPoint.allCases)
    func theNextStartIsRight(point: FaultPoint) async throws {
        let (small, large, split) = (bytes(100_000), bytes(2_000_000, seed: 2), bytes(4_000_000, seed: 4))
        try await withFileServer(["/small": small, "/large": large, "/split": split]) { files, server in
            let name = try #require(HTTPField.Name("Repr-Digest"))
            // The digest is the small file's. The large one has a path of its own without it.
            files.change { $0.fieldsOfPaths["/small"] = [name: "sha-256=:\(base64Digest100000):"] }
            files.change { $0.throttleOfPaths["/large"] = .init(bytes: 64 << 10, pause: .milliseconds(10)) }
            try await withFolder { folder in
                try bytes(1000, seed: 3).write(to: folder.appending(path: "source"))
                let place: String = folder.path
                let url: String = server.url.absoluteString
                let step: String = point.rawValue
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [place = place as String, url = url as String, step = step as String] in
                    try await Self.transfer(in: URL(filePath: place), server: url, until: step)
                }
                files.change { $0.throttleOfPaths = [:] }
                let downloads = files.requests.count { $0.path == "/small" }
                try await withBackground(in: folder) { background in
                    try await Self.add(["small", "large", "split"], url, folder, background)
                    try await background.drained()
                    let tasks = try await background.tasks
                    #expect(
                        tasks.allSatisfy { $0.state == .completed }, "\(tasks.map { ($0.file, $0.state, $0.error) })")
                    #expect(tasks.count { $0.file.lastPathComponent == "small" } == 1)
                }
                #expect(try Data(contentsOf: folder.appending(path: "small")) == small)
                #expect(try Data(contentsOf: folder.appending(path: "large")) == large)
                #expect(try Data(contentsOf: folder.appending(path: "split")) == split)
                #expect(names(in: folder) == ["large", "session", "small", "source", "split"])
                #expect(names(in: sessionFolder(folder).appending(path: "parts")).isEmpty)
                let all = files.requests
                // A complete file is not requested again, an upload at most once more.
                #expect(all.count { $0.path == "/small" } <= (Self.needsRequest(point, downloads) ? downloads + 1 : 1))
                #expect(all.count { $0.method == .put } <= 2)
            }
        }
    }

    private static func needsRequest(_ point: FaultPoint, _ downloads: Int) -> Bool {
        let later: Set<FaultPoint> = [
            .didReceiveWhole, .didCheckWhole, .willPlace, .didNotePlace, .didMove, .didSynchronizeFolder,
            .didRemoveFiles, .willEnd, .didEnd, .willUpload, .didUpload, .willStop, .didStop,
            .didStoreSegments, .didWriteSegment, .didJoinSegments,
        ]
        return !later.contains(point) || downloads == 0
    }

    /// Reaches all steps: a download with a digest, an upload, a download in segments, and one that is stopped.
    private static func transfer(in folder: URL, server: String, until step: String) async throws {
        let background = try await BackgroundSession("test", directory: sessionFolder(folder)) {
            $0.reachFaultPoint = { if $0 == step { kill(getpid(), SIGKILL) } }
        }
        try await add(["small"], server, folder, background)
        try await background.drained()
        let put = background.session.put(server + "/put")
        try await background.upload(put, fromFile: folder.appending(path: "source"))
        try await background.drained()
        try await add(["split"], server, folder, background)
        try await background.drained()
        try await add(["large"], server, folder, background)
        for await event in background.events where event.task?.progress.completed ?? 0 > 300_000 { break }
        await background.shutdown()
    }

    /// Adds the downloads that are not there.
    private static func add(
        _ names: [String], _ server: String, _ folder: URL, _ background: BackgroundSession
    ) async throws {
        let base = server.hasSuffix("/") ? String(server.dropLast()) : server
        for name in names {
            let file = folder.appending(path: name)
            if try await background.tasks.contains(where: { $0.file.path == file.path }) { continue }
            try await background.download(background.session.get("\(base)/\(name)"), to: file) {
                $0.segments = name == "split" ? 4 : 1
            }
        }
    }
}
