import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

/// Downloads by several requests at once.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(3)))
struct SegmentTests {
    private static let slow = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(20))

    private func download(
        _ background: BackgroundSession, _ server: MockServer, _ folder: URL,
        _ change: (inout TransferOptions) -> Void = { _ in }
    ) async throws -> BackgroundTask {
        try await background.download(background.get(server), to: folder.appending(path: "file")) {
            $0.segments = 4
            change(&$0)
        }
    }

    private func expectFile(_ data: Data, in folder: URL) throws {
        #expect(try Data(contentsOf: folder.appending(path: "file")) == data)
        #expect(names(in: folder) == ["file", "session"])
        #expect(names(in: sessionFolder(folder).appending(path: "parts")).isEmpty)
    }

    @Test func fourRequestsDownloadAFile() async throws {
        let data = bytes(8_000_001)
        try await withFileServer(["/file": data]) { files, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder) { $0.permissions = 0o640 }
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed && ended.status == .ok, "\(String(describing: ended.error))")
                    #expect(ended.progress.completed == 8_000_001 && ended.progress.total == 8_000_001)
                }
                try expectFile(data, in: folder)
                let mode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "file").path)
                #expect(mode[.posixPermissions] as? Int == 0o640 || mode[.posixPermissions] as? UInt16 == 0o640)
            }
            let ranges = files.requests.map { $0.headerFields[.range] }
            #expect(ranges.count == 5 && ranges.first == "bytes=0-65535", "\(ranges)")
            #expect(Set(ranges).count == 5)
            #expect(files.requests.dropFirst().allSatisfy { $0.headerFields[.ifRange] == "\"v1\"" })
        }
    }

    @Test func aPausedDownloadGoesOnInItsSegments() async throws {
        let data = bytes(8_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    try await background.progress(of: task.id, beyond: 1_000_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    let paused = try #require(try await background.task(task.id))
                    #expect(paused.progress.completed > 1_000_000 && paused.progress.total == 8_000_000)
                    files.change { $0.throttle = nil }
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                try expectFile(data, in: folder)
            }
            // No byte was sent twice: the later ranges begin where the earlier ones ended.
            #expect(files.requests.count == 9)
        }
    }

    @Test(arguments: ["ranges", "validator", "weak", "small"])
    func oneRequestDownloadsWhatCannotBeDivided(reason: String) async throws {
        let data = bytes(reason == "small" ? 2_000_000 : 4_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change {
                switch reason {
                case "ranges": $0.sendsRanges = false
                case "validator": $0.entityTag = nil
                case "weak": $0.entityTag = "W/\"v1\""
                default: break
                }
            }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed, "\(String(describing: ended.error))")
                }
                try expectFile(data, in: folder)
            }
            #expect(files.requests.map { $0.headerFields[.range] } == ["bytes=0-65535", nil])
        }
    }

    @Test func anEmptyFileIsDownloaded() async throws {
        try await withFileServer(["/file": Data()]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                try expectFile(Data(), in: folder)
            }
        }
    }

    @Test(arguments: [true, false])
    func aFileThatChangesIsNeverMixed(isRunning: Bool) async throws {
        let (old, new) = (bytes(8_000_000), bytes(8_000_000, seed: 2))
        try await withFileServer(["/file": old]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    try await background.progress(of: task.id, beyond: 1_000_000)
                    if !isRunning {
                        try await background.pause(task.id)
                        try await background.state(.paused, of: task.id)
                    }
                    files.change {
                        $0.files["/file"] = new
                        $0.entityTag = "\"v2\""
                        $0.throttle = nil
                        // A broken connection makes a segment ask again.
                        if isRunning { $0.fault = (.reset, 1000, 1) }
                    }
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                let found = try Data(contentsOf: folder.appending(path: "file"))
                #expect(found == new || isRunning && found == old)
                #expect(names(in: folder) == ["file", "session"])
            }
        }
    }

    @Test func brokenConnectionsAreMadeAgain() async throws {
        let data = bytes(8_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.fault = (.reset, 300_000, 6) }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed && ended.attempts < 4, "\(String(describing: ended.error))")
                }
                try expectFile(data, in: folder)
            }
        }
    }

    @Test func aServerThatRefusesSomeGetsFewer() async throws {
        let data = bytes(8_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change {
                $0.throttle = .init(bytes: 256 << 10, pause: .milliseconds(10))
                $0.refused = [4, 5]
            }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed && ended.attempts == 1, "\(String(describing: ended.error))")
                }
                try expectFile(data, in: folder)
            }
            #expect(files.requests.count == 7)
        }
    }

    @Test func theDigestAndTheSizeOfTheWholeAreChecked() async throws {
        try await withFileServer(["/file": bytes(4_000_000)]) { files, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder) {
                        $0.sha256 = String(repeating: "0", count: 64)
                    }
                    #expect(try await background.ended(task.id).error?.code == .digestMismatch)
                    let other = try await background.download(
                        background.get(server), to: folder.appending(path: "other")
                    ) {
                        $0.segments = 4
                        $0.expectedSize = 5
                    }
                    #expect(try await background.ended(other.id).error?.code == .sizeMismatch)
                }
            }
            #expect(files.requests.count <= 10)
        }
    }

    @Test(arguments: ["part", "offsets", "segments"])
    func damagedSideFilesMakeItBeginAgain(name: String) async throws {
        let data = bytes(8_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                let parts = sessionFolder(folder).appending(path: "parts")
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    try await background.progress(of: task.id, beyond: 1_000_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    if name == "part" {
                        let part = try #require(names(in: folder).first { $0.hasSuffix(".linnet-segments") })
                        // Another file in its place.
                        let file = folder.appending(path: part)
                        try FileManager.default.removeItem(at: file)
                        try Data(count: 8_000_000).write(to: file)
                    } else {
                        let file = try #require(names(in: parts).first { $0.hasSuffix(name) })
                        try bytes(40).write(to: parts.appending(path: file))
                    }
                    files.change { $0.throttle = nil }
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                try expectFile(data, in: folder)
            }
        }
    }

    @Test func aCancelledDownloadLeavesNothing() async throws {
        try await withFileServer(["/file": bytes(8_000_000)]) { files, server in
            files.change { $0.throttle = Self.slow }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await download(background, server, folder)
                    try await background.progress(of: task.id, beyond: 1_000_000)
                    try await background.cancel(task.id)
                    #expect(try await background.ended(task.id).state == .cancelled)
                    while names(in: folder).count > 1 { await Task.yield() }
                }
                #expect(names(in: sessionFolder(folder).appending(path: "parts")).isEmpty)
            }
        }
    }

    @Test(arguments: [0, -1, 17])
    func theNumberOfSegmentsIsChecked(count: Int) async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { background in
                let call = background.session.get("http://127.0.0.1:9/a")
                let error = try await failure {
                    try await background.download(call, to: folder.appending(path: "file")) { $0.segments = count }
                }
                #expect(error.code == .invalidOptions)
            }
        }
    }
}
